"""textDocument/codeLens and codeLens/resolve."""

from __future__ import annotations

from collections.abc import Mapping

from tile_lsp.ide.code_lens import code_lenses, lens_title
from tile_lsp.model.stage import Stage
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer


def register(server: TileServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def text_document_code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        path = server.path(params.text_document.uri)
        if path is None or not server.settings_of(path).code_lens:
            return None
        return [
            types.CodeLens(
                range=server.range(path, lens.span),
                data={
                    "uri": server.uri(path),
                    "kernel": lens.kernel,
                    "stage": lens.stage.value if lens.stage else None,
                },
            )
            for lens in code_lenses(server.snapshot, path)
            if server.is_in(params.text_document.uri, lens.span)
        ]

    @server.feature(types.CODE_LENS_RESOLVE)
    def code_lens_resolve(lens: types.CodeLens) -> types.CodeLens:
        data = lens.data if isinstance(lens.data, Mapping) else {}
        uri, kernel, stage = str(data.get("uri")), str(data.get("kernel")), data.get("stage")
        target = {"uri": uri, "kernel": kernel}
        title = lens_title(server.snapshot, server.path(uri) or "", kernel, Stage(stage) if stage else None)
        if stage:
            lens.command = types.Command(title=title, command="tile.show", arguments=[{**target, "stage": stage}])
        else:
            lens.command = types.Command(title=title, command="tile.selectJob", arguments=[target])
        return lens
