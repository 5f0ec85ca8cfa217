"""PTX, SASS, resources and remarks of CUDA C++, with the source of each line."""

from __future__ import annotations

import os

import pytest
from inline_snapshot import snapshot

from tests.cuda.conftest import Cuda
from tile_lsp.frontends.cuda import Cuda as FrontEnd
from tile_lsp.ide.diagnostics import diagnostics
from tile_lsp.model.job import Config
from tile_lsp.model.outcome import Fault, Severity
from tile_lsp.model.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

TWO_LOADS = """\
#include <cstdio>

__device__ float twice(float x) { return fmaxf(x, 2.0f); }

__global__ void k(float *out, const float *a, const float *b, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = a[i] + twice(b[i]);
}

int main() { printf("%d", 1); }
"""


async def test_ptx_and_sass_have_their_lines(cuda: Cuda):
    name = await cuda.open(TWO_LOADS)
    ptx = await cuda.bench.show(name, Stage.PTX)
    assert ".visible .entry _Z1kPfPKfS1_i" in ptx.text
    assert ".loc" not in ptx.text
    assert cuda.lines(name, ptx, "ld.global") == {7}
    sass = await cuda.bench.show(name, Stage.SASS)
    assert cuda.lines(name, sass, "LDG") == {7}
    assert cuda.lines(name, sass, "S2R") == {6}


async def test_columns_tell_two_loads_on_one_line_apart(cuda: Cuda):
    name = await cuda.open(TWO_LOADS)
    sass = await cuda.bench.show(name, Stage.SASS)
    positions = cuda.bench.kernel(name).positions
    rows = [
        positions.chain(chains[0])[0].span.column
        for text, chains in zip(sass.text.split("\n"), sass.lines, strict=False)
        if "LDG" in text and chains
    ]
    line = TWO_LOADS.split("\n")[6]
    assert sorted(rows) == [line.index("a[i]") + 2, line.index("b[i]") + 2]


async def test_inlined_code_has_its_call_site(cuda: Cuda):
    name = await cuda.open(TWO_LOADS)
    sass = await cuda.bench.show(name, Stage.SASS)
    positions = cuda.bench.kernel(name).positions
    chains = {
        tuple(place.span.line for place in positions.chain(chain)) for chains in sass.lines for chain in chains[:1]
    }
    assert (3, 7) in chains


async def test_line_information_changes_no_code(cuda: Cuda):
    from cuda.bindings import nvrtc

    from tile_lsp.analysis import cubin

    name = await cuda.open(TWO_LOADS)
    ours = cubin.read((await cuda.bench.show(name, Stage.CUBIN)).data)
    plain = TWO_LOADS.replace("#include <cstdio>", "").partition("int main")[0]
    program = nvrtc.nvrtcCreateProgram(plain.encode(), b"x.cu", 0, [], [])[1]
    assert nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"])[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
    data = b" " * nvrtc.nvrtcGetCUBINSize(program)[1]
    nvrtc.nvrtcGetCUBIN(program, data)
    assert [function.code for function in ours.functions] == [f.code for f in cubin.read(data).functions]


async def test_resources(cuda: Cuda):
    text = (
        "__global__ void __launch_bounds__(64) k(float *x) { __shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; "
    )
    made = await cuda.show(text + "__syncthreads(); x[threadIdx.x] = s[63 - threadIdx.x]; }\n", Stage.RESOURCES)
    lines = [" ".join(line.split()) for line in made.text.split("\n")]
    assert "shared memory 1280 B 1024 B of it the driver's" in lines
    assert "barriers 1" in lines


async def test_spills_are_remarked(cuda: Cuda):
    text = """\
        // tile-lsp: maxrregcount=24
        __global__ void k(float *x) {
            float v[64];
        #pragma unroll
            for (int i = 0; i < 64; ++i) v[i] = x[threadIdx.x + i * 32];
            __syncthreads();
        #pragma unroll
            for (int i = 0; i < 64; ++i) x[threadIdx.x + i * 64] = v[i] * v[63 - i] + v[(i * 7) % 64];
        }
    """
    made = await cuda.show(text, Stage.REMARKS)
    assert any(remark.code == "spill" for remark in made.remarks), made.text


async def test_names_that_nvcc_has_from_its_first_header(cuda: Cuda):
    text = """\
        #include <cuda.h>
        __global__ void k(float *x, uint n, CUtexObject texture, const __grid_constant__ CUtensorMap map) {
            if (n < UINT_MAX) x[n] = fminf(tex1Dfetch<float>(texture, n), INFINITY) * M_PI;
            x[1] = reinterpret_cast<const float &>(map);
        }
    """
    assert "tex.1d" in (await cuda.show(text, Stage.PTX)).text


async def test_templates_are_instantiated_for_their_launches(cuda: Cuda):
    name = await cuda.open("""\
        template <typename T, int N>
        __global__ void k(T *x) { x[threadIdx.x] += N; }
        void f(double *x) { k<double, 8><<<1, 32>>>(x); }
    """)
    ptx = await cuda.bench.show(name, Stage.PTX)
    assert "_Z1kIdLi8EEvPT_" in ptx.text
    assert "add.f64" in ptx.text


async def test_headers_of_the_toolkit(cuda: Cuda):
    ptx = await cuda.show(
        """\
        #include <cuda_fp16.h>
        #include <cstdint>
        __global__ void k(__half2 *x, uint32_t n) { if (threadIdx.x < n) x[threadIdx.x] = __hmul2(x[0], x[1]); }
        """,
        Stage.PTX,
    )
    assert "mul.f16x2" in ptx.text or "mul{.f16x2" in ptx.text


async def test_llvm_ir_is_clangs(cuda: Cuda):
    if not any(name.startswith("clang") for folder in os.get_exec_path() for name in _names(folder)):
        pytest.skip("clang is not on PATH: apt-get install clang")
    name = await cuda.open(TWO_LOADS)
    made = await cuda.bench.show(name, Stage.LLVM)
    assert "What clang makes of the same text" in made.text.split("\n")[0]
    assert "define" in made.text
    assert cuda.lines(name, made, "load float") == {7}
    assert "@llvm.nvvm.read.ptx.sreg.tid.x()" in made.text


def _names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


async def test_without_clang_there_is_a_word_why():
    made = FrontEnd().tool_for("llvm", Config("sm_90"), {"clang": False})
    assert isinstance(made, Fault)
    assert "there is none on PATH" in made.message
    assert made.help == snapshot("apt-get install clang, or another clang on PATH")


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"])
async def test_targets(cuda: Cuda, target: str):
    sass = await cuda.show(f"// tile-lsp: target={target}\n__global__ void k(int *x) {{ x[0] = 1; }}\n", Stage.SASS)
    assert target.rstrip("a") in sass.text
    assert "STG" in sass.text


async def test_warnings_are_among_the_remarks_and_marked_once(cuda: Cuda):
    name = await cuda.open("""\
        #include <cooperative_groups.h>
        template <typename T> __device__ T narrow(double x) { T unused; return x * 2; }
        // tile-lsp: target=sm_80,sm_90
        __global__ void k(float *x) {
            int never = 3;
            x[0] = narrow<float>(x[1]) + cooperative_groups::this_thread_block().size();
            unsigned u = threadIdx.x;
            if (u < 0) x[1] = 0;
        }
        """)
    made = await cuda.bench.show(name, Stage.REMARKS)
    rows = [(row, link) for row, link in zip(made.text.split("\n"), made.lines, strict=False) if row.startswith("warn")]
    places = [cuda.bench.kernel(name).positions.chain(link[0])[0].span.line for _, link in rows]
    assert [(place, row) for place, (row, _) in zip(places, rows, strict=True)] == snapshot(
        [
            (5, 'warning #177-D: variable "never" was declared but never referenced'),
            (8, "warning #186-D: pointless comparison of unsigned integer with zero"),
        ]
    )
    found = diagnostics(cuda.bench.session.snapshot(), remarks=True)[cuda.bench.path(name)]
    marked = [(one.span[:2], one.message, one.code) for one in found if one.severity is Severity.WARNING]
    assert marked == snapshot(
        [
            ((5, 8), 'variable "never" was declared but never referenced', "#177-D"),
            ((8, 10), "pointless comparison of unsigned integer with zero", "#186-D"),
        ]
    )


CUB = """\
#include <cub/cub.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/functional>
__global__ void k(float *o, int *keys) {
    using Reduce = cub::BlockReduce<float, 128, cub::BLOCK_REDUCE_RAKING>;
    using Load = cub::BlockLoad<int, 128, 4>;
    __shared__ union { typename Reduce::TempStorage reduce; typename Load::TempStorage load; } shared;
    int mine[4];
    Load(shared.load).Load(keys, mine);
    __syncthreads();
    float sum = o[threadIdx.x] + mine[0] + cub::ThreadLoad<cub::LOAD_CA>(o);
    sum = Reduce(shared.reduce).Reduce(sum, cuda::maximum<>{});
    if (threadIdx.x == 0) o[0] = sum;
}
"""


async def test_the_whole_of_cub(cuda: Cuda):
    name = await cuda.open(CUB)
    assert cuda.bench.kernel(name).faults == ()
    assert cuda.bench.types_of(name, "sum") == {"float"}
    assert "BAR.SYNC" in (await cuda.bench.show(name, Stage.SASS)).text


GROUPS = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(float *o) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float sum = cg::reduce(warp, o[threadIdx.x], cg::plus<float>());
    MORE
    if (warp.thread_rank() == 0) o[0] = sum;
}
"""


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("", None),
        # What cooperative groups bring along, and is not theirs.
        ("cuda::std::integral_constant<int, 3> three; o[1] = three;", None),
        ("o[1] = missing;", 'identifier "missing" is undefined'),
    ],
)
async def test_cooperative_groups(cuda: Cuda, more: str, fault: str | None):
    name = await cuda.open(GROUPS.replace("MORE", more))
    inference = cuda.bench.kernel(name).inference
    assert inference is not None
    assert [fault.message for fault in inference.faults] == ([fault] if fault else [])
    assert cuda.bench.types_of(name, "sum") == {"float"}


async def test_remarks_name_functions_as_they_are_written(cuda: Cuda):
    made = await cuda.show("""\
        namespace ops { template <typename T> __device__ __noinline__ T twice(T x) { return x * 2; } }
        __device__ __forceinline__ float once(float x) { return x + 1; }
        // tile-lsp: target=sm_90
        __global__ void k(float *x) { x[0] = ops::twice(x[1]) + once(x[2]); }
        """, Stage.REMARKS)  # fmt: skip
    assert made.text.split("\n") == snapshot(
        [
            "float ops::twice<float>(float) not inlined into k(float*) because it should never be inlined (cost=never)",
            "once(float) inlined into k(float*) with cost=always",
            "",
        ]
    )
