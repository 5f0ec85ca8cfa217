"""`tile-lsp graph`: the graph in Graphviz' language, and what becomes of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import CommandLine

LOOP = """\
import cuda.tile as ct


# tile-lsp: x=f32[1024] target=sm_90
@ct.kernel
def loop(x):
    total = ct.full((16,), 0.0, ct.float32)
    for i in range(ct.num_tiles(x, 0, (16,))):
        total += ct.load(x, index=(i,), shape=(16,))
    ct.store(x, index=(0,), tile=total)
"""


def test_the_graph_is_printed_or_written(tile_lsp: CommandLine, write):
    folder = write("loop.py", LOOP).parent
    ran = tile_lsp("graph", "sass", "loop.py::loop")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("digraph {\n")
    assert ran.out.rstrip().endswith("}")
    assert '[id="b0_0", label="entry · ' in ran.out
    assert "class=back" in ran.out
    assert "line" in ran.out
    assert tile_lsp("graph", "sass", "loop.py::loop", "-o", "loop.dot").out == ""
    assert (folder / "loop.dot").read_text() == ran.out


def test_a_picture_is_drawn_by_graphviz_or_says_what_is_missing(tile_lsp: CommandLine, write, tmp_path: Path):
    folder = write("loop.py", LOOP).parent
    if shutil.which("dot") is not None:
        assert tile_lsp("graph", "sass", "loop.py::loop", "-o", "loop.svg").code == 0
        assert '<g id="b0_0" class="node">' in (folder / "loop.svg").read_text()
    ran = tile_lsp("graph", "sass", "loop.py::loop", "-o", "loop.svg", env={"PATH": str(tmp_path)})
    assert ran.code == 3
    first, second = ran.err.splitlines()
    assert first == "tile-lsp: error: svg is drawn by Graphviz, and there is no dot on PATH"
    assert second.startswith("help: install Graphviz")
    assert "-o loop.dot" in second


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ptx", "loop.py::loop"), "'ptx' is not one of 'sass', 'amdgcn', 'llvm'"),
        (("llvm", "loop.py::loop"), "there is no stage llvm"),
        (("sass", "loop.py::loop", "-o", "loop.txt"), "the name ends in .svg"),
        (("sass", "loop.py::lop"), "did you mean loop?"),
    ],
)
def test_what_can_not_be(tile_lsp: CommandLine, write, words: tuple[str, ...], said: str):
    write("loop.py", LOOP)
    ran = tile_lsp("graph", *words)
    assert ran.code == 2
    assert said in ran.err


def test_a_fault_is_said_as_show_says_it(tile_lsp: CommandLine):
    ran = tile_lsp("graph", "sass", "kernels.py::broken", "--target", "sm_90")
    assert (ran.code, ran.out) == (1, "")
    assert "kernels.py:" in ran.err
