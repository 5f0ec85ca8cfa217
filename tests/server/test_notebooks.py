"""A notebook over real pipes: its cells are one module, and every answer is in terms of a cell."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from .rpc import running

IMPORTS = "%load_ext autoreload\nimport cuda.tile as ct\nfrom tune import scale\n"
HELPER = "# 😋 a helper\ndef twice(t):\n    '😋é'; doubled = scale(t)\n    return doubled"
KERNEL = """\
# tile-lsp: x=f32[1024] out=f32[1024] n=256 target=sm_90
@ct.kernel
def copy(x, out, n: ct.Constant[int]):
    '😋é'; tile = ct.load(x, index=(ct.bid(0),), shape=(n,))
    result = twice(tile)
    ct.store(out, index=(ct.bid(0),), tile=result)"""
LAUNCH = "%timeit -n 10 await run(copy)\n!nvidia-smi"
CELLS = (IMPORTS, HELPER, KERNEL, LAUNCH)
#: The notebook is `tune.ipynb`, and imports from `tune.py`.
NEIGHBOUR = "def scale(t):\n    return t * 2\n"


class Notebook:
    """A client with a notebook open, in a folder whose name is none of the easy ones."""

    def __init__(self, client, folder: Path) -> None:
        self.client = client
        self.path = folder / "tune.ipynb"
        self.uri = self.path.as_uri()
        self.version = 1
        self.order: list[str] = []
        self.texts: dict[str, str] = {}
        self.kinds: dict[str, int] = {}
        self.made = 0

    def new(self, text: str, language: str = "python", kind: int = 2) -> dict:
        """A text document for a new cell."""
        self.made += 1
        uri = f"vscode-notebook-cell:{self.uri.removeprefix('file://')}#W{self.made}sZmlsZQ%3D%3D"
        self.texts[uri], self.kinds[uri] = text, kind
        return {"uri": uri, "languageId": language, "version": 1, "text": text}

    def cells(self, uris) -> list[dict]:
        return [{"kind": self.kinds[uri], "document": uri} for uri in uris]

    def open(self, texts) -> None:
        documents = [self.new(text) for text in texts]
        self.order = [document["uri"] for document in documents]
        notebook = {"uri": self.uri, "notebookType": "jupyter-notebook", "version": 1, "cells": self.cells(self.order)}
        self.client.tell("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": documents})

    def _change(self, **cells) -> None:
        self.version += 1
        notebook = {"uri": self.uri, "version": self.version}
        self.client.tell("notebookDocument/didChange", {"notebookDocument": notebook, "change": {"cells": cells}})

    def splice(self, start: int, delete: int, *documents: dict, moved=()) -> None:
        """Cells out, others in: new documents, then such as were there before."""
        removed = self.order[start : start + delete]
        added = [*(document["uri"] for document in documents), *moved]
        self.order[start : start + delete] = added
        self._change(
            structure={
                "array": {"start": start, "deleteCount": delete, "cells": self.cells(added)},
                "didOpen": list(documents),
                "didClose": [{"uri": uri} for uri in removed if uri not in added],
            }
        )

    def edit(self, cell: int, old: str, new: str) -> None:
        """An incremental edit of one cell."""
        uri = self.order[cell]
        start, end = self.at(cell, old), self.at(cell, old, len(old))
        self.texts[uri] = self.texts[uri].replace(old, new, 1)
        change = {"range": {"start": start, "end": end}, "text": new}
        self._change(textContent=[{"document": {"uri": uri, "version": self.version + 1}, "changes": [change]}])

    def at(self, cell: int, snippet: str, offset: int = 0) -> dict:
        """A position in or after the first occurrence of a text."""
        text = self.texts[self.order[cell]]
        before = text[: text.index(snippet) + offset]
        row = before.rpartition("\n")[2]
        return {"line": before.count("\n"), "character": self.client.character(row, len(row))}

    def document(self, cell: int) -> dict:
        return {"textDocument": {"uri": self.order[cell]}}

    def here(self, cell: int, snippet: str, offset: int = 0) -> dict:
        return {**self.document(cell), "position": self.at(cell, snippet, offset)}

    def marked(self, cell: int, span: dict) -> str:
        """The text of a range of one line of a cell."""
        line = self.texts[self.order[cell]].split("\n")[span["start"]["line"]]
        columns = {self.client.character(line, i): i for i in range(len(line) + 1)}
        assert span["start"]["line"] == span["end"]["line"]
        return line[columns[span["start"]["character"]] : columns[span["end"]["character"]]]

    async def stage(self, stage: str, cell: int = 2, kernel: str = "copy") -> dict:
        return await self.client.ask("tile/document", {**self.document(cell), "kernel": kernel, "stage": stage})

    async def hover(self, cell: int, snippet: str) -> str | None:
        found = await self.client.ask("textDocument/hover", self.here(cell, snippet))
        return found["contents"]["value"] if found else None

    async def hints(self, cell: int) -> list:
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
        return await self.client.ask("textDocument/inlayHint", {**self.document(cell), "range": whole})

    async def lenses(self, cell: int) -> list:
        return await self.client.ask("textDocument/codeLens", self.document(cell))

    async def problems(self, cell: int) -> list[dict]:
        return (await self.client.ask("textDocument/diagnostic", self.document(cell)))["items"]


@pytest.fixture
def notebook(tmp_path, cache):
    @asynccontextmanager
    async def open_notebook(texts=CELLS, editor="vscode", encodings=None, **options):
        folder = tmp_path / "nöte books"
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "tune.py").write_text(NEIGHBOUR)
        async with running(editor, tmp_path, encodings=encodings) as client:
            client.settings = {"python": sys.executable, "cache": {"directory": str(cache)}}
            await client.initialize(tmp_path, **options)
            notebook = Notebook(client, folder)
            notebook.open(texts)
            yield notebook
            await client.close()

    return open_notebook


async def test_sync_is_asked_for(notebook):
    async with notebook() as nb:
        (selector,) = nb.client.server["notebookDocumentSync"]["notebookSelector"]
        assert selector["cells"] == [{"language": "python"}]


@pytest.mark.parametrize("encodings", [None, ["utf-8"], ["utf-32"]])
async def test_features_speak_of_cells(notebook, encodings):
    async with notebook(encodings=encodings) as nb:
        await nb.stage("types")
        hover = await nb.client.ask("textDocument/hover", nb.here(2, "tile ="))
        assert nb.marked(2, hover["range"]) == "tile"
        assert hover["contents"]["value"].startswith("```python\ntile: Tile[float32,(256)]\n```")
        helper = await nb.hover(1, "doubled =")
        assert "doubled: Tile[float32,(256)]" in helper
        assert "tune.ipynb:cell 3:5" in helper
        assert await nb.hover(0, "import") is None
        assert await nb.hover(3, "run") is None

        hints = [hint for hint in await nb.hints(2) if hint.get("kind") == 1]
        assert [(hint["position"], hint["label"]) for hint in hints] == [
            (nb.at(2, "tile =", 4), ": Tile[float32,(256)]"),
            (nb.at(2, "result =", 6), ": Tile[float32,(256)]"),
        ]
        assert (await nb.client.ask("inlayHint/resolve", hints[0]))["tooltip"] == "Tile[float32,(256)]: copy"
        assert [hint["position"] for hint in await nb.hints(1)] == [nb.at(1, "doubled =", 7)]
        assert not await nb.hints(0)

        assert {nb.marked(2, lens["range"]) for lens in await nb.lenses(2)} == {"copy"}
        assert [await nb.lenses(cell) for cell in (0, 1, 3)] == [[], [], []]
        assert [await nb.problems(cell) for cell in range(4)] == [[], [], [], []]

        for document in (nb.document(2), nb.document(3), {"textDocument": {"uri": nb.uri}}):
            (kernel,) = (await nb.client.ask("tile/jobs", document))["kernels"]
            assert kernel["uri"] == nb.order[2]
            assert nb.marked(2, kernel["selectionRange"]) == "copy"


async def test_lenses_and_actions_open_listings_that_link_to_cells(notebook):
    async with notebook() as nb:
        await nb.stage("types")
        commands = [(await nb.client.ask("codeLens/resolve", lens))["command"] for lens in await nb.lenses(2)]
        sass = next(command for command in commands if command["title"] == "SASS")
        action = {"range": {"start": nb.at(2, "def"), "end": nb.at(2, "def")}, "context": {"diagnostics": []}}
        actions = await nb.client.ask("textDocument/codeAction", {**nb.document(2), **action})
        same = next(action["command"] for action in actions if action["kind"] == "source.tile.sass")
        assert (same["command"], same["arguments"]) == (sass["command"], sass["arguments"])
        assert not await nb.client.ask("textDocument/codeAction", {**nb.document(0), **action})

        wanted = {"command": sass["command"], "arguments": sass["arguments"]}
        uri = (await nb.client.ask("workspace/executeCommand", wanted))["uri"]
        assert (await nb.client.until("window/showDocument"))["uri"] == uri
        text = (await nb.client.ask("workspace/textDocumentContent", {"uri": uri}))["text"]
        assert "tune.ipynb:cell 3:6: ct.store(" in text
        rows = text.split("\n")
        store = next(i for i, row in enumerate(rows) if "STG" in row or "UTMASTG" in row)
        at = {"textDocument": {"uri": uri}, "position": {"line": store, "character": 9}}
        (definition, *_) = await nb.client.ask("textDocument/definition", at)
        assert (definition["uri"], definition["range"]["start"]) == (nb.order[2], nb.at(2, "ct.store"))
        assert "tune.ipynb:cell 3:6" in (await nb.client.ask("textDocument/hover", at))["contents"]["value"]

        back = {**nb.here(2, "ct.store"), "context": {"includeDeclaration": True}}
        found = await nb.client.ask("textDocument/references", back)
        assert (uri, store) in [(one["uri"], one["range"]["start"]["line"]) for one in found]
        elsewhere = {**nb.document(0), "position": {"line": 1, "character": 0}, "context": {"includeDeclaration": True}}
        assert not await nb.client.ask("textDocument/references", elsewhere)

        made = await nb.client.ask("tile/document", {"uri": uri})
        assert made["source"] == nb.order[2]
        linked = {place["uri"] for links in made["lines"] for link in links for place in link}
        assert {nb.order[1], nb.order[2]} <= linked <= {*nb.order, (nb.path.parent / "tune.py").as_uri()}


async def test_pins_are_written_into_the_cell(notebook):
    async with notebook((IMPORTS, HELPER, KERNEL.replace("x=f32[1024] ", ""))) as nb:
        await nb.stage("types")
        action = {"range": {"start": nb.at(2, "def"), "end": nb.at(2, "def")}, "context": {"diagnostics": []}}
        actions = await nb.client.ask("textDocument/codeAction", {**nb.document(2), **action})
        changes = next(action["edit"]["changes"] for action in actions if action["kind"] == "source.tile.pin")
        ((uri, (edit,)),) = changes.items()
        assert uri == nb.order[2]
        assert edit["range"]["start"] == nb.at(2, " target=sm_90", len(" target=sm_90"))


async def test_cells_inserted_moved_and_deleted_compile_nothing_anew(notebook):
    async with notebook() as nb:
        before = await nb.stage("sass")
        ran = await nb.client.ask("tile/stats")

        async def check(cell: int) -> None:
            shown = await nb.stage("sass", cell)
            assert f"tune.ipynb:cell {cell + 1}:6: " in shown["text"]
            assert shown["text"].count("\n") == before["text"].count("\n")
            hover = await nb.client.ask("textDocument/hover", nb.here(cell, "tile ="))
            assert nb.marked(cell, hover["range"]) == "tile"
            assert (shown["source"], shown["stale"]) == (nb.order[cell], False)
            now = await nb.client.ask("tile/stats")
            assert {n: now[n] for n in ("inferences", "codegens")} == {n: ran[n] for n in ("inferences", "codegens")}

        nb.splice(1, 0, nb.new("a = 1\nb = 2\n"), nb.new(""))
        await check(4)
        nb.edit(1, "a = 1\n", "'''\n%time is text here\n'''\na = 1\n\n\n")
        await check(4)
        assert not await nb.problems(1)
        nb.edit(1, nb.texts[nb.order[1]], "")
        await check(4)
        nb.splice(1, 2)
        await check(2)
        imports, helper, kernel, launch = nb.order
        nb.splice(0, 4, moved=(launch, imports, helper, kernel))
        await check(3)


async def test_a_cell_that_becomes_markdown_is_gone(notebook):
    async with notebook() as nb:
        await nb.stage("types")
        nb.splice(1, 1, nb.new("def twice(t) is *no* code", "markdown", 1))
        await nb.stage("types")
        (problem,) = await nb.problems(2)
        assert "twice" in problem["message"]
        assert nb.marked(2, problem["range"]) == "twice"
        assert not await nb.problems(1)
        nb.splice(1, 1, nb.new("%%bash\ndef twice(t)"), nb.new(HELPER))
        await nb.stage("types", 3)
        assert [await nb.problems(cell) for cell in range(5)] == [[], [], [], [], []]
        assert "Tile[float32,(256)]" in await nb.hover(3, "tile =")


BROKEN = [
    pytest.param("def f(:\n", "f(", id="no syntax"),
    pytest.param("x = (1,", "(", id="an open bracket"),
    pytest.param("s = '''", "'''", id="an open string"),
    pytest.param("else:\n    pass", "else", id="a branch of nothing"),
]


@pytest.mark.parametrize(("text", "at"), BROKEN)
async def test_a_broken_cell_breaks_no_other(notebook, text, at):
    async with notebook((IMPORTS, text, HELPER, KERNEL, text)) as nb:
        assert (await nb.stage("types", 3))["state"] == "fresh"
        for cell in (1, 4):
            (problem,) = await nb.problems(cell)
            assert problem["range"]["start"]["line"] == nb.at(cell, at)["line"]
        assert [await nb.problems(cell) for cell in (0, 2, 3)] == [[], [], []]
        assert "Tile[float32,(256)]" in await nb.hover(3, "tile =")


async def test_diagnostics_are_pushed_to_cells(notebook):
    async with notebook((IMPORTS, HELPER, KERNEL, "1 +"), editor="eglot") as nb:

        def published(cell: int):
            return lambda params: params["uri"] == uris[cell]

        uris = list(nb.order)
        (problem,) = (await nb.client.until("textDocument/publishDiagnostics", published(3)))["diagnostics"]
        assert problem["range"]["start"]["line"] == 0
        nb.edit(2, "twice(tile)", "twice(tile) + ct.nothing")
        (problem,) = (await nb.client.until("textDocument/publishDiagnostics", published(2)))["diagnostics"]
        assert problem["range"]["start"]["line"] == nb.at(2, "ct.nothing")["line"]
        nb.splice(0, 0, nb.new("\n\n"))
        nb.splice(4, 1)
        assert not (await nb.client.until("textDocument/publishDiagnostics", published(3)))["diagnostics"]
        close = {"notebookDocument": {"uri": nb.uri}, "cellTextDocuments": [{"uri": uri} for uri in nb.order]}
        nb.client.tell("notebookDocument/didSave", {"notebookDocument": {"uri": nb.uri}})
        nb.client.tell("notebookDocument/didClose", close)

        def emptied(params) -> bool:
            return params["uri"] == uris[2] and not params["diagnostics"]

        await nb.client.until("textDocument/publishDiagnostics", emptied)
        assert not (await nb.client.ask("tile/jobs"))["kernels"]


async def test_a_notebook_and_a_file_of_the_same_stem(notebook):
    """Both have a kernel of the same name, and the notebook imports from the file."""
    own = f"import cuda.tile as ct\n{NEIGHBOUR}\n{KERNEL.replace('twice', 'scale').replace('n=256', 'n=128')}"
    async with notebook() as nb:
        file = nb.path.with_suffix(".py")
        nb.client.open(file.as_uri(), own)
        assert "Tile[float32,(256)]" in (await nb.stage("types"))["text"]
        params = {"textDocument": {"uri": file.as_uri()}, "kernel": "copy", "stage": "types"}
        there = await nb.client.ask("tile/document", params)
        assert "Tile[float32,(128)]" in there["text"]
        assert (there["source"], "Tile[float32,(256)]" in there["text"]) == (file.as_uri(), False)
        assert "Tile[float32,(256)]" in await nb.hover(2, "tile =")
        kernels = (await nb.client.ask("tile/jobs"))["kernels"]
        assert {kernel["uri"] for kernel in kernels} == {file.as_uri(), nb.order[2]}


async def test_who_follows_kernels_hears_of_cells(notebook):
    async with notebook(status=True) as nb:
        await nb.stage("types")
        for uri in nb.order:
            await nb.client.until("tile/kernelsChanged", lambda params, uri=uri: params["uri"] == uri)


async def test_changed_settings_keep_the_cells(notebook):
    async with notebook((IMPORTS, HELPER, KERNEL.replace(" target=sm_90", ""))) as nb:
        await nb.stage("types")
        nb.edit(2, "n=256", "n=128")
        nb.client.settings = {**nb.client.settings, "targets": ["sm_80", "sm_120"]}
        nb.client.tell("workspace/didChangeConfiguration", {"settings": None})
        await nb.client.until("workspace/configuration")
        await nb.client.until("workspace/configuration")
        await nb.stage("types")
        assert "Tile[float32,(128)]" in await nb.hover(2, "tile =")
        (kernel,) = (await nb.client.ask("tile/jobs", nb.document(2)))["kernels"]
        assert [job["target"] for job in kernel["jobs"]] == ["sm_80", "sm_120"]
