"""textDocument/hover: a pure function of the snapshot, so it never waits on a compiler."""

from __future__ import annotations

from tile_lsp.ide.document_hover import document_hover
from tile_lsp.ide.hover import hover
from tile_lsp.ide.markup import Markup
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer


def register(server: TileServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def text_document_hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        if (served := server.documents.rendered(uri)) is not None:
            markup = document_hover(server.snapshot, served, params.position.line)
            return types.Hover(contents=content(server, markup)) if markup else None
        path = server.path(uri)
        if path is None:
            return None
        line, column = server.position(uri, params.position)
        server.look(path, line, line)
        found = hover(server.snapshot, path, line, column)
        if found is None:
            return None
        return types.Hover(contents=content(server, found.markup), range=server.range(path, found.span))


def content(server: TileServer, markup: Markup) -> types.MarkupContent:
    if server.client.markdown:
        return types.MarkupContent(kind=types.MarkupKind.Markdown, value=markup.markdown())
    return types.MarkupContent(kind=types.MarkupKind.PlainText, value=markup.plain())
