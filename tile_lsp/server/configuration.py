"""workspace/configuration: the editor's settings, which may be others for each folder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcException

from .lsp import types

if TYPE_CHECKING:
    from .folders import Folder
    from .server import TileServer

SECTION = "tile-lsp"
_PATIENCE = 5.0
"""Seconds that a client gets to say its settings before the work begins without them. They count once it says them."""


async def pull_configuration(server: TileServer, folders: Sequence[Folder]) -> None:
    """Ask for the settings of folders, where the client has any to ask for."""
    if server.client.configuration and folders:
        await asyncio.wait({server.background(_pull(server, folders))}, timeout=_PATIENCE)


async def _pull(server: TileServer, folders: Sequence[Folder]) -> None:
    items = [types.ConfigurationItem(scope_uri=folder.uri, section=SECTION) for folder in folders]
    try:
        answers = await server.workspace_configuration_async(types.ConfigurationParams(items=items))
    except JsonRpcException:
        return
    for folder, settings in zip(folders, answers or (), strict=False):
        if isinstance(settings, dict):
            await server.set_client_settings({**server.options.settings, **settings}, folder)
