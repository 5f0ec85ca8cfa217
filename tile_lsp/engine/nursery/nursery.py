"""An interpreter that is ready: its environment, and workers, the next of which is always being made."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Protocol

from .hello import Environment, StartFailed
from .limits import Limits
from .spawner import Spawner
from .worker import Worker
from .zygote import Zygote


class Breeder(Protocol):
    """Where workers come from."""

    @property
    def alive(self) -> bool: ...

    async def make(self, *, spare: bool = False) -> Worker:
        """`spare`: it isn't needed yet, and may take its time. Raises `StartFailed`."""
        ...

    def stop(self) -> None:
        """End every worker, and let no more be made."""
        ...

    async def close(self) -> None:
        """Wait until all is gone."""
        ...


class Nursery:
    """An interpreter that is ready: its environment, and workers, the next of which is always being made."""

    def __init__(self, environment: Environment, breeder: Breeder, limits: Limits) -> None:
        self.environment = environment
        self.versions: dict[str, str | None] = {}
        self._breeder = breeder
        self._limits = limits
        self._spare: asyncio.Task[Worker] | None = None
        self._servant: Worker | None = None
        self._serving = asyncio.Lock()

    @property
    def alive(self) -> bool:
        return self._breeder.alive

    def is_current(self) -> bool:
        """Blocks for some calls of `stat`."""
        return all(_stamp(path) == (modified, size) for path, modified, size in self.environment.watch)

    def prepare(self, expected: bytes | None = None) -> None:
        """Begin to make the next worker. `expected`: what it is told ahead of the first request."""
        if self._spare is None and self.alive:
            self._spare = asyncio.ensure_future(self._make_spare(expected))
            self._spare.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _make_spare(self, expected: bytes | None) -> Worker:
        worker = await self._breeder.make(spare=True)
        if expected is not None:
            worker.tell(expected)
        return worker

    async def worker(self) -> Worker:
        """A fresh worker that has run no user code. Raises `StartFailed`."""
        spare, self._spare = self._spare, None
        if spare is not None:
            try:
                worker = await asyncio.shield(spare)
            except StartFailed:
                pass
            except asyncio.CancelledError:
                # It is still being made, and good for the next caller.
                if self._spare is None:
                    self._spare = spare
                else:
                    spare.add_done_callback(_discard)
                raise
            else:
                if worker.alive:
                    return worker
        return await self._breeder.make()

    async def serve(self, message: bytes) -> bytes:
        """A request that runs no user code, to a worker kept for that. Raises `Lost` and `StartFailed`."""
        async with self._serving:
            if self._servant is None or not self._servant.alive:
                self._servant = await self._breeder.make()
            try:
                return await self._servant.ask(message, self._limits.start)
            except BaseException:
                self._servant.kill()
                raise

    async def close(self) -> None:
        self._breeder.stop()
        if self._spare is not None:
            with contextlib.suppress(StartFailed):
                (await self._spare).kill()
        if self._servant is not None:
            self._servant.kill()
        await self._breeder.close()


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


async def start_nursery(python: str, limits: Limits, drivers: str = "") -> Nursery:
    """Start an interpreter and hear what it has; `drivers`: see `frontends.base.Language`. Raises `StartFailed`."""
    if limits.fork:
        zygote = await Zygote.start(python, limits, drivers)
        if zygote.environment.fork:
            return Nursery(zygote.environment, zygote, limits)
        await zygote.close()
    spawner = Spawner(python, limits, drivers)
    first = await spawner.make()
    nursery = Nursery(spawner.environment, spawner, limits)
    nursery._spare = asyncio.ensure_future(_made(first))
    return nursery


def _discard(made: asyncio.Task[Worker]) -> None:
    if not made.cancelled() and made.exception() is None:
        made.result().kill()


async def _made(worker: Worker) -> Worker:
    return worker
