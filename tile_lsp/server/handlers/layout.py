"""`tile/layout`: thread maps of what stands at a position, as pictures."""

from __future__ import annotations

from collections.abc import Sequence

from pygls.exceptions import JsonRpcInvalidParams

from tile_lsp.ide.fault_words import in_one_line
from tile_lsp.ide.jobs import config_label
from tile_lsp.ide.layouts import maps_of, tensor_of
from tile_lsp.ide.thread_map import NoMap, ThreadMap, facts, thread_maps
from tile_lsp.ide.thread_map_svg import legend, svg
from tile_lsp.ide.type_index import named_at
from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage
from tile_lsp.server import requests as wire
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer

_NO_NAME = (
    "no value of a kernel has a name at the cursor. Put it on a name that holds a tensor, in a kernel of Triton, "
    "or on a line of its TTGIR"
)


def register(server: TileServer) -> None:
    @server.feature("tile/layout")
    async def layout(params: wire.LayoutParams) -> wire.LayoutResult:
        uri, line = params.text_document.uri, params.position.line
        if (served := server.documents.rendered(uri)) is not None:
            maps = thread_maps(served, line) if 0 <= line < len(served.rows) else []
            address = server.documents.address(uri)
            assert address is not None, "it is rendered"
            label = config_label(served.job.config) if served.job is not None else ""
            return _result(f"line {line + 1}", address.kernel, label, maps, "no value of this line has a layout")
        path = server.path(uri)
        if path is None:
            raise JsonRpcInvalidParams(f"neither a file nor a document: {uri}")
        position = server.position(uri, types.Position(line, params.position.character))
        await server.with_session(path, lambda session: session.inferred(path, line=position[0]))
        return await _of_source(server, path, position)


async def _of_source(server: TileServer, path: str, position: tuple[int, int]) -> wire.LayoutResult:
    found = named_at(server.snapshot, path, *position)
    if found is None:
        return _result("", "", "", [], _why_nameless(server, path, position[0]))
    kernel, name, place = found.kernel, found.record.name or "", found.record.chain[0]
    label = config_label(kernel.job.job.config) if kernel.job is not None else ""
    if tensor_of(found.record.type) is None:
        nothing = f"{name} is {found.record.type}: only tensors lie over threads"
        return _result(name, kernel.name, label, [], nothing)
    # Compiled as far as TTGIR, which a hover would not have waited for.
    artifact = await server.with_session(
        kernel.path, lambda session: session.artifact(kernel.path, kernel.name, Stage.TTGIR)
    )
    if isinstance(artifact, Fault):
        return _result(name, kernel.name, label, [], in_one_line(artifact).rstrip("."))
    maps = maps_of(artifact, name, place, found.record.type)
    nothing = f"TTGIR has no value of the name {name} any more: passes put it into another. Show TTGIR has what is left"
    return _result(name, kernel.name, label, maps, nothing)


def _why_nameless(server: TileServer, path: str, line: int) -> str:
    """What is wrong with the kernel that the line is in, else what to do."""
    file = server.snapshot.files.get(path)
    around = [kernel for kernel in file.kernels if kernel.span.line <= line <= kernel.span.end_line] if file else []
    faults = [fault for kernel in around for fault in kernel.faults]
    return in_one_line(faults[0]).rstrip(".") if faults else _NO_NAME


def _result(title: str, kernel: str, label: str, maps: Sequence[ThreadMap | NoMap], nothing: str) -> wire.LayoutResult:
    return wire.LayoutResult(title, kernel, label, tuple(map(_layout, maps)), "" if maps else nothing)


def _layout(of: ThreadMap | NoMap) -> wire.Layout:
    if isinstance(of, NoMap):
        return wire.Layout(of.typed.text, (), (), "", of.why)
    return wire.Layout(of.typed.text, facts(of), legend(of), svg(of), "")
