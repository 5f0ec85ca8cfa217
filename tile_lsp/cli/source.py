"""How a place in a source file is written for people: `file:line:column`, both from 1, and the line, marked.

In a notebook it is `file:cell 3:line:column`; its Python cells are counted, from 1. Columns count characters here: that
is what editors show and jump to.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable

from tile_lsp.analysis.notebook import SUFFIX, cell_starts
from tile_lsp.analysis.python.parse import parse
from tile_lsp.ide.jobs import line_name
from tile_lsp.model.location import SourceRange, Span

from .scopes import Scope, scopes
from .visible import visible

#: Text of a file, None if it can't be read.
Read = Callable[[str], str | None]


class Sources:
    """The lines of files, each split once."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._lines: dict[str, list[str]] = {}
        self._scopes: dict[str, tuple[Scope, ...]] = {}

    def line(self, path: str, number: int) -> str:
        """Line `number` (from 1) without its end; empty beyond the file's."""
        lines = self._all(path)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def cells(self, path: str) -> tuple[int, ...]:
        """The first line of each cell of a notebook; empty for a file that is none."""
        return cell_starts(self._all(path)) if path.endswith(SUFFIX) else ()

    def scopes(self, path: str) -> tuple[Scope, ...]:
        """The functions of a file, where it is Python."""
        if path not in self._scopes:
            is_python = path.endswith((".py", SUFFIX))
            self._scopes[path] = scopes(parse(path, "\n".join(self._all(path))).tree) if is_python else ()
        return self._scopes[path]

    def _all(self, path: str) -> list[str]:
        lines = self._lines.get(path)
        if lines is None:
            # Only what Python ends a line at: splitlines() would also split at form feeds and Unicode separators.
            text = (self._read(path) or "").replace("\r\n", "\n").replace("\r", "\n")
            lines = self._lines[path] = text.split("\n")
        return lines

    def column(self, path: str, line: int, column: int) -> int:
        """Bytes from 0 to characters from 1."""
        return len(_characters(self.line(path, line), column)) + 1

    def position(self, path: str, span: Span) -> str:
        """`34:5`, `cell 3:4:5`."""
        line = line_name(SourceRange(path, span), self.cells(path))
        return f"{line}:{self.column(path, span.line, span.column)}"

    def where(self, place: SourceRange) -> str:
        """`examples/matmul.py:34:5`."""
        return f"{short_path(place.path)}:{self.position(place.path, place.span)}"

    def excerpt(self, place: SourceRange) -> list[str]:
        """The line, and a line that marks the range in it; the first line only of a range that has several."""
        path, span = place.path, place.span
        text = self.line(path, span.line)
        if not text.strip():
            return []
        before = visible(_characters(text, span.column))
        end = span.end_column if span.end_line == span.line else len(text.encode())
        marked = visible(_characters(text, end))[len(before) :].rstrip()
        number = line_name(place, self.cells(path)).rpartition(":")[2]
        # Tabs are kept before the mark, so that it stands below the range at any width of tab.
        indent = "".join("\t" if character == "\t" else " " * _width(character) for character in before)
        marks = "^" + "~" * (sum(map(_width, marked)) - 1)
        return [f" {number} | {visible(text)}", f" {' ' * len(number)} | {indent}{marks}"]


def short_path(path: str) -> str:
    """Relative to the current folder if the file is below it."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _characters(line: str, column: int) -> str:
    """The part of a line before a column in bytes."""
    return line if column > len(line) * 4 else line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")


def _width(character: str) -> int:
    """Cells of a terminal."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
