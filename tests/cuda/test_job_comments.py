"""A job comment that no kernel reads is marked, in .cu files and in strings of Python's."""

from __future__ import annotations

import pytest

from tests.cuda.conftest import Cuda
from tile_lsp.model.outcome import Severity

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = """\
// tile-lsp: target=sm_80

// tile-lsp: target=sm_90
// of one word
template <typename T>
// tile-lsp: T=float
__global__ void k(T *x) {
    // tile-lsp: T=int
    x[0] = 1;
}
// tile-lsp: T=double
__global__ void declared(double *x);
"""
PYTHON = f"""\
import cupy as cp

# tile-lsp: n=1
code = r'''
{CODE}'''
cp.RawModule(code=code)
text = "// tile-lsp: n=1"
"""


@pytest.mark.parametrize(("name", "text", "leader"), [("marks.cu", CODE, "//"), ("marks.py", PYTHON, "#")])
async def test_what_no_kernel_reads_is_marked(cuda: Cuda, name: str, text: str, leader: str):
    cuda.bench.write(name, text)
    await cuda.bench.open(name)
    problems = cuda.bench.session.snapshot().files[cuda.bench.path(name)].problems
    lines = text.split("\n")
    marked = [lines[problem.span.line - 1].strip() for problem in problems]
    assert marked == [*(["# tile-lsp: n=1"] if leader == "#" else []), *MARKED]
    for problem in problems:
        assert problem.message == "no kernel stands right below this comment: it is not read"
        assert (problem.severity, problem.code) == (Severity.WARNING, "comment")


MARKED = ["// tile-lsp: target=sm_80", "// tile-lsp: T=int", "// tile-lsp: T=double"]
