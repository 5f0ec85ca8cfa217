"""`tile/graph`: the control-flow graph of a listing."""

from __future__ import annotations

from pygls.exceptions import JsonRpcInvalidParams

from tile_lsp.ide.graph import STAGES, Node, graph
from tile_lsp.ide.jobs import config_label
from tile_lsp.server import requests as wire
from tile_lsp.server.server import TileServer

from .tile import address_of, location_of, source_of


def register(server: TileServer) -> None:
    @server.feature("tile/graph")
    async def control_flow(params: wire.GraphParams) -> wire.GraphResult:
        named = wire.DocumentParams(params.uri, params.text_document, params.kernel, params.stage, params.job)
        address = address_of(server, named)
        if address.stage not in STAGES:
            raise JsonRpcInvalidParams(f"{address.stage} has no control-flow graph; {', '.join(STAGES)} have one")
        made = await server.documents.make(address)
        found = graph(made, address.path)
        problems = made.problems
        if found is None and not problems:
            problems = (f"no control flow could be read from the {address.stage} of {address.kernel}",)
        return wire.GraphResult(
            uri=server.documents.uri(address),
            source=source_of(server, address),
            kernel=address.kernel,
            stage=address.stage.value,
            label=config_label(made.job.config) if made.job is not None else "",
            dot=found.dot if found else "",
            blocks=tuple(_block(server, node) for node in found.nodes) if found else (),
            problems=problems,
        )


def _block(server: TileServer, node: Node) -> wire.GraphBlock:
    source = location_of(server, node.source) if node.source is not None else None
    return wire.GraphBlock(node.id, node.function, node.name, node.first, node.last, source)
