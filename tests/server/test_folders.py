"""Several folders in one workspace: each has settings, an interpreter and modules of its own."""

from __future__ import annotations

import asyncio
import sys
import venv
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.patience import PATIENCE

from .rpc import SERVER, Client, running, server_after

KERNEL = """\
import cuda.tile as ct
from helpers import scale


# tile-lsp: x=f32[1024] out=f32[1024]
@ct.kernel
def copy(x, out):
    tile = ct.load(x, index=(ct.bid(0),), shape=({size},))
    result = scale(tile)
    ct.store(out, index=(ct.bid(0),), tile=result)
"""
HELPERS = """\
def scale(t):
    return t * {factor}
"""
HALVES = """\
import cuda.tile as ct


def scale(t):
    return ct.astype(t, ct.float16)
"""


class Folder:
    """A folder whose kernel and helper have the names that every other folder's have."""

    def __init__(self, at: Path, size: int, settings: dict[str, Any]) -> None:
        self.at = at
        self.settings = settings
        self.uri = at.as_uri()
        self.helpers = at / "helpers.py"
        self.kernel = at / "ops" / "copy.py"  # so that helpers are found from the folder, not from beside it
        self.kernel.parent.mkdir(parents=True)
        self.helpers.write_text(HELPERS.format(factor=size))
        self.kernel.write_text(KERNEL.format(size=size))

    @property
    def named(self) -> dict[str, str]:
        return {"uri": self.uri, "name": self.at.name}

    def open(self, client: Client) -> None:
        client.open(self.kernel.as_uri(), self.kernel.read_text())

    async def document(self, client: Client, stage: str) -> dict[str, Any]:
        params = {"textDocument": {"uri": self.kernel.as_uri()}, "kernel": "copy", "stage": stage}
        return await client.ask("tile/document", params)

    async def seen(self, client: Client) -> tuple[str, list[str | None]]:
        """What a hover over `result` says of it, in short, and the targets of the kernel."""
        await self.document(client, "types")
        here = {"textDocument": {"uri": self.kernel.as_uri()}}
        found = await client.ask("textDocument/hover", {**here, "position": {"line": 8, "character": 5}})
        (kernel,) = (await client.ask("tile/jobs", here))["kernels"]
        text = found["contents"]["value"] if found else "; ".join(kernel["problems"])
        return text, [job["target"] for job in kernel["jobs"]]


@pytest.fixture
def folders(tmp_path, cache):
    """Two folders, and a client that has only the first of them in its workspace, or both."""
    both = {"python": sys.executable, "cache": {"directory": str(cache)}}
    one = Folder(tmp_path / "one", 128, {**both, "targets": ["sm_90"]})
    two = Folder(tmp_path / "two", 256, {**both, "targets": ["sm_100", "sm_120"], "codeLens": False})

    @asynccontextmanager
    async def started(*roots: Folder, editor: str = "vscode", server: list[str] = SERVER, settings: Any = None):
        async with running(editor, tmp_path, server=server) as client:
            configure(client, one, two, otherwise={**both, "targets": ["sm_80"]})
            if settings is not None:
                client.answers["workspace/configuration"] = lambda params: settings
            await client.initialize(None, folders=[root.named for root in roots])
            yield client
            await client.close()

    return one, two, started


def configure(client: Client, *folders: Folder, otherwise: dict[str, Any]) -> None:
    """Settings by folder, as an editor with settings of the resource's scope has them."""

    def answer(item: dict[str, Any]) -> dict[str, Any]:
        path = unquote(urlsplit(item.get("scopeUri") or "").path)
        return next((folder.settings for folder in folders if path.startswith(str(folder.at))), otherwise)

    client.answers["workspace/configuration"] = lambda params: [answer(item) for item in params["items"]]


def change(client: Client, added: tuple[Folder, ...] = (), removed: tuple[Folder, ...] = ()) -> None:
    event = {"added": [folder.named for folder in added], "removed": [folder.named for folder in removed]}
    client.tell("workspace/didChangeWorkspaceFolders", {"event": event})


async def test_settings_and_modules_are_those_of_the_files_own_folder(folders):
    one, two, started = folders
    async with started(one, two) as client:
        one.open(client)
        two.open(client)
        text, targets = await one.seen(client)
        assert ("Tile[float32,(128)]" in text, targets) == (True, ["sm_90"])
        text, targets = await two.seen(client)
        assert ("Tile[float32,(256)]" in text, targets) == (True, ["sm_100", "sm_120"])
        assert "sm_90" in (await one.document(client, "sass"))["text"].split("\n")[0]
        assert "sm_100" in (await two.document(client, "sass"))["text"].split("\n")[0]
        for folder, other in ((one, two), (two, one)):
            typed = (await folder.document(client, "typed"))["text"]
            assert str(folder.kernel.name) in typed
            lenses = await client.ask("textDocument/codeLens", {"textDocument": {"uri": folder.kernel.as_uri()}})
            assert bool(lenses) is folder.settings.get("codeLens", True), other
        assert {kernel["uri"] for kernel in (await client.ask("tile/jobs"))["kernels"]} == {
            one.kernel.as_uri(),
            two.kernel.as_uri(),
        }


async def test_an_interpreter_without_the_compiler_is_told_of_its_own_folder_alone(folders):
    one, two, started = folders
    venv.create(two.at / ".venv")
    two.settings["python"] = ".venv/bin/python"
    async with started(one, two) as client:
        one.open(client)
        two.open(client)
        text, _ = await one.seen(client)
        assert "Tile[float32,(128)]" in text
        text, targets = await two.seen(client)
        assert str(two.at / ".venv") in text
        assert targets == []


async def test_a_folder_that_comes_has_its_settings_and_one_that_goes_is_forgotten(folders):
    one, two, started = folders
    async with started(one) as client:
        one.open(client)
        await one.seen(client)
        change(client, added=(two,))
        two.open(client)
        text, targets = await two.seen(client)
        assert ("Tile[float32,(256)]" in text, targets) == (True, ["sm_100", "sm_120"])
        selection = {"textDocument": {"uri": two.kernel.as_uri()}, "kernel": "copy", "index": 1}
        await client.ask("tile/selectJob", selection)
        change(client, removed=(one,))
        text, _ = await two.seen(client)
        assert "for sm_120" in text, "the folder that stays is where it was"
        change(client, removed=(two,))
        change(client, added=(one,))
        text, targets = await one.seen(client)
        assert ("Tile[float32,(128)]" in text, targets) == (True, ["sm_90"])


async def test_without_a_folder_left_the_open_files_stay(folders):
    one, two, started = folders
    async with started(one) as client:
        one.open(client)
        await one.seen(client)
        change(client, removed=(one,))
        text, _ = await one.seen(client)
        assert "helpers" in text, "there is no folder any more that its import could be found from"
        change(client, added=(two, one))
        text, targets = await one.seen(client)
        assert ("Tile[float32,(128)]" in text, targets) == (True, ["sm_90"])


async def test_changed_settings_of_one_folder_leave_the_others_alone(folders):
    one, two, started = folders
    async with started(one, two) as client:
        one.open(client)
        two.open(client)
        await one.seen(client)
        await two.seen(client)
        selection = {"textDocument": {"uri": two.kernel.as_uri()}, "kernel": "copy", "index": 1}
        await client.ask("tile/selectJob", selection)
        one.settings = {**one.settings, "targets": ["sm_86"]}
        client.tell("workspace/didChangeConfiguration", {"settings": None})
        async with asyncio.timeout(PATIENCE):
            while (await one.seen(client))[1] != ["sm_86"]:
                pass
        text, _ = await two.seen(client)
        assert "for sm_120" in text, "the other folder is where it was"


async def test_settings_that_a_client_takes_long_to_say_count_once_it_does(folders):
    one, _, started = folders
    late = asyncio.get_running_loop().create_future()
    impatient = server_after("from tile_lsp.server import configuration\nconfiguration._PATIENCE = 0.0")
    async with started(one, server=impatient, settings=late) as client:
        one.open(client)
        assert (await client.ask("tile/jobs"))["kernels"], "the work begins without them"
        late.set_result([one.settings])
        async with asyncio.timeout(PATIENCE):
            while (await one.seen(client))[1] != ["sm_90"]:
                pass


async def test_unsaved_text_of_one_folder_counts_in_another_that_imports_it(folders):
    one, two, started = folders
    one.settings = {**one.settings, "extraRoots": [str(two.at)]}
    one.helpers.unlink()
    async with started(one, two) as client:
        one.open(client)
        text, _ = await one.seen(client)
        assert "Tile[float32,(128)]" in text
        client.open(two.helpers.as_uri(), HALVES)
        text, _ = await one.seen(client)
        assert "Tile[float16,(128)]" in text
        client.tell("textDocument/didClose", {"textDocument": {"uri": two.helpers.as_uri()}})
        text, _ = await one.seen(client)
        assert "Tile[float32,(128)]" in text


async def test_problems_of_settings_files_are_told_for_every_folder(folders):
    one, two, started = folders
    for folder in (one, two):
        (folder.at / "tile-lsp.toml").write_text(f'code-lens = "{folder.at.name}"\n')
    async with started(one, two, editor="nvim") as client:
        for folder in (one, two):
            uri = (folder.at / "tile-lsp.toml").as_uri()
            told = await client.until("textDocument/publishDiagnostics", lambda p, uri=uri: p["uri"] == uri)
            assert folder.at.name in told["diagnostics"][0]["message"]


async def test_an_editor_is_asked_to_say_when_settings_change(folders):
    one, _, started = folders
    async with started(one) as client:
        method = "workspace/didChangeConfiguration"
        await client.until("client/registerCapability", lambda p: p["registrations"][0]["method"] == method)
