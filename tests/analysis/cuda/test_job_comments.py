"""Which lines of a .cu file are job comments; a trailing mark shows those that are."""

from __future__ import annotations

import pytest

from tests.analysis.cuda.fixtures import MAIN, workspace
from tile_lsp.analysis.cuda import job_comments

CASES = {
    "above a kernel": "// tile-lsp: n=1 !\n__global__ void k(int n) {}\n",
    "above nothing": "  // tile-lsp: n=1 !\n",
    "in a body": "__global__ void k(int n) {\n    int ä; // tile-lsp: n=1\n    // tile-lsp: n=1 !\n}\n",
    "between functions": "void f() {}\n\n// tile-lsp: n=1 !\n\n__device__ int g();\n// tile-lsp: n=2 !\n",
    "in a raw string": 'auto s = R"(\n// tile-lsp: n=1\n)";\n// tile-lsp: n=2 !\n',
    "in another comment": "/*\n// tile-lsp: n=1\n*/ // tile-lsp: n=2\n/* x */\n// tile-lsp: n=3 !\nint a;\n",
    "in a comment that goes on": "// a \\\n// tile-lsp: n=1\n// tile-lsp: n=2 !\n",
    "in a macro": "#define A(x) \\\n// tile-lsp: n=1 \\\n  x\nint a;\n",
    "in a comment of a macro": "#define B \\\n  /*\n// tile-lsp: n=1\n*/\n// tile-lsp: n=3 !\n",
    "of other words": "// tile: n=1\n/// tile-lsp: n=1 !\n/* tile-lsp: n=1 */\n# tile-lsp: n=1\n",
    "in what can't be read": "// tile-lsp: n=1\n__global__ void k(int n) {\n",
    "in a condition": "#if X\n// tile-lsp: n=1 !\n#endif\n",
}


@pytest.mark.parametrize("case", CASES)
def test_job_comments(case: str):
    marked = CASES[case].split("\n")
    file = workspace("\n".join(line.removesuffix(" !") for line in marked)).file(MAIN)
    assert file is not None
    found = job_comments(file)
    expected = [number for number, line in enumerate(marked, 1) if line.endswith("!")]
    assert [comment.span.line for comment in found] == expected
    for comment in found:
        line, column, last, end = comment.span
        assert last == line
        assert marked[line - 1].removesuffix(" !").encode()[column:end].decode() == comment.text
