"""textDocument/definition, implementation, references and documentHighlight, between documents and the source."""

from __future__ import annotations

from tile_lsp.ide.documents import Document
from tile_lsp.ide.links import definitions, lines_of, same_source
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer
from tile_lsp.server.text import from_byte_column


def register(server: TileServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location] | None:
        """From a document's line to the source. In the source itself a definition is the Python server's to give."""
        document = server.documents.rendered(params.text_document.uri)
        return _sources(server, document, params.position.line) if document is not None else None

    @server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    def implementation(params: types.ImplementationParams) -> list[types.Location] | None:
        """From a source line to what became of it, in the documents that are open."""
        return _compiled(server, params)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location] | None:
        """Both ways: from a document's line to all lines of the same origin, from a source line to its instructions."""
        uri = params.text_document.uri
        document = server.documents.rendered(uri)
        if document is None:
            return _compiled(server, params)
        same = [_line(server, uri, document, line) for line in same_source(document, params.position.line)]
        return same + (_sources(server, document, params.position.line) or [])

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def document_highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        """In a document: the lines that came from the same source line."""
        uri = params.text_document.uri
        document = server.documents.rendered(uri)
        if document is None:
            return None
        return [
            types.DocumentHighlight(range=_line(server, uri, document, line).range)
            for line in same_source(document, params.position.line)
        ]


def _sources(server: TileServer, document: Document, line: int) -> list[types.Location] | None:
    return [server.location(place) for place in definitions(document, line)] or None


def _compiled(server: TileServer, params: types.TextDocumentPositionParams) -> list[types.Location] | None:
    path = server.path(params.text_document.uri)
    if path is None:
        return None
    line = server.line(params.text_document.uri, params.position.line)
    return [
        _line(server, uri, document, index)
        for uri, document in server.documents.shown()
        for index in lines_of(document, path, line, line)
    ] or None


def _line(server: TileServer, uri: str, document: Document, line: int) -> types.Location:
    """A whole line of a document."""
    row = document.rows[line]
    end = from_byte_column(row, len(row.encode()), server.client.encoding)
    return types.Location(
        uri=uri,
        range=types.Range(start=types.Position(line=line, character=0), end=types.Position(line=line, character=end)),
    )
