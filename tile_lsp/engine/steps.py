"""Steps after inference, each keyed by all that it reads: in memory, else in the store, else run, by one caller in one
process.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from tile_lsp.model.outcome import Fault, FaultKind

from .lru import Lru
from .singleflight import SingleFlight
from .store import Store

Blobs = Mapping[str, bytes]


class Steps:
    """A result, a user's fault among them, is kept; the environment's fault is, until something changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: Lru[Blobs | Fault] = Lru(256)
        self._flights: SingleFlight[Blobs | Fault] = SingleFlight()
        self._writing: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> int:
        return len(self._flights)

    def is_known(self, key: str) -> bool:
        """Without a look into the store."""
        return self._known.get(key) is not None

    def unfinished(self) -> set[asyncio.Task[None]]:
        """What is being written down."""
        return self._writing

    def forget_failures(self) -> None:
        self._known.drop(is_passing)

    async def run(self, key: str, attempt: Callable[[], Awaitable[Blobs | Fault]]) -> Blobs | Fault:
        """A step looked up in memory, then in the store, then run, by one caller in one process."""
        known = self._known.get(key)
        if known is not None:
            return known
        return await self._flights.run(key, lambda: self._find_or_run(key, attempt))

    async def _find_or_run(self, key: str, attempt: Callable[[], Awaitable[Blobs | Fault]]) -> Blobs | Fault:
        stored = self._store.get(key)
        made: Blobs | Fault
        if stored is None:
            async with contextlib.AsyncExitStack() as held:
                await held.enter_async_context(self._store.lock(key))
                stored = self._store.peek(key)
                if stored is None:
                    made = await attempt()
                    if not is_passing(made):
                        self._write_down(key, made, held.pop_all())
                else:
                    made = _decode_step(stored)
        else:
            made = _decode_step(stored)
        self._known.put(key, made)
        return made

    def _write_down(self, key: str, made: Blobs | Fault, lock: contextlib.AsyncExitStack) -> None:
        """Nobody here waits for the file; other processes do, by the lock."""

        async def write() -> None:
            async with lock:
                await asyncio.to_thread(self._store.put, key, _encode_step(made))

        task = asyncio.ensure_future(write())
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)


def is_passing(value: object) -> bool:
    return isinstance(value, Fault) and value.kind is FaultKind.ENVIRONMENT


def _encode_step(made: Blobs | Fault) -> Blobs:
    return {"!fault": msgspec.json.encode(made)} if isinstance(made, Fault) else made


def _decode_step(stored: Blobs) -> Blobs | Fault:
    return msgspec.json.decode(stored["!fault"], type=Fault) if "!fault" in stored else stored
