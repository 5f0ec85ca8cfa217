"""workspace/didChangeWatchedFiles, didChangeConfiguration."""

from __future__ import annotations

from tile_lsp.server import uris
from tile_lsp.server.configuration import SECTION, pull_configuration
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer


def register(server: TileServer) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.files_changed([path for change in params.changes if (path := uris.to_path(change.uri))])

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if server.client.configuration:
            await pull_configuration(server, tuple(server.folders))
        elif isinstance(params.settings, dict) and isinstance(section := params.settings.get(SECTION), dict):
            await server.set_client_settings(section)
