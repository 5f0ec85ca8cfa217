"""One module a protocol area; each only translates. Found by the names of the protocol's methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tile_lsp.server.server import TileServer


def register_all(server: TileServer) -> None:
    from . import (
        code_action,
        code_lens,
        commands,
        data_files,
        diagnostics,
        documents,
        graph,
        hover,
        inlay_hint,
        layout,
        lifecycle,
        navigation,
        outline,
        refresh,
        starting,
        tile,
        workspace,
    )

    for module in (
        lifecycle,
        workspace,
        data_files,
        documents,
        graph,
        hover,
        inlay_hint,
        layout,
        code_lens,
        code_action,
        commands,
        diagnostics,
        navigation,
        outline,
        refresh,
        starting,
        tile,
    ):
        module.register(server)
