"""Whose turn it is: what somebody looks at goes before what is only kept up to date."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

_CLOCK = itertools.count(1)


class Turn:
    """Of all the work for one kernel. Asked for while that waits, it goes ahead."""

    def __init__(self) -> None:
        self.asked = 0
        """The higher, the later somebody asked for it; 0: nobody did."""

    def ask(self) -> None:
        self.asked = next(_CLOCK)


_NOBODYS = Turn()
_current: ContextVar[Turn] = ContextVar("turn", default=_NOBODYS)


@contextlib.contextmanager
def on_turn(turn: Turn) -> Iterator[None]:
    """What is begun inside, tasks included, waits as this turn says."""
    before = _current.set(turn)
    try:
        yield
    finally:
        _current.reset(before)


class _Waiting(NamedTuple):
    turn: Turn
    called: asyncio.Future[None]


class Slots:
    """A semaphore (`async with`) that the one who was asked for last gets next, among equals the one who came first."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: list[_Waiting] = []

    async def __aenter__(self) -> None:
        if self._free:
            self._free -= 1
            return
        one = _Waiting(_current.get(), asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        try:
            await one.called
        except asyncio.CancelledError:
            if one in self._waiting:
                self._waiting.remove(one)
            else:
                self._leave()  # it was called in the same moment
            raise

    async def __aexit__(self, *error: object) -> None:
        self._leave()

    def _leave(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        one = max(self._waiting, key=lambda waiting: waiting.turn.asked)
        self._waiting.remove(one)
        one.called.set_result(None)


class Line:
    """Those who could all go on at once do so one after the other, who was asked for last first."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    async def stand(self) -> None:
        loop = asyncio.get_running_loop()
        one = _Waiting(_current.get(), loop.create_future())
        self._waiting.append(one)
        if len(self._waiting) == 1:
            loop.call_soon(self._call_next)
        await one.called

    def _call_next(self) -> None:
        self._waiting = [waiting for waiting in self._waiting if not waiting.called.done()]
        if not self._waiting:
            return
        one = max(self._waiting, key=lambda waiting: waiting.turn.asked)
        one.called.set_result(None)
        asyncio.get_running_loop().call_soon(self._call_next)
