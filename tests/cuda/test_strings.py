"""Kernels in strings of Python files, at the places where they stand."""

from __future__ import annotations

import pytest

from tests.cuda.conftest import Cuda
from tile_lsp.frontends.cuda.strings import masked
from tile_lsp.ide.code_actions import pin_edit
from tile_lsp.model.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = """\
import cupy as cp

ä = cp.RawKernel(r'''
extern "C" __global__
void add(const float* x, float* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] = x[i] + y[i];
}
''', "add")

SOURCE = "__device__ float f(float x) { return 2 * x; } __global__ void twice(float *x) { x[0] = f(x[1]); }"
MODULE = cp.RawModule(code=SOURCE)

GENERIC = '''
__device__ float f(float x) { return x; }
    template <typename T, int N>
    __global__ void fill(T *x) { x[0] = N; }
    __global__ void broken(float *x) { x[0] = nothing; }
'''
cp.RawModule(code=GENERIC)
"""


async def _opened(cuda: Cuda, name: str, text: str = TEXT) -> str:
    cuda.bench.write(name, text)
    await cuda.bench.open(name)
    return name


async def test_kernels_stand_where_their_strings_do(cuda: Cuda):
    name = await _opened(cuda, "strings1.py")
    kernels = cuda.bench.session.snapshot().files[cuda.bench.path(name)].kernels
    assert [(kernel.name, kernel.name_span.line) for kernel in kernels] == [
        ("add", 5),
        ("twice", 11),
        ("fill", 17),
        ("broken", 18),
    ]
    assert [kernel.name for kernel in kernels if kernel.faults] == ["broken"]
    assert cuda.bench.types_of(name, "i", "add") == {"int"}


async def test_code_is_linked_to_the_python_file(cuda: Cuda):
    name = await _opened(cuda, "strings2.py")
    sass = await cuda.bench.show(name, Stage.SASS, "add")
    assert cuda.lines(name, sass, "STG") == {7}


async def test_what_is_pinned_is_a_comment_of_cpp(cuda: Cuda):
    name = await _opened(cuda, "strings3.py")
    file = cuda.bench.session.snapshot().files[cuda.bench.path(name)]
    edit = pin_edit(file, cuda.bench.kernel(name, "fill"))
    assert edit is not None
    assert edit.text == "    // tile-lsp: T=float N=16\n"
    assert edit.span.line == 16


async def test_python_around_a_string_is_no_part_of_it(cuda: Cuda):
    name = await _opened(cuda, "strings4.py")
    cuda.bench.ran()
    await cuda.bench.edit(name, "# more\n\n" + TEXT.replace('"add")', '"add", options=("-O3",))'))
    assert cuda.bench.ran() == {}


@pytest.mark.parametrize(
    "text",
    [
        'x = "__global__ void a() {}" "__global__ void b() {}"\n',
        'n = 1\nx = f"__global__ void a() {{ int x = {n}; }}"\n',
        "x = (\n",
    ],
)
async def test_what_is_put_together_is_not_read(text: str):
    assert masked(text) == ()
