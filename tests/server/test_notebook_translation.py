"""A cell's URI and position ↔ a line of the module, through all that may happen to cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from tile_lsp.analysis.notebook import module_text
from tile_lsp.server.notebooks import Layout, Notebooks

URI = "file:///w/a%20b.ipynb"
CODE, MARKUP = types.NotebookCellKind.Code, types.NotebookCellKind.Markup


def layout(*texts: str) -> Layout:
    return Layout.of(module_text(texts), [f"cell:{index}" for index in range(len(texts))])


def test_lines_of_cells():
    three = layout("a\nb", "", "c\n")
    assert [three.line("cell:0", index) for index in (0, 1)] == [1, 2]
    assert three.line("cell:1", 0) == 4
    assert [three.line("cell:2", index) for index in (0, 1)] == [6, 7]
    assert [three.cell(line) for line in (1, 2, 4, 6, 7)] == [
        ("cell:0", 0),
        ("cell:0", 1),
        ("cell:1", 0),
        ("cell:2", 0),
        ("cell:2", 1),
    ]


@pytest.mark.parametrize(
    ("cell", "index", "line"),
    [
        pytest.param("cell:0", 99, 2, id="past the end of a cell"),
        pytest.param("cell:2", 99, 7, id="past the end of the last one"),
        pytest.param("cell:7", 0, 0, id="no such cell"),
    ],
)
def test_lines_that_are_none(cell, index, line):
    assert layout("a\nb", "", "c\n").line(cell, index) == line


def test_a_notebook_without_cells():
    assert Layout.of(module_text([]), []).cell(1) is None


@given(st.lists(st.text("ab%\n\r", max_size=6), min_size=1, max_size=6))
def test_lines_round_trip(texts):
    found = layout(*texts)
    for number, text in enumerate(texts):
        for index in range(len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))):
            assert found.cell(found.line(f"cell:{number}", index)) == (f"cell:{number}", index)


class Client:
    """Says what a client says, and what then must be known."""

    def __init__(self) -> None:
        self.notebooks = Notebooks()
        self.version = 1

    def item(self, uri: str, text: str, language: str = "python") -> types.TextDocumentItem:
        return types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)

    def cell(self, uri: str, kind: types.NotebookCellKind = CODE) -> types.NotebookCell:
        return types.NotebookCell(kind=kind, document=uri)

    def open(self, **texts: str) -> None:
        document = types.NotebookDocument(
            uri=URI, notebook_type="jupyter-notebook", version=1, cells=[self.cell(uri) for uri in texts]
        )
        items = [self.item(uri, text) for uri, text in texts.items()]
        self.notebooks.open(types.DidOpenNotebookDocumentParams(document, items))

    def change(self, **changes: object) -> None:
        self.version += 1
        event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(**changes))  # type: ignore[arg-type]
        document = types.VersionedNotebookDocumentIdentifier(version=self.version, uri=URI)
        self.notebooks.change(types.DidChangeNotebookDocumentParams(document, event), "utf-16")

    def splice(self, start, delete, cells=(), opened=(), closed=()) -> None:
        array = types.NotebookCellArrayChange(start=start, delete_count=delete, cells=list(cells))
        closed = [types.TextDocumentIdentifier(uri) for uri in closed]
        self.change(structure=types.NotebookDocumentCellChangeStructure(array, list(opened), closed))

    def edit(self, uri: str, text: str, line: int, start: int, end: int) -> None:
        at = types.Range(types.Position(line, start), types.Position(line, end))
        changes = [types.TextDocumentContentChangePartial(range=at, text=text)]
        document = types.VersionedTextDocumentIdentifier(version=2, uri=uri)
        self.change(text_content=[types.NotebookDocumentCellContentChanges(document, changes)])

    def known(self) -> dict[str, str]:
        notebook = self.notebooks.at("/w/a b.ipynb")
        assert notebook is not None
        texts = {uri: cell.text for uri in notebook.cells if (cell := notebook.cell(uri)) is not None}
        assert notebook.text == module_text(list(texts.values()))
        assert notebook.version == self.version
        return texts


def test_the_life_of_cells():
    client = Client()
    client.open(a="1", b="2\n", c="")
    assert client.known() == {"a": "1", "b": "2\n", "c": ""}
    client.splice(1, 0, [client.cell("d")], [client.item("d", "4")])
    assert list(client.known()) == ["a", "d", "b", "c"]
    client.splice(0, 3, [client.cell("b"), client.cell("a"), client.cell("d")])
    assert client.known() == {"b": "2\n", "a": "1", "d": "4", "c": ""}, "moved cells keep their texts"
    client.splice(1, 2, closed=["a", "d"])
    assert list(client.known()) == ["b", "c"]
    client.edit("b", "é😋 = 1", 0, 0, 1)
    client.edit("b", "x", 0, 3, 3)
    assert client.known()["b"] == "é😋x = 1\n"
    client.edit("gone", "x", 0, 0, 0)
    client.splice(1, 1, [client.cell("c")], [client.item("c", "*text*", "markdown")], ["c"])
    assert list(client.known()) == ["b"], "a cell of another language has no place in the module"
    client.splice(1, 1, [client.cell("c", MARKUP)], [client.item("c", "*text*")], ["c"])
    assert list(client.known()) == ["b"]
    client.change(data=[client.cell("c")])
    assert list(client.known()) == ["b", "c"]
    client.splice(0, 2, closed=["b", "c"])
    assert client.known() == {}
    assert client.notebooks.of_cell("b") is None


def test_an_earlier_text_has_the_cells_that_it_was_made_of():
    client = Client()
    client.open(a="1", b="2")
    notebook = client.notebooks.of_cell("b")
    assert notebook is not None
    before = notebook.text
    client.splice(0, 0, [client.cell("c")], [client.item("c", "3\n")])
    assert notebook.layout(before).cell(3) == ("b", 0)
    assert notebook.layout(notebook.text).line("b", 0) == 6
    assert notebook.layout("of another time") == notebook.layout(notebook.text)


def test_what_is_no_file_or_not_open_is_left_alone():
    notebooks = Notebooks()
    document = types.NotebookDocument(uri="untitled:a.ipynb", notebook_type="jupyter-notebook", version=1, cells=[])
    assert notebooks.open(types.DidOpenNotebookDocumentParams(document, [])) is None
    close = types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(URI), [])
    assert notebooks.close(close) is None
    change = types.NotebookDocumentChangeEvent()
    identifier = types.VersionedNotebookDocumentIdentifier(version=1, uri=URI)
    assert notebooks.change(types.DidChangeNotebookDocumentParams(identifier, change), "utf-8") is None


def test_closed_and_opened_again():
    client = Client()
    client.open(a="1")
    close = types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(URI), [])
    assert client.notebooks.close(close) is not None
    assert client.notebooks.of_cell("a") is None
    client.open(b="2")
    assert client.known() == {"b": "2"}
