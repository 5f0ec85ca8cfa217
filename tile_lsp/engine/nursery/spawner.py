"""Workers started from scratch, for interpreters that can't fork safely."""

from __future__ import annotations

import asyncio

from .hello import Environment, StartFailed, read_hello, start_hung
from .limits import Limits
from .process import Process, ending_of, forker_gone
from .worker import Worker


class Spawner:
    """Workers started from scratch, for interpreters that can't fork safely."""

    environment: Environment

    def __init__(self, python: str, limits: Limits, drivers: str) -> None:
        self._python = python
        self._limits = limits
        self._drivers = drivers
        self._watching: set[asyncio.Task[None]] = set()
        self._workers: set[Worker] = set()
        self.alive = True

    async def make(self, *, spare: bool = False) -> Worker:
        options = ("--spawned", "--memory", str(self._limits.memory), "--drivers", self._drivers)
        started = await Process.start(self._python, options)
        worker = Worker(self._limits, started.output)
        await worker.connect(started.connection)
        worker.born(started.process.pid)
        self._workers.add(worker)
        task = asyncio.ensure_future(self._watch(started, worker))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        if not self.alive:
            worker.kill()
            raise StartFailed(forker_gone())
        try:
            try:
                async with asyncio.timeout(self._limits.start):
                    line = await worker._reader.readline()
            except TimeoutError:
                raise start_hung(self._python, f"within {self._limits.start:g} s", worker.output()) from None
            except ConnectionError:
                line = b""
            self.environment = read_hello(line, self._python, worker.output())
        except BaseException:
            worker.kill()
            raise
        return worker

    def stop(self) -> None:
        self.alive = False
        for worker in self._workers:
            worker.kill()

    async def close(self) -> None:
        self.stop()
        await asyncio.gather(*self._watching)

    async def _watch(self, started: Process, worker: Worker) -> None:
        code = await started.process.wait()
        worker.ended(ending_of(code))
        self._workers.discard(worker)
