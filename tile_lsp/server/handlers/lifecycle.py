"""initialized: what the server asks of the client once both are ready."""

from __future__ import annotations

from pygls.exceptions import JsonRpcException

from tile_lsp.server.configuration import pull_configuration
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer

WATCHED = (
    "**/*.py",
    "**/*.{cu,cuh,h,hh,hpp,hxx,inl,inc}",
    "**/{pyproject.toml,tile-lsp.toml}",
    "**/{compile_commands.json,CMakePresets.json,CMakeUserPresets.json,CMakeLists.txt}",
)


def register(server: TileServer) -> None:
    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await pull_configuration(server, tuple(server.folders))
        await server.start()
        if server.client.settings_registration:
            await _register(server, "tile-lsp.settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, None)
        if server.client.watched_files:
            await _watch(server)
        else:
            await server.watch_files()

    @server.feature(types.SET_TRACE)
    def set_trace(params: types.SetTraceParams) -> None:
        """Nothing to switch: traces are the client's to make."""


async def _watch(server: TileServer) -> None:
    options = types.DidChangeWatchedFilesRegistrationOptions(
        watchers=[types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
    )
    await _register(server, "tile-lsp.watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


async def _register(server: TileServer, name: str, method: str, options: object) -> None:
    """Ask to be told something, by a notification that no client sends unasked."""
    registration = types.Registration(id=name, method=method, register_options=options)
    try:
        await server.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
    except JsonRpcException as error:
        server.tell(f"no {method}: {error.message}")
