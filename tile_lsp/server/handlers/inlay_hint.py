"""textDocument/inlayHint and inlayHint/resolve."""

from __future__ import annotations

from collections.abc import Sequence

from tile_lsp.ide.inlay_hints import InlayHint, inlay_hints
from tile_lsp.model.location import Span
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer


def register(server: TileServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def text_document_inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        uri = params.text_document.uri
        path = server.path(uri)
        if path is None:
            return None
        first, last = server.lines(uri, params.range)
        server.look(path, first, last)
        if not server.settings_of(path).inlay_hints:
            return None
        return [_hint(server, path, hint) for hint in inlay_hints(server.snapshot, path, first, last)]

    @server.feature(types.INLAY_HINT_RESOLVE)
    def inlay_hint_resolve(hint: types.InlayHint) -> types.InlayHint:
        data = hint.data
        if isinstance(data, Sequence) and len(data) == 3:
            path, line, label = data
            for other in inlay_hints(server.snapshot, str(path), int(line), int(line)):
                if other.label == label:
                    hint.tooltip = other.tooltip
        return hint


def _hint(server: TileServer, path: str, hint: InlayHint) -> types.InlayHint:
    place = server.range(path, Span(hint.line, hint.column, hint.line, hint.column)).start
    return types.InlayHint(
        position=place,
        label=hint.label,
        kind=types.InlayHintKind.Type if hint.kind == "type" else None,
        padding_left=hint.kind != "type",
        data=[path, hint.line, hint.label],
    )
