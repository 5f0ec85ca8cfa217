"""textDocument/documentSymbol, foldingRange, semanticTokens of served documents; sources have servers of their own."""

from __future__ import annotations

from tile_lsp.ide.documents import Document
from tile_lsp.ide.folding import folds
from tile_lsp.ide.outline import Part, outline
from tile_lsp.ide.semantic_tokens import semantic_tokens
from tile_lsp.ide.stages import TOKEN_TYPES
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer
from tile_lsp.server.text import from_byte_column

_KINDS = {
    "function": types.SymbolKind.Function,
    "block": types.SymbolKind.Key,
    "region": types.SymbolKind.Namespace,
}
_INDEX = {name: index for index, name in enumerate(TOKEN_TYPES)}


def register(server: TileServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
        uri = params.text_document.uri
        document = server.documents.rendered(uri)
        if document is None:
            return None
        parts = outline(document)
        if server.client.hierarchical_symbols:
            return [_symbol(server, document, part) for part in parts]
        return [
            types.SymbolInformation(
                name=part.name,
                kind=_KINDS[part.kind],
                location=types.Location(uri=uri, range=_range(server, document, part)),
            )
            for part in _flat(parts)
        ]

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding_range(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        document = server.documents.rendered(params.text_document.uri)
        if document is None:
            return None
        return [
            types.FoldingRange(
                start_line=fold.first,
                end_line=fold.last,
                kind=types.FoldingRangeKind.Comment if fold.comment else types.FoldingRangeKind.Region,
            )
            for fold in folds(document)
        ]

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)
    def tokens_full(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        document = server.documents.rendered(params.text_document.uri)
        return _tokens(server, document, 0, None) if document is not None else None

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
    def tokens_range(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        document = server.documents.rendered(params.text_document.uri)
        if document is None:
            return None
        return _tokens(server, document, params.range.start.line, params.range.end.line)


def _symbol(server: TileServer, document: Document, part: Part) -> types.DocumentSymbol:
    whole = _range(server, document, part)
    end = _character(server, document.rows[part.first], None)
    return types.DocumentSymbol(
        name=part.name,
        kind=_KINDS[part.kind],
        range=whole,
        selection_range=types.Range(start=whole.start, end=types.Position(line=part.first, character=end)),
        children=[_symbol(server, document, inner) for inner in part.parts],
    )


def _flat(parts: tuple[Part, ...]) -> list[Part]:
    return [inner for part in parts for inner in (part, *_flat(part.parts))]


def _range(server: TileServer, document: Document, part: Part) -> types.Range:
    end = _character(server, document.rows[part.last], None)
    return types.Range(
        start=types.Position(line=part.first, character=0), end=types.Position(line=part.last, character=end)
    )


def _character(server: TileServer, row: str, index: int | None) -> int:
    """The protocol's column of an index into a row; None for its end."""
    return from_byte_column(row, len(row[:index].encode()), server.client.encoding)


def _tokens(server: TileServer, document: Document, first: int, last: int | None) -> types.SemanticTokens:
    data: list[int] = []
    line = start = 0
    for token in semantic_tokens(document, first, last):
        row = document.rows[token.line]
        begin = _character(server, row, token.column)
        end = _character(server, row, token.column + token.length)
        if token.line != line:
            start = 0
        data += [token.line - line, begin - start, end - begin, _INDEX[token.type], 0]
        line, start = token.line, begin
    return types.SemanticTokens(data=data)
