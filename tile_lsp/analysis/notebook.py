"""Notebooks as Python: the code cells of one are one module, in their order, with a mark on a line between any two.

The parser takes no statement over a mark. So a module's text says where its cells are, whoever reads it.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from tile_lsp.analysis.python.ipython import plain_python
from tile_lsp.analysis.python.text import CELL_MARK

SUFFIX = ".ipynb"

_LINE_END = re.compile(r"\r\n|\r|\n")


def module_text(cells: Sequence[str]) -> str:
    """One text of the cells' lines, with a mark between any two cells, and what only IPython understands taken out.

    Lines keep their number in their cell, and what is left of them its columns.
    """
    return f"\n{CELL_MARK}\n".join(_unmarked(plain_python("\n".join(_LINE_END.split(cell)))) for cell in cells)


def _unmarked(cell: str) -> str:
    """A cell must not hold what separates cells."""
    if CELL_MARK not in cell:
        return cell
    return "\n".join("#" if line == CELL_MARK else line for line in cell.split("\n"))


def cell_starts(lines: Sequence[str]) -> tuple[int, ...]:
    """The first line of each cell of a module's text, counted from 1."""
    return (1, *(number + 1 for number, line in enumerate(lines, 1) if line == CELL_MARK))


def cell_position(starts: Sequence[int], line: int) -> tuple[int, int]:
    """Which cell a line is in, and which line of that cell it is, all counted from 1. A mark is of the cell above."""
    index = max(0, bisect.bisect_right(starts, line) - 1)
    return index + 1, line - starts[index] + 1


class Unreadable(msgspec.Struct, frozen=True):
    """A file that can't be read as a notebook."""

    message: str


class _Cell(msgspec.Struct, frozen=True):
    cell_type: str
    source: str | list[str] = ""
    metadata: Any = None


class _Notebook(msgspec.Struct, frozen=True):
    nbformat: int
    cells: list[_Cell] = []
    metadata: Any = None


def read_notebook(data: bytes) -> tuple[str, ...] | Unreadable:
    """The Python cells of a notebook file (`nbformat` 4). Never raises."""
    try:
        notebook = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_Notebook)
    except RecursionError:
        return Unreadable("it is no notebook: nested too deeply")
    except (msgspec.MsgspecError, ValueError) as error:
        return Unreadable(f"it is no notebook of format 4: {error}")
    if notebook.nbformat != 4:
        return Unreadable(f"it is a notebook of format {notebook.nbformat}; open it in Jupyter and save it in format 4")
    language = _language(notebook.metadata)
    return tuple(
        cell.source if isinstance(cell.source, str) else "".join(cell.source)
        for cell in notebook.cells
        if cell.cell_type == "code" and _get(cell.metadata, "vscode", "languageId", default=language) == "python"
    )


def _language(metadata: object) -> str:
    kernel = _get(metadata, "kernelspec", "language", default="")
    language = _get(metadata, "language_info", "name", default=kernel or "python")
    return "python" if language == "ipython" else language


def _get(value: object, *path: str, default: str) -> str:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value.lower() if isinstance(value, str) else default
