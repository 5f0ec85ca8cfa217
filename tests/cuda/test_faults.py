"""What NVRTC says, in the right file, at the right token, with its number."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tests.cuda.conftest import Cuda
from tile_lsp.model.stage import Stage
from tile_lsp.worker.drivers.cuda import nvcc

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = {
    "undefined": ("__global__ void k(float *x) {\n    x[0] = y + 1;\n}\n", [('identifier "y" is undefined', ["2: y"])]),
    "several": (
        '__global__ void k(float *x) {\n    x[0] = y;\n    int q = "abc";\n    x.foo = 1;\n}\n',
        [
            ('identifier "y" is undefined', ["2: y"]),
            ('a value of type "const char *" cannot be used to initialize an entity of type "int"', ['3: "abc"']),
            ('expression must have class type but it has type "float *"', ["4: x"]),
        ],
    ),
    "in a function": (
        "__device__ float f(float x) { return z; }\n\n__global__ void k(float *x) { x[0] = f(1); }\n",
        [('identifier "z" is undefined', ["1: z"])],
    ),
    "in an instantiation": (
        (
            "template <typename T> __device__ T f(T x) { return x.y; }\n"
            "template <typename T> __global__ void k(T *x) { x[0] = f(x[1]); }\n"
        ),
        [('expression must have class type but it has type "float"', ["1: x", "2: f"])],
    ),
    "through a macro": (
        "#define BAD(x) (x + nothing)\n__global__ void k(float *x) { x[0] = BAD(1); }\n",
        [('identifier "nothing" is undefined', ["2: BAD"])],
    ),
    "a host method": (
        "struct P { float x; float get() const { return x; } };\n__global__ void k(P *p) { p->x = p[1].get(); }\n",
        None,
    ),
}


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case][1] is not None])
async def test_errors(cuda: Cuda, case: str):
    text, expected = CASES[case]
    assert await cuda.faults(text) == expected


async def test_errors_in_a_header(cuda: Cuda):
    found = await cuda.faults(
        '#include "broken.cuh"\n__global__ void k(float *x) { x[0] = f(); }\n',
        broken="#pragma once\n\n__device__ inline float f() { return lost; }\n",
    )
    assert found == [('identifier "lost" is undefined', ["broken.cuh:3: lost"])]


async def test_a_function_of_the_host(cuda: Cuda):
    fault = await cuda.fault(CASES["a host method"][0], Stage.SASS)
    assert (fault.message, fault.help) == snapshot(
        ("P::get is called, and no device code defines it", "mark its definition __device__, or __host__ __device__")
    )


async def test_warnings_have_their_number(cuda: Cuda):
    found = await cuda.warnings("__global__ void k(float *x) {\n    int unused = 3;\n    x[0] = 1;\n}\n")
    assert found == [('variable "unused" was declared but never referenced', "#177-D", ["2: unused"])]


async def test_an_option_that_nvrtc_does_not_know(cuda: Cuda):
    found = await cuda.faults("// tile-lsp: options=--nonsense\n__global__ void k(float *x) { x[0] = 1; }\n")
    assert found == snapshot([("unrecognized option --nonsense found", [])])


async def test_a_type_that_the_template_can_not_be_made_for(cuda: Cuda):
    found = await cuda.faults("// tile-lsp: T=Nothing\ntemplate <typename T>\n__global__ void k(T *x) { x[0] = 1; }\n")
    assert found == snapshot([('in the arguments of the template: identifier "Nothing" is undefined', [])])


async def test_an_assumed_type_gives_way_to_one_that_compiles(cuda: Cuda):
    name = await cuda.open("template <typename T>\n__global__ void k(T *x) { x[0] = x[1] % 2; }\n")
    view = cuda.bench.kernel(name)
    assert not view.faults
    assert view.job is not None
    assert view.job.job.arguments[0].spec == "int"


LAMBDA = """\
    template <typename F>
    __device__ void twice(F f, int i) { f(i); f(i + 1); }
    template <typename F>
    __global__ void k(F f, float *x, int n) {
        int i = threadIdx.x;
        x[i] = f(i);
        x[i] += f(i) * 2;
        if (i < n) twice(f, i);
    }
    void run(float *x) { auto f = [=] __device__ (int i) { return x[i]; }; k<<<1, 32>>>(f, x, 3); }
"""


async def test_a_lambda_is_no_error(cuda: Cuda):
    name = await cuda.open(LAMBDA)
    view = cuda.bench.kernel(name)
    assert not view.faults
    assert view.inference is not None
    (remark,) = [remark for remark in view.inference.remarks if remark.code == "callable"]
    assert remark.message == snapshot(
        "F: no launch that can be read says which function this is: "
        "name a functor in a comment above the kernel: // tile-lsp: F=Op"
    )
    assert [place.span.line for place in view.positions.chain(remark.chain)] == [3]
    assert cuda.bench.types_of(name, "i") == {"int"}
    fault = await cuda.fault(LAMBDA, Stage.SASS)
    assert (fault.message, fault.help) == snapshot(
        (
            "F: no launch that can be read says which function this is",
            "name a functor in a comment above the kernel: // tile-lsp: F=Op",
        )
    )


async def test_a_lambda_that_is_only_passed_on_is_no_error(cuda: Cuda):
    apply = "template <typename G> __device__ void apply(float *x, G g) { auto y = g(x[1]); x[0] = y; }\n"
    name = await cuda.open(f"{apply}template <typename F>\n__global__ void k(float *x, F f) {{ apply(x, f); }}\n")
    view = cuda.bench.kernel(name)
    assert not view.faults
    assert view.inference is not None
    assert [remark.code for remark in view.inference.remarks] == ["callable"]


async def test_what_is_wrong_beside_a_lambda(cuda: Cuda):
    found = await cuda.faults("template <typename F>\n__global__ void k(F f) {\n    f(y);\n}\n")
    assert found == [('identifier "y" is undefined', ["3: y"])]


async def test_broken_text_keeps_the_last_types(cuda: Cuda):
    name = await cuda.open("__global__ void k(float *x) {\n    float y = x[0];\n    x[1] = y;\n}\n")
    await cuda.bench.edit(name, "__global__ void k(float *x) {\n    float y = x[0];\n    x[1] = (y;\n")
    view = cuda.bench.kernel(name)
    assert view.state == "stale"
    assert cuda.bench.types_of(name, "y") == {"float"}


LAUNCHES = """\
    __global__ void child(int *x) { x[0] = 1; }

    __global__ void k(int *x) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        child<<<1, 1, 0, stream>>>(x);
    }
"""


@pytest.mark.slow
async def test_what_nvrtc_refuses_nvcc_takes_and_that_is_said(cuda: Cuda):
    if nvcc.find() is None:
        pytest.skip("nvcc or a compiler for the host is not here")
    name = await cuda.open(LAUNCHES)
    view = cuda.bench.kernel(name, "k")
    assert view.inference is not None
    assert not view.faults
    (remark,) = [remark for remark in view.inference.remarks if remark.code == "nvcc"]
    assert remark.message == snapshot(
        'compiled by nvcc, for NVRTC refuses it: identifier "cudaStreamCreateWithFlags" is undefined'
    )
    sass = await cuda.bench.show(name, Stage.SASS, "k")
    placed = {found[0].span.line for row in sass.lines for chain in row if (found := view.positions.chain(chain))}
    assert {5, 6} <= placed


async def test_a_slip_of_the_pen_starts_no_nvcc(cuda: Cuda):
    assert not nvcc.may_do(['identifier "y" is undefined', 'a value of type "int" cannot be used'])
    assert nvcc.may_do(['identifier "cudaDeviceSynchronize" is undefined'])
    assert nvcc.may_do(["expected an expression"], "#define max(a, b) ({ a > b ? a : b; })")
    assert not nvcc.may_do(["expected an expression"], "x = ;")
    assert nvcc.may_do(
        ["device-side kernel launch could not be processed as the required runtime APIs are not declared"]
    )


async def test_a_header_of_a_package_that_is_not_here(cuda: Cuda):
    name = await cuda.open("#include <curand_kernel.h>\n__global__ void k(curandState *s) {}\n")
    view = cuda.bench.kernel(name)
    if not view.faults:
        pytest.skip("nvidia-curand is here")
    assert view.faults[0].message == 'cannot open source file "curand_kernel.h"'
    assert view.faults[0].help is not None
    assert view.faults[0].help.endswith("nvidia-curand")


async def test_a_header_that_is_not_needed_is_not_missed(cuda: Cuda):
    assert await cuda.faults("#include <curand_kernel.h>\n__global__ void k(float *x) { x[0] = 1; }\n") == []


@pytest.mark.slow
async def test_headers_of_the_toolkit_that_are_for_nvcc_alone(cuda: Cuda):
    if nvcc.find() is None:
        pytest.skip("nvcc or a compiler for the host is not here")
    name = await cuda.open("""\
        #include <thrust/complex.h>
        __global__ void k(thrust::complex<float> *c) { c[0] = c[threadIdx.x] * 2.f; }
        """)
    inference = cuda.bench.kernel(name).inference
    assert inference is not None
    assert inference.faults == ()
    assert [remark.code for remark in inference.remarks] == ["nvcc"]


LEFT_OUT = "#ifdef DEBUG\n__global__ void k(int *x) { x[0] = 1; }\n#endif\n__global__ void other() {}\n"


async def test_a_kernel_that_a_condition_leaves_out(cuda: Cuda):
    name = await cuda.open(LEFT_OUT)
    (fault,) = cuda.bench.kernel(name, "k").faults
    assert (fault.message, fault.help) == snapshot(
        ("k is not compiled: #ifdef DEBUG does not hold", "define what it asks for in the setting tile-lsp.cuda.macros")
    )
    assert cuda.bench.kernel(name, "other").faults == ()
    assert await cuda.faults(LEFT_OUT.replace("ifdef", "ifndef")) == []
    assert await cuda.faults("#if 1\n__global__ void k() {}\n#endif\n") == []
