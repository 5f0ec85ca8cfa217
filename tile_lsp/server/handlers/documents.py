"""workspace/textDocumentContent: the text of `tile:` documents."""

from __future__ import annotations

from pygls.exceptions import JsonRpcInvalidParams

from tile_lsp.server import uris
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer


def register(server: TileServer) -> None:
    server.listen(server.documents.hear)

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    async def text_document_content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        address = uris.from_tile_uri(params.uri)
        if address is None:
            raise JsonRpcInvalidParams(f"not a tile: document: {params.uri}")
        return types.TextDocumentContentResult(text=(await server.documents.make(address)).text)
