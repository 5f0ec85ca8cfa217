"""Work-done progress while an interpreter takes its time to start; who cancels it is not made to wait for it."""

from __future__ import annotations

import asyncio

from tile_lsp.engine.events import SessionEvent, Waiting
from tile_lsp.server.lsp import types
from tile_lsp.server.server import SettingsRead, TileServer


def register(server: TileServer) -> None:
    server.listen(_Starting(server).hear)


class _Starting:
    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._over: dict[str, asyncio.Event] = {}

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if not isinstance(event, Waiting):
            return
        if event.begun and self._server.alive and event.python not in self._over:
            self._over[event.python] = asyncio.Event()
            self._server.background(self._show(event.python, self._over[event.python]))
        elif not event.begun and (over := self._over.pop(event.python, None)) is not None:
            over.set()

    async def _show(self, python: str, over: asyncio.Event) -> None:
        server, title = self._server, f"Waiting for {python} to start"
        if not server.client.work_done_progress:
            message = f"{title}: kernels have no types before. Another interpreter is named by tile-lsp.python."
            server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=message))
            return
        try:
            async with server.work_done.shown(f"tile-lsp: {title}"):
                await over.wait()
        except asyncio.CancelledError:
            if not server.alive:
                raise
            for session in server.folders.sessions:
                session.give_up(python)
