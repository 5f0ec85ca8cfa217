"""inlayHint/refresh, codeLens/refresh, and work-done progress of what runs in the background."""

from __future__ import annotations

import asyncio

from tile_lsp.engine.events import KernelChanged, Progress, SessionEvent
from tile_lsp.server.progress import Token
from tile_lsp.server.server import SettingsRead, TileServer

_DELAY = 0.05
"""Seconds between the first change and the refresh that covers it."""
_PATIENCE = 0.7
"""Seconds of work before a client shows that something runs: most of it is over by then."""


def register(server: TileServer) -> None:
    server.listen(_Refresher(server).hear)
    server.listen(_BackgroundProgress(server).hear)


class _Refresher:
    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._timer: asyncio.TimerHandle | None = None

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if isinstance(event, KernelChanged) and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._refresh)

    def _refresh(self) -> None:
        self._timer = None
        server = self._server
        if not server.alive:
            return
        if server.client.inlay_hint_refresh:
            server.ask(server.workspace_inlay_hint_refresh_async(None))
        if server.client.code_lens_refresh:
            server.ask(server.workspace_code_lens_refresh_async(None))


class _BackgroundProgress:
    """One progress from the time something has run for a while until nothing runs."""

    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._running = 0
        self._title = ""
        self._timer: asyncio.TimerHandle | None = None
        self._token: Token | None = None

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if not isinstance(event, Progress) or not self._server.client.work_done_progress:
            return
        self._running, self._title = event.running, event.title or "compiling kernels"
        if self._running and self._token is None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self._open)
        elif not self._running:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._token is not None:
                self._server.work_done.end(self._token)
                self._token = None

    def _open(self) -> None:
        self._timer = None
        if self._running and self._server.alive:
            self._server.background(self._begin())

    async def _begin(self) -> None:
        token = await self._server.work_done.create()
        if token is None:
            return
        self._server.work_done.begin(token, f"tile-lsp: {self._title}")
        if self._running and self._token is None:
            self._token = token
        else:
            self._server.work_done.end(token)
