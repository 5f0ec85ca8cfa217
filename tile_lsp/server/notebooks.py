"""The notebooks that the client holds: a cell's URI and a line of it ↔ a line of the module that the cells are.

The analysis of Python is imported with the first notebook: `initialize` is answered without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import uris
from .lsp import types
from .text import Change, apply_changes, sound, split_lines

_KEPT = 32
"""Earlier layouts of a notebook: analysis may be some edits behind."""


class Layout(NamedTuple):
    """Which cells a module's text was made of. Its lines count from 1, a cell's from 0 as the protocol has them."""

    text: str
    cells: tuple[str, ...]
    """Their URIs."""
    starts: tuple[int, ...]
    """Their first lines."""

    @classmethod
    def of(cls, text: str, cells: Sequence[str]) -> Layout:
        from tile_lsp.analysis.notebook import cell_starts

        return cls(text, tuple(cells), cell_starts(text.split("\n")))

    def line(self, cell: str, index: int) -> int:
        """A cell's line as one of the module's; 0, which is no line, for a cell that isn't there."""
        if cell not in self.cells:
            return 0
        number = self.cells.index(cell)
        last = self.starts[number + 1] - 2 if number + 1 < len(self.cells) else self.text.count("\n") + 1
        return min(self.starts[number] + max(index, 0), last)

    def cell(self, line: int) -> tuple[str, int] | None:
        """The cell that a line of the module is in, and which line of that cell it is; None where there is no cell."""
        if not self.cells:
            return None
        from tile_lsp.analysis.notebook import cell_position

        number, within = cell_position(self.starts, line)
        return self.cells[number - 1], max(within - 1, 0)


class Cell:
    """A cell's text as the client has it."""

    def __init__(self, document: types.TextDocumentItem) -> None:
        self.is_python = document.language_id == "python"
        self.set(document.text, document.version)

    def set(self, text: str, version: int) -> None:
        self.text = text
        self.version = version
        self.lines = split_lines(text)


class Notebook:
    """A notebook that the client holds. To the session a file like any other, whose text are all its code cells."""

    def __init__(self, path: str, document: types.NotebookDocument, texts: Sequence[types.TextDocumentItem]) -> None:
        self.path = path
        self.uri = document.uri
        self.version = document.version
        self._order = list(document.cells)
        self._cells = {text.uri: Cell(text) for text in texts}
        self._layouts: list[Layout] = []
        self._lay_out()

    @property
    def text(self) -> str:
        return self._layouts[0].text

    @property
    def cells(self) -> tuple[str, ...]:
        """URIs of the cells that are Python."""
        return self._layouts[0].cells

    def cell(self, uri: str) -> Cell | None:
        return self._cells.get(uri)

    def layout(self, text: str | None) -> Layout:
        """Of a text that the module had a while ago; the present one if it never had it."""
        return next((layout for layout in self._layouts if layout.text == text), self._layouts[0])

    def change(self, version: int, change: types.NotebookDocumentChangeEvent, encoding: str) -> None:
        self.version = version
        cells = change.cells
        if cells is None:
            return  # metadata only
        if (structure := cells.structure) is not None:
            array = structure.array
            self._order[array.start : array.start + array.delete_count] = array.cells or ()
            for closed in structure.did_close or ():
                self._cells.pop(closed.uri, None)
            for opened in structure.did_open or ():
                self._cells[opened.uri] = Cell(opened)
        for cell in cells.data or ():
            self._order = [cell if known.document == cell.document else known for known in self._order]
        for content in cells.text_content or ():
            held = self._cells.get(content.document.uri)
            if held is not None:
                edits = [Change.of(edit) for edit in content.changes]
                held.set(apply_changes(held.text, edits, encoding), content.document.version)
        self._lay_out()

    def _lay_out(self) -> None:
        shown = {
            cell.document: held.text
            for cell in self._order
            if cell.kind == types.NotebookCellKind.Code and (held := self._cells.get(cell.document)) and held.is_python
        }
        from tile_lsp.analysis.notebook import module_text

        layout = Layout.of(sound(module_text(list(shown.values()))), list(shown))
        self._layouts = [layout, *self._layouts[: _KEPT - 1]]


class Notebooks:
    """All that are open, by path and by the URIs of their cells."""

    def __init__(self) -> None:
        self._open: dict[str, Notebook] = {}

    def open(self, params: types.DidOpenNotebookDocumentParams) -> Notebook | None:
        """None for a notebook that is no file."""
        path = uris.to_path(params.notebook_document.uri)
        if path is None:
            return None
        self._open[path] = Notebook(path, params.notebook_document, params.cell_text_documents)
        return self._open[path]

    def change(self, params: types.DidChangeNotebookDocumentParams, encoding: str) -> Notebook | None:
        """None if the module's text stays as it was: a cell was run, or a notebook changed that isn't open."""
        notebook = self.at(uris.to_path(params.notebook_document.uri))
        if notebook is None:
            return None
        before = notebook.text
        notebook.change(params.notebook_document.version, params.change, encoding)
        return notebook if notebook.text != before else None

    def close(self, params: types.DidCloseNotebookDocumentParams) -> Notebook | None:
        return self._open.pop(uris.to_path(params.notebook_document.uri) or "", None)

    def all(self) -> list[Notebook]:
        return list(self._open.values())

    def at(self, path: str | None) -> Notebook | None:
        return self._open.get(path) if path is not None else None

    def of_cell(self, uri: str) -> Notebook | None:
        """The notebook that a URI is a cell of."""
        return next((notebook for notebook in self._open.values() if notebook.cell(uri) is not None), None)
