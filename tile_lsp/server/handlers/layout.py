"""`tile/layout`: thread maps of what stands at a position, as pictures."""

from __future__ import annotations

from collections.abc import Sequence

from pygls.exceptions import JsonRpcInvalidParams

from tile_lsp.ide.layouts import maps_of
from tile_lsp.ide.thread_map import NoMap, ThreadMap, facts, thread_maps
from tile_lsp.ide.thread_map_svg import svg
from tile_lsp.ide.type_index import named_at
from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage
from tile_lsp.server import requests as wire
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer


def register(server: TileServer) -> None:
    @server.feature("tile/layout")
    async def layout(params: wire.LayoutParams) -> wire.LayoutResult:
        uri, line = params.text_document.uri, params.position.line
        if (served := server.documents.rendered(uri)) is not None:
            maps = thread_maps(served, line) if 0 <= line < len(served.rows) else []
            return _result(f"line {line + 1}", maps, "no value of this line has a layout")
        path = server.path(uri)
        if path is None:
            raise JsonRpcInvalidParams(f"neither a file nor a document: {uri}")
        return await _of_source(server, path, server.position(uri, types.Position(line, params.position.character)))


async def _of_source(server: TileServer, path: str, position: tuple[int, int]) -> wire.LayoutResult:
    await server.analysed()
    found = named_at(server.snapshot, path, *position)
    if found is None:
        return _result("", [], "no value of a kernel has a name here")
    kernel, name, place = found.kernel, found.record.name or "", found.record.chain[0]
    # Compiled as far as TTGIR, which a hover would not have waited for.
    artifact = await server.with_session(
        kernel.path, lambda session: session.artifact(kernel.path, kernel.name, Stage.TTGIR)
    )
    if isinstance(artifact, Fault):
        return _result(name, [], artifact.message)
    return _result(name, maps_of(artifact, name, place), f"TTGIR has no value of the name {name}")


def _result(title: str, maps: Sequence[ThreadMap | NoMap], nothing: str) -> wire.LayoutResult:
    return wire.LayoutResult(title, tuple(map(_layout, maps)), "" if maps else nothing)


def _layout(of: ThreadMap | NoMap) -> wire.Layout:
    if isinstance(of, NoMap):
        return wire.Layout(of.typed.text, (), "", of.why)
    return wire.Layout(of.typed.text, facts(of), svg(of), "")
