"""The features over real pipes, on a real kernel that is compiled for the occasion."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.patience import PATIENCE
from tests.support.processes import outlive
from tile_lsp.server.settings import session_settings

from .rpc import SERVER, UNASKED_NOTHING, RpcError, running, server_after

HELPERS = """\
def scale(t):
    doubled = t * 2
    return doubled
"""
KERNEL = """\
import cuda.tile as ct
from helpers import scale


# tile-lsp: x=f32[1024] out=f32[1024] n=256 target=sm_90
@ct.kernel
def copy(x, out, n: ct.Constant[int]):
    '😋é'; tile = ct.load(x, index=(ct.bid(0),), shape=(n,))
    result = scale(tile)
    ct.store(out, index=(ct.bid(0),), tile=result)
"""


class Workspace:
    """A client with the kernel open, in a folder and a file whose names are none of the easy ones."""

    def __init__(self, client, folder: Path, text: str) -> None:
        self.client = client
        self.folder = folder
        self.path = folder / "kernel é#1%20?.py"
        self.uri = self.path.as_uri()
        self.text = text
        self.version = 1
        (folder / "helpers.py").write_text(HELPERS)
        self.path.write_text("raise RuntimeError('the text on disk must not be read')\n")

    def at(self, snippet: str, offset: int = 0) -> dict:
        """A position in or after the first occurrence of a text."""
        before = self.text[: self.text.index(snippet) + offset]
        row = before.rpartition("\n")[2]
        return {"line": before.count("\n"), "character": self.client.character(row, len(row))}

    def here(self, snippet: str, offset: int = 0) -> dict:
        return {"textDocument": {"uri": self.uri}, "position": self.at(snippet, offset)}

    def marked(self, span: dict, text: str | None = None) -> str:
        """The text of a range of one line."""
        line = (self.text if text is None else text).split("\n")[span["start"]["line"]]
        columns = {self.client.character(line, i): i for i in range(len(line) + 1)}
        assert span["start"]["line"] == span["end"]["line"]
        return line[columns[span["start"]["character"]] : columns[span["end"]["character"]]]

    def change(self, old: str, new: str) -> None:
        """An incremental edit."""
        start, end = self.at(old), self.at(old, len(old))
        self.text = self.text.replace(old, new, 1)
        self.version += 1
        self.client.tell(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [{"range": {"start": start, "end": end}, "text": new}],
            },
        )

    async def document(self, stage: str, **more) -> dict:
        params = {"textDocument": {"uri": self.uri}, "kernel": "copy", "stage": stage, **more}
        return await self.client.ask("tile/document", params)

    async def inferred(self) -> dict:
        """Types of the present text."""
        return await self.document("types")

    async def hover(self, snippet: str, offset: int = 0) -> str | None:
        found = await self.client.ask("textDocument/hover", self.here(snippet, offset))
        return found["contents"]["value"] if found else None

    async def command(self, name: str, **view):
        view = {"uri": self.uri, "kernel": "copy", **view}
        return await self.client.ask("workspace/executeCommand", {"command": name, "arguments": [view]})


@pytest.fixture
def workspace(tmp_path, cache):
    @asynccontextmanager
    async def open_workspace(editor="vscode", text=KERNEL, *, encodings=None, trusted=True, server=SERVER, **options):
        folder = tmp_path / "wörk space"
        folder.mkdir(exist_ok=True)
        async with running(editor, tmp_path, encodings=encodings, server=server) as client:
            client.settings = {"python": sys.executable, "cache": {"directory": str(cache)}}
            if "configuration" not in client.capabilities["workspace"] or editor == "ale":
                options["settings"] = client.settings
            await client.initialize(folder, trusted=trusted, **options)
            workspace = Workspace(client, folder, text)
            client.open(workspace.uri, text)
            yield workspace
            await client.close()

    return open_workspace


@pytest.mark.parametrize(
    ("editor", "encodings"),
    [
        ("vscode", None),
        ("nvim", None),
        ("eglot", None),
        ("ale", None),
        ("vscode", ["utf-8"]),
        ("vscode", ["utf-32"]),
    ],
)
async def test_hover_after_wide_characters(editor, encodings, workspace):
    async with workspace(editor, encodings=encodings) as ws:
        await ws.inferred()
        found = await ws.client.ask("textDocument/hover", ws.here("tile ="))
        assert ws.marked(found["range"]) == "tile"
        value = found["contents"]["value"]
        if editor == "ale":
            assert found["contents"]["kind"] == "plaintext"
            assert value.startswith("tile: Tile[float32,(256)]\n\n")
        else:
            assert value.startswith("```python\ntile: Tile[float32,(256)]\n```\n\n")
        assert "`copy` for sm_90".replace("`", "" if editor == "ale" else "`") in value
        assert await ws.hover("😋") is None


async def test_hover_in_a_helper_of_another_file(workspace):
    async with workspace() as ws:
        helpers = (ws.folder / "helpers.py").as_uri()
        ws.client.open(helpers, HELPERS)
        await ws.inferred()
        at = {"textDocument": {"uri": helpers}, "position": {"line": 1, "character": 6}}
        value = (await ws.client.ask("textDocument/hover", at))["contents"]["value"]
        assert value.startswith("```python\ndoubled: Tile[float32,(256)]")
        assert f"{ws.path.name}:9" in value


async def test_an_unsaved_edit_changes_types_and_a_broken_one_keeps_them(workspace):
    async with workspace() as ws:
        await ws.inferred()
        ws.change("shape=(n,))", "shape=(2 * n,))")
        await ws.inferred()
        assert "Tile[float32,(512)]" in await ws.hover("result =")
        ws.change("result = scale(tile)", "result = scale(tile")
        await ws.inferred()
        assert "Tile[float32,(512)]" in await ws.hover("tile =")
        assert "stale" in await ws.hover("tile =")


async def test_an_unrelated_edit_runs_nothing_and_moves_the_answers(workspace):
    async with workspace() as ws:
        shown = await ws.document("sass")
        before = await ws.client.ask("tile/stats")
        ws.change("\n\n\n", "\n\n\n# a comment\n# and another\n\n")
        moved = await ws.document("sass")
        after = await ws.client.ask("tile/stats")
        assert {name: after[name] for name in ("inferences", "codegens", "tools")} == {
            name: before[name] for name in ("inferences", "codegens", "tools")
        }
        name = ws.path.name
        assert f"{name}:8: " in shown["text"]
        assert moved["text"] == re.sub(rf"(?<={re.escape(name)}:)\d+", lambda n: str(int(n[0]) + 3), shown["text"])
        assert "Tile[float32,(256)]" in await ws.hover("tile =")


async def test_inlay_hints_and_their_tooltips(workspace):
    async with workspace("nvim") as ws:
        await ws.inferred()
        span = {"start": {"line": 0, "character": 0}, "end": {"line": 20, "character": 0}}
        hints = await ws.client.ask("textDocument/inlayHint", {"textDocument": {"uri": ws.uri}, "range": span})
        assert [(hint["position"], hint["label"]) for hint in hints if hint.get("kind") == 1] == [
            (ws.at("tile =", 4), ": Tile[float32,(256)]"),
            (ws.at("result =", 6), ": Tile[float32,(256)]"),
        ]
        resolved = await ws.client.ask("inlayHint/resolve", hints[0])
        assert resolved["tooltip"] == "Tile[float32,(256)]: copy"
        await ws.client.until("workspace/inlayHint/refresh")


async def test_code_lenses_open_views(workspace):
    async with workspace(server=UNASKED_NOTHING) as ws:
        await ws.inferred()
        lenses = await ws.client.ask("textDocument/codeLens", {"textDocument": {"uri": ws.uri}})
        assert all("command" not in lens for lens in lenses), "titles are made when a lens is seen"
        assert {ws.marked(lens["range"]) for lens in lenses} == {"copy"}
        commands = [(await ws.client.ask("codeLens/resolve", lens))["command"] for lens in lenses]
        assert [command["title"] for command in commands][:-1] == ["Types", "Typed IR", "Tile IR", "PTX", "SASS"]
        assert commands[-1]["title"].startswith("sm_90")
        assert (await ws.client.ask("tile/stats"))["codegens"] == 0, "a lens never compiles anything"
        sass = commands[4]
        await ws.client.ask("workspace/executeCommand", {k: sass[k] for k in ("command", "arguments")})
        assert "SASS of copy" in await content(ws, (await ws.client.until("window/showDocument"))["uri"])


async def content(ws, uri: str) -> str:
    return (await ws.client.ask("workspace/textDocumentContent", {"uri": uri}))["text"]


async def test_code_actions_by_kind(workspace):
    async with workspace(text=KERNEL.replace("x=f32[1024] ", "")) as ws:
        await ws.inferred()
        line = {"start": ws.at("def copy"), "end": ws.at("def copy")}

        async def actions(**context):
            context = {"diagnostics": [], **context}
            params = {"textDocument": {"uri": ws.uri}, "range": line, "context": context}
            return {action["kind"]: action for action in await ws.client.ask("textDocument/codeAction", params)}

        every = await actions()
        stages = ["types", "hir", "typed", "tileir", "ptx", "sass", "resources", "remarks"]
        assert list(every)[: len(stages)] == [f"source.tile.{stage}" for stage in stages]
        assert set(await actions(only=["source.tile.sass"])) == {"source.tile.sass"}
        assert set(await actions(only=["source"])) == set(every)
        assert not await actions(only=["refactor"])
        sass = every["source.tile.sass"]["command"]
        assert sass["arguments"] == [{"uri": ws.uri, "kernel": "copy", "stage": "sass"}]

        (edit,) = every["source.tile.pin"]["edit"]["changes"][ws.uri]
        assert edit["range"]["start"] == edit["range"]["end"] == ws.at(" target=sm_90", len(" target=sm_90"))
        assert edit["newText"].startswith(" x=f")


async def test_actions_and_jobs_are_there_right_after_a_file_is_opened(workspace):
    async with workspace() as ws:
        jobs = await ws.client.ask("tile/jobs", {"textDocument": {"uri": ws.uri}})
        assert [kernel["name"] for kernel in jobs["kernels"]] == ["copy"]
        ws.change("def copy", "def duplicate")
        here = ws.here("tile =")["position"]
        params = {
            "textDocument": {"uri": ws.uri},
            "range": {"start": here, "end": here},
            "context": {"diagnostics": []},
        }
        actions = await ws.client.ask("textDocument/codeAction", params)
        assert any(action["kind"] == "source.tile.sass" and "duplicate" in str(action) for action in actions)


async def test_show_opens_a_document_that_follows_the_kernel(workspace):
    async with workspace() as ws:
        result = await ws.command("tile.show", stage="ptx")
        opened = await ws.client.until("window/showDocument")
        assert opened["uri"] == result["uri"]
        assert result["uri"].startswith("tile:/ptx/copy.ptx?")
        text = await content(ws, result["uri"])
        assert ".entry copy" in text
        begun = await ws.client.until("$/progress", lambda p: p["value"]["kind"] == "begin")
        await ws.client.until("$/progress", lambda p: p["value"]["kind"] == "end" and p["token"] == begun["token"])

        ws.change("scale(tile)", "scale(tile) + 1.0")
        refreshed = await ws.client.until("workspace/textDocumentContent/refresh")
        assert refreshed["uri"] == result["uri"]
        newer = await content(ws, result["uri"])
        assert newer != text
        assert "add" in newer


@pytest.mark.parametrize("editor", ["nvim", "eglot"])
async def test_show_writes_a_file_for_editors_without_content(editor, workspace):
    async with workspace(editor) as ws:
        result = await ws.command("tile.show", stage="typed")
        assert result["uri"].startswith("file:")
        if editor == "nvim":
            assert (await ws.client.until("window/showDocument"))["uri"] == result["uri"]
        else:
            said = await ws.client.until("window/showMessage")
            assert result["uri"].rpartition("/")[2] in said["message"]
        path = Path(result["uri"].removeprefix("file://"))
        text = path.read_text()
        assert "Typed IR of copy" in text
        assert not path.stat().st_mode & 0o222, "what is typed there would be lost"

        row = next(i for i, line in enumerate(text.split("\n")) if "tile_load" in line or "load" in line.lower())
        at = {"textDocument": {"uri": result["uri"]}, "position": {"line": row, "character": 2}}
        assert "ct.load" in (await ws.client.ask("textDocument/hover", at))["contents"]["value"]

        ws.change("scale(tile)", "scale(tile) + 1.0")
        while path.read_text() == text:
            await asyncio.wait_for(ws.inferred(), PATIENCE)
        again = await ws.command("tile.show", stage="typed")
        assert again == result, "the name is stable"
        await ws.client.until("window/showMessage" if editor == "eglot" else "window/showDocument")


async def test_links_between_a_listing_and_the_source(workspace):
    async with workspace() as ws:
        uri = (await ws.command("tile.show", stage="sass"))["uri"]
        rows = (await content(ws, uri)).split("\n")
        store = next(i for i, row in enumerate(rows) if "STG" in row or "UTMASTG" in row)
        at = {"textDocument": {"uri": uri}, "position": {"line": store, "character": 9}}
        (definition, *_) = await ws.client.ask("textDocument/definition", at)
        assert definition["uri"] == ws.uri
        assert definition["range"]["start"]["line"] == ws.at("ct.store")["line"]
        assert "ct.store" in (await ws.client.ask("textDocument/hover", at))["contents"]["value"]
        highlights = await ws.client.ask("textDocument/documentHighlight", at)
        assert store in [highlight["range"]["start"]["line"] for highlight in highlights]

        back = {**ws.here("ct.store"), "context": {"includeDeclaration": True}}
        references = await ws.client.ask("textDocument/references", back)
        assert (uri, store) in [(found["uri"], found["range"]["start"]["line"]) for found in references]
        assert await ws.client.ask("textDocument/implementation", ws.here("ct.store")) == references
        assert not await ws.client.ask("textDocument/definition", ws.here("ct.store")), "that is Python's to say"

        document = {"textDocument": {"uri": uri}}
        symbols = await ws.client.ask("textDocument/documentSymbol", document)
        assert [symbol["name"] for symbol in symbols] == ["copy"]
        folds = await ws.client.ask("textDocument/foldingRange", document)
        assert folds[0] == {"startLine": 0, "endLine": 1, "kind": "comment"}
        tokens = (await ws.client.ask("textDocument/semanticTokens/full", document))["data"]
        legend = ws.client.server["semanticTokensProvider"]["legend"]["tokenTypes"]
        found = list(decode(tokens, legend, rows, ws.client))
        assert ("variable", "R1") in found
        assert any(kind == "function" and text.startswith("STG") for kind, text in found) or ("UTMASTG" in str(found))
        assert not await ws.client.ask("textDocument/documentSymbol", {"textDocument": {"uri": ws.uri}})


def decode(data, legend, rows, client):
    line = start = 0
    for i in range(0, len(data), 5):
        line, start = line + data[i], data[i + 1] + (0 if data[i] else start)
        row = rows[line]
        columns = {client.character(row, n): n for n in range(len(row) + 1)}
        yield legend[data[i + 3]], row[columns[start] : columns[start + data[i + 2]]]


BROKEN = KERNEL.replace("scale(tile)", "scale(tile) + ct.nothing")


async def test_diagnostics_are_pushed(workspace):
    async with workspace("eglot", BROKEN) as ws:
        published = await ws.client.until(
            "textDocument/publishDiagnostics", lambda p: p["uri"] == ws.uri and p["diagnostics"]
        )
        (diagnostic,) = published["diagnostics"]
        assert ws.marked(diagnostic["range"]) == "ct.nothing"
        assert diagnostic["severity"] == 1
        assert diagnostic["source"] == "tile-lsp"
        ws.change(" + ct.nothing", "")
        await ws.client.until("textDocument/publishDiagnostics", lambda p: p["uri"] == ws.uri and not p["diagnostics"])


async def test_diagnostics_are_pulled(workspace):
    async with workspace("vscode", BROKEN) as ws:
        await ws.inferred()
        await ws.client.until("workspace/diagnostic/refresh")
        params = {"textDocument": {"uri": ws.uri}, "identifier": "tile-lsp"}
        report = await ws.client.ask("textDocument/diagnostic", params)
        (diagnostic,) = report["items"]
        assert ws.marked(diagnostic["range"]) == "ct.nothing"
        again = await ws.client.ask("textDocument/diagnostic", {**params, "previousResultId": report["resultId"]})
        assert again == {"kind": "unchanged", "resultId": report["resultId"]}
        assert not any(method == "textDocument/publishDiagnostics" for method, _ in ws.client.received)


async def test_an_error_in_a_helper_is_shown_in_the_helper_with_its_caller(workspace):
    async with workspace("ale") as ws:
        helpers = (ws.folder / "helpers.py").as_uri()
        ws.client.open(helpers, HELPERS.replace("t * 2", "t.nothing"))
        published = await ws.client.until(
            "textDocument/publishDiagnostics", lambda p: p["uri"] == helpers and p["diagnostics"]
        )
        (diagnostic,) = published["diagnostics"]
        assert diagnostic["range"]["start"]["line"] == 1
        (related,) = diagnostic["relatedInformation"]
        assert related["location"]["uri"] == ws.uri
        assert ws.marked(related["location"]["range"]) == "scale(tile)"


async def test_a_file_changed_on_disk_counts_for_a_client_without_file_events(workspace):
    async with workspace("nvim") as ws:
        await ws.inferred()
        helpers = ws.folder / "helpers.py"
        helpers.write_text(HELPERS.replace("t * 2", "t.nothing"))
        await ws.client.until(
            "textDocument/publishDiagnostics", lambda p: p["uri"] == helpers.as_uri() and p["diagnostics"]
        )
        helpers.write_text(HELPERS)
        await ws.client.until(
            "textDocument/publishDiagnostics", lambda p: p["uri"] == helpers.as_uri() and not p["diagnostics"]
        )


WATCHES_LATE = """
import asyncio, os
from tile_lsp.engine.watching import Watcher
start = Watcher.start
async def late(self):
    while not os.path.exists(os.path.join(self._roots[0], "watch")):
        await asyncio.sleep(0.01)
    await start(self)
Watcher.start = late
"""


async def test_what_changed_before_files_were_watched_counts_too(workspace):
    async with workspace("nvim", server=server_after(WATCHES_LATE)) as ws:
        await ws.inferred()
        helpers = ws.folder / "helpers.py"
        helpers.write_text(HELPERS.replace("t * 2", "t.nothing"))
        (ws.folder / "watch").touch()
        await ws.client.until(
            "textDocument/publishDiagnostics", lambda p: p["uri"] == helpers.as_uri() and p["diagnostics"]
        )


DATA = KERNEL.replace("from helpers", "from pathlib import Path\nfrom helpers").replace(
    "\n\n# tile-lsp", "N = int((Path(__file__).parent.parent / 'data[1].txt').read_text())\n\n\n# tile-lsp"
).replace("shape=(n,)", "shape=(N,)")  # fmt: skip


def data_watchers(params: dict) -> list:
    """The patterns of a registration that is for data."""
    return [
        watcher["globPattern"]
        for registration in params["registrations"]
        if "data" in registration["id"]
        for watcher in registration["registerOptions"]["watchers"]
    ]


@pytest.mark.parametrize("editor", ["vscode", "eglot"])
async def test_data_that_a_kernel_reads_is_registered_with_the_client(workspace, tmp_path, editor):
    data = tmp_path / "data[1].txt"
    data.write_text("128")
    async with workspace(editor, DATA) as ws:
        registered = await ws.client.until("client/registerCapability", data_watchers)
        relative = {"baseUri": tmp_path.as_uri(), "pattern": "data?1?.txt"}
        assert data_watchers(registered) == [relative if editor == "vscode" else f"{tmp_path}/data?1?.txt"]
        await ws.inferred()
        assert "(128)" in await ws.hover("tile = ")
        data.write_text("64")
        ws.client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": data.as_uri(), "type": 2}]})
        await ws.inferred()
        assert "(64)" in await ws.hover("tile = ")
        ws.change("shape=(N,)", "shape=(n,)")
        unregistered = await ws.client.until("client/unregisterCapability")
        assert [one["id"] for one in unregistered["unregisterations"]] == ["tile-lsp.data.1"]
        again = [params for method, params in ws.client.received if method == "client/registerCapability"]
        assert not any(map(data_watchers, again))


async def test_data_that_a_kernel_reads_is_followed_for_a_client_without_file_events(workspace, tmp_path):
    data = tmp_path / "data[1].txt"
    data.write_text("128")
    async with workspace("nvim", DATA) as ws:
        await ws.inferred()
        data.write_text("100")  # no power of two
        await ws.client.until("textDocument/publishDiagnostics", lambda p: p["uri"] == ws.uri and p["diagnostics"])
        data.write_text("64")
        await ws.client.until("textDocument/publishDiagnostics", lambda p: p["uri"] == ws.uri and not p["diagnostics"])
        assert "(64)" in await ws.hover("tile = ")


async def test_a_word_of_a_comment_that_is_wrong(workspace):
    async with workspace("eglot", KERNEL.replace("n=256", "n=256 typo=3")) as ws:
        published = await ws.client.until(
            "textDocument/publishDiagnostics", lambda p: p["uri"] == ws.uri and p["diagnostics"]
        )
        assert ws.marked(published["diagnostics"][0]["range"]) == "typo"


TWO_JOBS = KERNEL.replace("@ct.kernel", "# tile-lsp: x=f16[512] out=f16[512] n=128 target=sm_100\n@ct.kernel")


async def test_the_selected_job_is_followed_and_a_pinned_view_is_not(workspace):
    async with workspace(text=TWO_JOBS, status=True) as ws:
        await ws.inferred()
        (kernel,) = (await ws.client.ask("tile/jobs", {"textDocument": {"uri": ws.uri}}))["kernels"]
        assert [(job["target"], job["active"]) for job in kernel["jobs"]] == [("sm_90", True), ("sm_100", False)]
        arguments = [(a["name"], a["spec"], a["origin"]) for a in kernel["jobs"][1]["arguments"]]
        assert ("x", "f16[512]", "comment") in arguments
        follows = (await ws.command("tile.show", stage="typed"))["uri"]
        pinned = (await ws.command("tile.pin", stage="typed"))["uri"]
        assert follows == kernel["documents"]["typed"]
        assert pinned == kernel["jobs"][0]["documents"]["typed"]
        assert "float32" in await content(ws, follows)

        selected = await ws.client.ask(
            "tile/selectJob", {"textDocument": {"uri": ws.uri}, "kernel": "copy", "index": 1}
        )
        assert [job["active"] for job in selected["kernel"]["jobs"]] == [False, True]
        await ws.client.until("workspace/textDocumentContent/refresh", lambda p: p["uri"] == follows)
        assert "float16" in await content(ws, follows)
        assert "float32" in await content(ws, pinned)
        assert "float16" in await ws.hover("tile =")
        document = await ws.client.ask("tile/document", {"uri": pinned})
        assert document["pinned"]
        assert document["job"] == kernel["jobs"][0]["token"]
        assert document["source"] == ws.uri
        changed = await ws.client.until("tile/kernelsChanged")
        assert changed == {"uri": ws.uri}
        assert (await ws.client.until("tile/statusChanged"))["trusted"] is True


async def test_the_user_picks_a_job_where_the_client_can_ask(workspace):
    async with workspace(text=TWO_JOBS) as ws:
        await ws.inferred()
        ws.client.answers["window/showMessageRequest"] = lambda params: params["actions"][1]
        assert (await ws.command("tile.selectJob")) == {"index": 1}
        assert "float16" in await ws.hover("tile =")
        ws.client.answers["window/showMessageRequest"] = lambda params: None
        assert (await ws.command("tile.selectJob")) == {"index": None}
        with pytest.raises(RpcError, match="no job 7"):
            await ws.command("tile.selectJob", index=7)


async def test_the_command_line_of_a_view(workspace):
    async with workspace("nvim") as ws:
        await ws.inferred()
        text = (await ws.command("tile.copyCommandLine", stage="sass"))["text"]
        assert text.startswith("tile-lsp show sass '")
        assert text.endswith("::copy' --arg 'x=f32[1024]' --arg 'out=f32[1024]' --arg n=256 --target sm_90")
        assert (await ws.client.until("window/showMessage"))["message"] == text


@pytest.mark.parametrize("editor", ["nvim", "eglot"])
async def test_the_settings_are_opened_where_they_are_written(editor, workspace):
    async with workspace(editor) as ws:
        assert (await ws.command("tile.openSettings"))["uri"].endswith("/tile-lsp.toml")
        said = await ws.client.until("window/showMessage", lambda p: "No settings yet" in p["message"])
        assert str(ws.folder / "tile-lsp.toml") in said["message"]
        settings = ws.folder / "pyproject.toml"
        settings.write_text("[project]\nname = 'x'\n\n[tool.tile-lsp]\ntargets = ['sm_90']\n")
        assert (await ws.command("tile.openSettings"))["uri"] == settings.as_uri()
        if editor == "nvim":
            shown = await ws.client.until("window/showDocument")
            assert shown["uri"] == settings.as_uri()
            assert shown["selection"]["start"]["line"] == 3
        else:
            said = await ws.client.until("window/showMessage", lambda p: "pyproject" in p["message"])
            assert "line 4" in said["message"]


async def test_nothing_is_executed_in_a_workspace_that_is_not_trusted(workspace):
    async with workspace("eglot", trusted=False) as ws:
        published = await ws.client.until(
            "textDocument/publishDiagnostics", lambda p: p["uri"] == ws.uri and p["diagnostics"]
        )
        assert ws.marked(published["diagnostics"][0]["range"]) == "copy"
        assert "trust" in published["diagnostics"][0]["message"]
        stats = await ws.client.ask("tile/stats")
        assert (stats["inferences"], stats["loads"]) == (0, 0)
        assert "kernel copy" in await ws.hover("copy(")


#: Whoever asks for something of this kernel waits.
ENDLESS = KERNEL.replace("\n\n\n", "\nimport time\nN = time.sleep(3600) or 256\n\n\n").replace(
    "shape=(n,)", "shape=(N,)"
)


async def test_a_request_and_a_command_can_be_cancelled(workspace):
    async with workspace(text=ENDLESS) as ws:
        for method, params in [
            ("tile/document", {"textDocument": {"uri": ws.uri}, "kernel": "copy", "stage": "sass"}),
            (
                "workspace/executeCommand",
                {"command": "tile.show", "arguments": [{"uri": ws.uri, "kernel": "copy", "stage": "sass"}]},
            ),
        ]:
            future = ws.client.send(method, params)
            ws.client.tell("$/cancelRequest", {"id": future.request_id})
            with pytest.raises(RpcError) as error:
                await asyncio.wait_for(future, PATIENCE)
            assert error.value.code == -32800
        assert not any(method == "window/showDocument" for method, _ in ws.client.received)
        ws.change("time.sleep(3600)", "0")
        assert "SASS of copy" in (await ws.document("sass"))["text"]


async def test_progress_can_be_cancelled(workspace):
    async with workspace(text=ENDLESS) as ws:
        held = []
        future = ws.client.send(
            "workspace/executeCommand",
            {
                "command": "tile.show",
                "arguments": [{"uri": ws.uri, "kernel": "copy", "stage": "sass"}],
                "workDoneToken": "mine",
            },
        )
        held.append(await ws.client.until("$/progress", lambda p: p["token"] == "mine"))
        assert held[0]["value"]["cancellable"] is True
        ws.client.tell("window/workDoneProgress/cancel", {"token": "mine"})
        with pytest.raises(RpcError) as error:
            await asyncio.wait_for(future, PATIENCE)
        assert error.value.code == -32800
        await ws.client.until("$/progress", lambda p: p["token"] == "mine" and p["value"]["kind"] == "end")


async def test_an_interpreter_that_hangs_is_said_to_be_waited_for_until_somebody_has_enough(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 1000\n")
    python.chmod(0o755)
    async with running("vscode", tmp_path) as client:
        client.settings = {"python": str(python), "cache": {"enabled": False}}
        await client.initialize(tmp_path, trusted=True, status=True)
        uri = (tmp_path / "kernel.py").as_uri()
        client.open(uri, KERNEL)
        title = f"tile-lsp: Waiting for {python} to start"
        begun = await client.until("$/progress", lambda p: p["value"].get("title") == title)
        assert begun["value"]["cancellable"]
        await client.until("tile/statusChanged", lambda p: p["title"] == f"waiting for {python} to start")
        client.tell("window/workDoneProgress/cancel", {"token": begun["token"]})
        said = await client.until("tile/statusChanged", lambda p: p["problems"])
        assert f"{python} did not start while somebody waited for it" in said["problems"][0]
        assert said["title"] == ""
        await client.close()


async def test_no_compiler_and_no_user_module_is_loaded_by_the_server(workspace):
    async with workspace("nvim") as ws:
        await ws.inferred()
        assert "Tile[" in await ws.hover("tile =")
        maps = Path(f"/proc/{ws.client.process.pid}/maps")
        if not maps.exists():
            pytest.skip("needs /proc")
        assert "cuda/tile" not in maps.read_text()


async def test_its_workers_end_with_it(workspace):
    async with workspace() as ws:
        await ws.inferred()
        pid = ws.client.process.pid
        workers = psutil.Process(pid).children(recursive=True)
        assert workers
    assert not await asyncio.to_thread(outlive, workers)


async def test_wrong_settings_are_reported_where_they_are_written(workspace, tmp_path):
    folder = tmp_path / "wörk space"
    folder.mkdir()
    (folder / "tile-lsp.toml").write_text('targets = ["sm_90"]\ncode-lens = 3\n')
    async with workspace("nvim") as ws:
        published = await ws.client.until("textDocument/publishDiagnostics", lambda p: "toml" in p["uri"])
        assert published["uri"] == (folder / "tile-lsp.toml").as_uri()
        (diagnostic,) = published["diagnostics"]
        assert diagnostic["range"]["start"] == {"line": 1, "character": 0}
        assert "code-lens" in diagnostic["message"]


@pytest.mark.parametrize("editor", ["vscode", "nvim"])
async def test_an_argument_that_is_wrong_in_a_settings_file_is_marked_there_and_at_the_kernel(
    workspace, tmp_path, editor
):
    folder = tmp_path / "wörk space"
    folder.mkdir()
    (folder / "tile-lsp.toml").write_text('[kernels."co*".arguments]\nx = "f33[4]"\n')
    toml = (folder / "tile-lsp.toml").as_uri()
    async with workspace(editor, KERNEL.replace("x=f32[1024] ", "")) as ws:
        published = await ws.client.until("textDocument/publishDiagnostics", lambda p: p["uri"] == toml)
        (there,) = published["diagnostics"]
        assert there["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
        assert there["message"].startswith("`f33` is not a dtype")
        if editor == "vscode":
            report = await ws.client.ask("textDocument/diagnostic", {"textDocument": {"uri": ws.uri}})
            (here,) = report["items"]
            assert [one["location"]["uri"] for one in (*there["relatedInformation"], *here["relatedInformation"])] == [
                ws.uri,
                toml,
            ]
        else:
            published = await ws.client.until("textDocument/publishDiagnostics", lambda p: p["uri"] == ws.uri)
            (here,) = published["diagnostics"]
        assert ws.marked(here["range"]) == "copy"
        assert here["message"].startswith('tile-lsp.toml, kernels."co*".arguments.x: `f33` is not a dtype')
        (folder / "tile-lsp.toml").write_text('[kernels."co*".arguments]\nx = "f32[4]"\n')
        ws.client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": toml, "type": 2}]})
        await ws.client.until("textDocument/publishDiagnostics", lambda p: p["uri"] == toml and not p["diagnostics"])


async def test_changed_settings_count_at_once(workspace):
    async with workspace("vscode", KERNEL.replace(" target=sm_90", "")) as ws:
        await ws.inferred()
        (kernel,) = (await ws.client.ask("tile/jobs"))["kernels"]
        assert kernel["jobs"][0]["target"] is None
        ws.client.settings = {**ws.client.settings, "targets": ["sm_80", "sm_120"]}
        ws.client.tell("workspace/didChangeConfiguration", {"settings": None})
        await ws.client.until("workspace/configuration")
        await ws.client.until("workspace/configuration")
        await ws.inferred()
        (kernel,) = (await ws.client.ask("tile/jobs"))["kernels"]
        assert [job["target"] for job in kernel["jobs"]] == ["sm_80", "sm_120"]


@pytest.mark.parametrize(
    ("editor", "file", "expected"),
    [({}, "", "/c"), ({}, "python = '/b'", "/b"), ({"python": "/a"}, "python = '/b'", "/a")],
)
def test_the_interpreter_that_the_editor_selected_is_for_where_no_setting_names_one(tmp_path, editor, file, expected):
    (tmp_path / "tile-lsp.toml").write_text(file)
    settings, in_file, in_editor = session_settings((str(tmp_path),), {**editor, "selectedInterpreter": "/c"})
    assert (settings.python, in_file, in_editor) == (expected, (), ())


async def test_the_users_settings_may_withdraw_trust(workspace):
    async with workspace("vscode") as ws:
        await ws.inferred()
        ws.client.settings = {**ws.client.settings, "trust": "never"}
        ws.client.tell("workspace/didChangeConfiguration", {"settings": None})
        await ws.client.until("workspace/configuration")
        await ws.client.until("workspace/configuration")
        assert "trust" in (await ws.document("sass"))["text"]
        assert (await ws.client.ask("tile/status"))["trusted"] is False
