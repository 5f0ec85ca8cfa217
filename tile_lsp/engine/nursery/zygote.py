"""The warm process that forks, and the socket over which it is told to."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

import msgspec

from .hello import Environment, StartFailed, read_hello, start_hung
from .limits import Limits
from .output import Output
from .process import Process, forker_gone
from .worker import Ending, Worker


class Zygote:
    """The warm process that forks."""

    environment: Environment

    def __init__(self, started: Process, limits: Limits) -> None:
        self._started = started
        self._limits = limits
        self._control = started.connection
        self._control.setblocking(False)
        self._output = Output(started.output, limits, started.kill)
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._greeting: asyncio.Future[bytes] = self._loop.create_future()
        self._number = 0
        self._unborn: dict[int, Worker] = {}
        self._workers: dict[int, Worker] = {}
        self._sending = asyncio.Lock()
        self.alive = True
        self._loop.add_reader(self._control, self._read)

    @classmethod
    async def start(cls, python: str, limits: Limits, drivers: str) -> Zygote:
        zygote = cls(await Process.start(python, ("--drivers", drivers)), limits)
        try:
            try:
                async with asyncio.timeout(limits.start):
                    line = await zygote._greeting
            except TimeoutError:
                raise start_hung(python, f"within {limits.start:g} s", zygote._output.text()) from None
            zygote.environment = read_hello(line, python, zygote._output.text())
        except BaseException:
            zygote._started.kill()
            await zygote.close()
            raise
        return zygote

    async def make(self, *, spare: bool = False) -> Worker:
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        worker = Worker(self._limits, reading)
        try:
            await worker.connect(ours)
            self._number += 1
            number = self._number
            self._unborn[number] = worker
            request = {"op": "fork", "id": number, "memory": self._limits.memory, "touch": spare}
            await self._send(msgspec.json.encode(request) + b"\n", [theirs.fileno(), writing])
        except OSError as error:
            worker.ended(Ending(with_parent=True))
            raise StartFailed(forker_gone()) from error
        finally:
            theirs.close()
            os.close(writing)
        try:
            # A worker's time runs from its birth: before, it waits for this process, perhaps still warming up.
            async with asyncio.timeout(self._limits.start):
                await worker.birth
        except TimeoutError:
            self._started.kill()
            self.stop()
        except BaseException:
            worker.kill()
            raise
        if not self.alive:
            worker.ended(Ending(with_parent=True))
            raise StartFailed(forker_gone())
        return worker

    def stop(self) -> None:
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control)
        self._control.close()
        if not self._greeting.done():
            self._greeting.set_result(b"")
        for worker in (*self._unborn.values(), *self._workers.values()):
            # The zygote takes its workers with it.
            worker.kill()
            worker.ended(Ending(with_parent=True))
        self._unborn.clear()
        self._workers.clear()

    async def close(self) -> None:
        self.stop()
        await self._started.reap()
        self._output.close()

    async def _send(self, message: bytes, descriptors: list[int]) -> None:
        async with self._sending:
            while True:
                try:
                    # The first byte carries the descriptors; a message is far smaller than the socket's buffer.
                    socket.send_fds(self._control, [message], descriptors)
                    return
                except BlockingIOError:
                    writable = self._loop.create_future()
                    self._loop.add_writer(self._control, writable.set_result, None)
                    try:
                        await writable
                    finally:
                        self._loop.remove_writer(self._control)

    def _read(self) -> None:
        try:
            data = self._control.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.stop()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            if not self._greeting.done():
                self._greeting.set_result(line)
            else:
                self._event(msgspec.json.decode(line))

    def _event(self, event: dict[str, Any]) -> None:
        if event["event"] == "forked":
            worker = self._unborn.pop(event["id"])
            self._workers[event["pid"]] = worker
            worker.born(event["pid"])
        elif event["event"] == "exit":
            worker = self._workers.pop(event["pid"])
            worker.ended(Ending(event["status"], event["signal"]))
