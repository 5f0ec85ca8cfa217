"""workspace/executeCommand: the commands that lenses and code actions name, and `tile.retry`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from tile_lsp.analysis.snapshot import KernelView
from tile_lsp.engine.files import Files
from tile_lsp.engine.settings import settings_file
from tile_lsp.ide.code_actions import command_line
from tile_lsp.ide.jobs import job_label
from tile_lsp.ide.kernels import kernel_named
from tile_lsp.ide.stages import FORMATS, machine_code
from tile_lsp.model.stage import Stage
from tile_lsp.server import uris
from tile_lsp.server.lsp import types
from tile_lsp.server.protocol import convert
from tile_lsp.server.server import TileServer
from tile_lsp.server.uris import Address


class View(msgspec.Struct, frozen=True):
    """The argument of commands about one view."""

    uri: str
    """Of the source file, or of a document, which then says the rest."""
    kernel: str | None = None
    stage: Stage | None = None
    """None: machine code."""
    job: str | None = None
    """Token of the job to pin to."""
    index: int | None = None
    """Of the job, for `tile.selectJob`."""


def register(server: TileServer) -> None:
    commands = server.protocol.commands

    def command(name: str) -> Callable[[Callable[[View, Any], Coroutine[Any, Any, Any]]], None]:
        def add(handler: Callable[[View, Any], Coroutine[Any, Any, Any]]) -> None:
            async def run(params: types.ExecuteCommandParams) -> Any:
                arguments = params.arguments or ()
                if len(arguments) != 1:
                    raise JsonRpcInvalidParams(f"{name} takes one object")
                return await handler(convert(arguments[0], View), params.work_done_token)

            commands[name] = run

        return add

    @command("tile.show")
    async def show(view: View, token: Any) -> dict[str, str]:
        """Open a stage of a kernel. Result: `uri`, as it was opened."""
        return await _open(server, _address(server, view), token)

    @command("tile.pin")
    async def pin(view: View, token: Any) -> dict[str, str]:
        """Open a view that stays with the job that is active now."""
        address = _address(server, view)
        kernel = _kernel(server, address)
        if address.job is None and kernel.job is not None:
            address = msgspec.structs.replace(address, job=kernel.job.job.to_token())
        return await _open(server, address, token)

    @command("tile.selectJob")
    async def select_job(view: View, token: Any) -> dict[str, object]:
        """Make another job the active one: that of `index`, else the one that the client's user picks."""
        kernel = _kernel(server, _address(server, view))
        index = view.index if view.index is not None else await _pick(server, kernel)
        if index is not None:
            if not 0 <= index < len(kernel.jobs):
                raise JsonRpcInvalidParams(f"{kernel.name} has {len(kernel.jobs)} jobs; there is no job {index}")
            session = server.session_of(kernel.path)
            assert session is not None, "there is a kernel"
            session.select_job(kernel.path, kernel.name, index)
        return {"index": index}

    @command("tile.copyCommandLine")
    async def copy_command_line(view: View, token: Any) -> dict[str, str]:
        """The shell command that prints a view: the result's `text`, shown to clients that can't use a result."""
        address = _address(server, view)
        kernel = _kernel(server, address)
        if kernel.job is None:
            raise JsonRpcInvalidParams(f"{kernel.name} has no job")
        text = command_line(kernel.path, kernel.name, kernel.job.job, address.stage)
        _say(server, text)
        return {"text": text}

    @command("tile.openSettings")
    async def open_settings(view: View, token: Any) -> dict[str, str]:
        """Open the project's settings, for clients that have no page of their own for them. Result: `uri`."""
        document = server.documents.address(view.uri)
        path = document.path if document is not None else server.path(view.uri)
        if path is None:
            raise JsonRpcInvalidParams("settings are those of a file, or of a document")
        file = settings_file(path, server.roots, Files().read)
        uri = server.uri(file.path)
        if not file.exists:
            _say(server, f'No settings yet. Write them into {file.path}, for example: targets = ["sm_90"]')
        elif not await _shown(server, uri, server.range(file.path, file.span)):
            _say(server, f"The settings of tile-lsp are in {file.path}, line {file.span.line}")
        return {"uri": uri}

    async def retry(params: types.ExecuteCommandParams) -> None:
        """Try again what failed for the environment's sake."""
        for session in server.folders.sessions:
            session.retry()

    commands["tile.retry"] = retry


def _address(server: TileServer, view: View) -> Address:
    document = server.documents.address(view.uri)
    if document is not None:
        return document
    path = server.path(view.uri)
    if path is None or view.kernel is None:
        raise JsonRpcInvalidParams("a view is a kernel of a file, or a document")
    stage = view.stage
    if stage is None:
        kernel = kernel_named(server.snapshot, path, view.kernel)
        stage = machine_code(kernel) if kernel is not None else Stage.SASS
    if stage not in FORMATS:
        raise JsonRpcInvalidParams(f"{stage} can't be shown as text")
    return Address(path, view.kernel, stage, view.job)


def _kernel(server: TileServer, address: Address) -> KernelView:
    kernel = kernel_named(server.snapshot, address.path, address.kernel)
    if kernel is None:
        raise JsonRpcInvalidParams(f"{address.path} has no kernel {address.kernel}")
    return kernel


async def _open(server: TileServer, address: Address, token: Any) -> dict[str, str]:
    async with server.work_done.shown(f"tile-lsp: {address.name}", token):
        if server.client.content:
            await server.documents.make(address)
        else:
            await server.documents.write(address)
    uri = server.documents.uri(address)
    if not await _shown(server, uri):
        _say(server, f"{address.name}: {uris.to_path(uri) or uri}")
    return {"uri": uri}


async def _shown(server: TileServer, uri: str, selection: types.Range | None = None) -> bool:
    """Have the client show a document; False where it can't."""
    if not server.client.show_document:
        return False
    try:
        params = types.ShowDocumentParams(uri=uri, take_focus=True, selection=selection)
        return (await server.window_show_document_async(params)).success
    except JsonRpcException:
        return False


async def _pick(server: TileServer, kernel: KernelView) -> int | None:
    """Let the user choose; without such a dialogue, the next one."""
    if not server.client.message_actions:
        return (kernel.active + 1) % len(kernel.jobs) if kernel.jobs else None
    titles = [f"{index + 1}: {job_label(job)}" for index, job in enumerate(kernel.jobs)]
    answer = await server.window_show_message_request_async(
        types.ShowMessageRequestParams(
            type=types.MessageType.Info,
            message=f"Configuration of {kernel.name}",
            actions=[types.MessageActionItem(title=title) for title in titles],
        )
    )
    return titles.index(answer.title) if answer is not None and answer.title in titles else None


def _say(server: TileServer, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=message))
