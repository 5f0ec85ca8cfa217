"""client/registerCapability of workspace/didChangeWatchedFiles for the data that kernels' code reads, file by file.

No pattern says which files these are: they become known as kernels are loaded, and change with them.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable

from pygls.exceptions import JsonRpcException

from tile_lsp.engine.events import DiagnosticsChanged, KernelChanged, SessionEvent
from tile_lsp.server import uris
from tile_lsp.server.lsp import types
from tile_lsp.server.server import SettingsRead, TileServer

_DELAY = 0.1
"""Seconds: what becomes known together is registered once."""
_SPECIAL = re.compile(r"[*?\[\]{}\\]")


def register(server: TileServer) -> None:
    server.listen(_DataFiles(server).hear)


class _DataFiles:
    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._paths: frozenset[str] = frozenset()
        self._registered: str | None = None
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._one_by_one = asyncio.Lock()

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if isinstance(event, KernelChanged | DiagnosticsChanged) and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._server.alive and self._read() != self._paths:
            self._server.background(self._follow())

    async def _follow(self) -> None:
        async with self._one_by_one:
            if not self._server.alive or (paths := self._read()) == self._paths:
                return
            new, self._paths = paths - self._paths, paths
            if self._server.client.watched_files:
                await self._register(paths)
            else:
                self._server.follow_files(paths)
        for session in self._server.folders.sessions:
            session.files_changed(sorted(new))  # one may have been written before anybody looked

    def _read(self) -> frozenset[str]:
        return frozenset().union(*(session.files_read() for session in self._server.folders.sessions))

    async def _register(self, paths: frozenset[str]) -> None:
        """All of them anew, and only then the old ones no longer: no change goes unseen in between."""
        old, self._registered = self._registered, None
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        try:
            if paths:
                self._count += 1
                name = f"tile-lsp.data.{self._count}"
                options = types.DidChangeWatchedFilesRegistrationOptions(watchers=list(self._watchers(sorted(paths))))
                added = types.Registration(id=name, method=method, register_options=options)
                await self._server.client_register_capability_async(types.RegistrationParams(registrations=[added]))
                self._registered = name
            if old is not None:
                gone = types.Unregistration(id=old, method=method)
                await self._server.client_unregister_capability_async(
                    types.UnregistrationParams(unregisterations=[gone])
                )
        except JsonRpcException as error:
            self._server.tell(f"no events of {', '.join(sorted(paths))}: {error.message}")

    def _watchers(self, paths: Iterable[str]) -> Iterable[types.FileSystemWatcher]:
        for path in paths:
            folder, name = os.path.split(path)
            if self._server.client.relative_patterns:
                pattern = types.RelativePattern(base_uri=uris.from_path(folder), pattern=_literal(name))
                yield types.FileSystemWatcher(glob_pattern=pattern)
            else:
                yield types.FileSystemWatcher(glob_pattern=_literal(path))


def _literal(text: str) -> str:
    """A glob of a text: any character in the place of one that is special, for clients disagree on how to quote it."""
    return _SPECIAL.sub("?", text)
