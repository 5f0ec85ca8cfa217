"""workspace/didChangeWatchedFiles, didChangeConfiguration, configuration."""

from __future__ import annotations

import asyncio

from pygls.exceptions import JsonRpcException

from tile_lsp.server import uris
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer

SECTION = "tile-lsp"
_PATIENCE = 5.0
"""Seconds that a client gets to say its settings before the work begins without them."""


def register(server: TileServer) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.files_changed([path for change in params.changes if (path := uris.to_path(change.uri))])

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if server.client.configuration:
            await pull_configuration(server)
        elif isinstance(params.settings, dict) and isinstance(section := params.settings.get(SECTION), dict):
            await server.set_client_settings(section)


async def pull_configuration(server: TileServer) -> None:
    """Ask for the editor's settings, where it has any to ask for."""
    if not server.client.configuration:
        return
    item = types.ConfigurationItem(section=SECTION)
    asked = server.workspace_configuration_async(types.ConfigurationParams(items=[item]))
    try:
        answer = await asyncio.wait_for(asked, _PATIENCE)
    except (JsonRpcException, TimeoutError):
        return
    settings = answer[0] if answer else None
    if isinstance(settings, dict):
        await server.set_client_settings({**server.options.settings, **settings})
