"""Work-done progress: on the client's own token, else on one of ours where the client shows such.

Cancelling it ends the work.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcException

from .lsp import types

if TYPE_CHECKING:
    from .server import TileServer

Token = int | str


class WorkDoneProgress:
    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._tasks: dict[Token, asyncio.Task[object] | None] = {}

    @contextlib.asynccontextmanager
    async def shown(self, title: str, token: Token | None = None, *, cancellable: bool = True) -> AsyncIterator[None]:
        """Show that the current task is at work; the client's cancellation cancels it."""
        if token is None:
            token = await self.create()
        if token is None:
            yield
            return
        self._tasks[token] = asyncio.current_task() if cancellable else None
        self.begin(token, title, cancellable=cancellable)
        try:
            yield
        finally:
            del self._tasks[token]
            self.end(token)

    async def create(self) -> Token | None:
        """A token that the client knows of, or None."""
        if not self._server.client.work_done_progress:
            return None
        token = str(uuid.uuid4())
        try:
            await self._server.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token=token))
        except JsonRpcException:
            return None
        return token

    def cancel(self, token: Token) -> None:
        if (task := self._tasks.get(token)) is not None:
            task.cancel()

    def begin(self, token: Token, title: str, *, cancellable: bool = False) -> None:
        self._send(token, types.WorkDoneProgressBegin(title=title, cancellable=cancellable))

    def report(self, token: Token, message: str) -> None:
        self._send(token, types.WorkDoneProgressReport(message=message))

    def end(self, token: Token) -> None:
        self._send(token, types.WorkDoneProgressEnd())

    def _send(
        self,
        token: Token,
        value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd,
    ) -> None:
        self._server.progress(types.ProgressParams(token=token, value=value))
