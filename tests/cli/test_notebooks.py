"""Notebooks on the command line: read from their JSON, their places named by cell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from .conftest import HELPERS, KERNELS, CommandLine

Write = Callable[[str, str], Path]
IMPORTS, _, REST = KERNELS.partition("\n\n\n")
FIRST, _, SECOND = REST.partition("\n\n\n")


def cell(source: str | list[str], kind: str = "code", **metadata: object) -> dict:
    return {"cell_type": kind, "metadata": metadata, "source": source}


def saved(*cells: dict, **more: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more})


@pytest.fixture
def notebook(write: Write) -> None:
    cells = [
        cell("# A *title*", "markdown"),
        cell(f"!pip install x\n{IMPORTS}".splitlines(keepends=True)),
        cell("not python (", vscode={"languageId": "ruby"}),
        cell(FIRST.splitlines(keepends=True)),
        cell("%%bash\nls (", outputs=["…"]),
        cell(SECOND),
    ]
    write("work.ipynb", saved(*cells))
    write("work.py", "import nothing_of_the_kind\n")  # which `import work` would mean


def test_types(tile_lsp: CommandLine, notebook: None):
    ran = tile_lsp("show", "types", "work.ipynb::größer")
    assert (ran.code, ran.err) == (0, "")
    assert "".join(ran.out.splitlines(keepends=True)[3:12]) == snapshot("""\
  cell 2:3:18  n    → Tile[int32,()] = 128
  cell 2:4:5   i    → Tile[int32,()]
  cell 2:5:5   wide → Tile[float32,(128)]
  cell 2:6:5   slim → Tile[float16,(128)]

grow · helpers.py · called at work.ipynb:cell 2:5:12, work.ipynb:cell 2:6:12
  4:10  t      → Tile[float32,(128)]  when called at work.ipynb:cell 2:5:12
  4:10  t      → Tile[float16,(128)]  when called at work.ipynb:cell 2:6:12
  4:13  by     → Tile[int32,()] = 2
""")


def test_places_of_a_listing_and_of_an_error_name_cells(tile_lsp: CommandLine, notebook: None):
    ran = tile_lsp("show", "typed", "work.ipynb::größer")
    assert "work.ipynb:cell 2:6: " in ran.out
    links = json.loads(tile_lsp("show", "typed", "work.ipynb::größer", "--json").out)["lines"]
    places = [place for line in links for link in line for place in link if place["file"].endswith(".ipynb")]
    assert {(place["cell"], place["line"], place["end_line"]) for place in places if place["line"] == 6} == {(2, 6, 6)}
    ran = tile_lsp("show", "types", "work.ipynb::broken")
    assert ran.code == 1
    assert ran.err.startswith("work.ipynb:cell 4:5:42: error: ")
    assert ran.err.splitlines()[1] == " 5 |     ct.store(x, index=(0,), tile=grow(t, t[0:1]))"


def test_jobs(tile_lsp: CommandLine, notebook: None):
    assert tile_lsp("jobs", "work.ipynb").out.startswith("work.ipynb:cell 2:3: größer (cutile)\n")
    first, second = json.loads(tile_lsp("jobs", "work.ipynb", "--json").out)["kernels"]
    assert [(one["cell"], one["line"]) for one in (first, second)] == [(2, 3), (4, 3)]


def test_a_launch_behind_timeit_tells_arguments(tile_lsp: CommandLine, write: Write):
    kernel = FIRST.replace("# tile-lsp: x=f32[1024] y=f16[1024] n=128\n", "")
    setup = "import torch\na = torch.rand(4096, device='cuda')\nb = torch.empty_like(a)"
    launch = "%timeit -n 10 ct.launch(torch.cuda.current_stream(), (4,), größer, (a, b, 64))"
    write("work.ipynb", saved(cell(IMPORTS), cell(kernel), cell(setup), cell(f"%pip list\n{launch}")))
    assert (
        "".join(tile_lsp("jobs", "work.ipynb").out.splitlines(keepends=True)[1:4])
        == """\
  x  f32[4096]  launch: work.ipynb:cell 4:2
  y  f32[4096]  launch: work.ipynb:cell 4:2
  n  64         launch: work.ipynb:cell 4:2
"""
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no notebook of format 4: "),
        ("[" * 5000, "it is no notebook"),
        (saved(nbformat=3), "it is a notebook of format 3; open it in Jupyter and save it in format 4"),
        (saved(cell(["a", 3])), "it is no notebook of format 4: Expected `str`, got `int` - at `$.cells[0].source[1]`"),  # type: ignore[list-item]
    ],
)
def test_what_is_no_notebook(tile_lsp: CommandLine, write: Write, text: str, why: str):
    write("bad.ipynb", text)
    ran = tile_lsp("show", "types", "bad.ipynb::k")
    assert (ran.code, ran.out) == (2, "")
    assert f"bad.ipynb can't be read: {why}" in ran.err


def test_the_helpers_of_a_notebook_are_beside_it(tile_lsp: CommandLine, write: Write):
    """Though its folder is a package, and another folder of the workspace has one of the same name."""
    write("pyproject.toml", "")
    write("pkg/__init__.py", "raise RuntimeError")
    write("pkg/deep.ipynb", saved(cell(IMPORTS), cell(FIRST)))
    write("pkg/helpers.py", HELPERS.replace("SCALE = 2", "SCALE = 3"))
    ran = tile_lsp("show", "types", "pkg/deep.ipynb::größer")
    assert (ran.code, ran.err) == (0, "")
    assert "Tile[int32,()] = 3" in ran.out
