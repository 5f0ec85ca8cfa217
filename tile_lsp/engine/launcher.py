"""Programs started by a small process beside the server (`launchpad.py`): the event loop never forks for them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

#: By path, never imported: it runs on its own.
_LAUNCHPAD = Path(__file__).with_name("launchpad.py")
_PARTING = 5.0
"""Seconds for it to end once its input did."""


class _Answer(msgspec.Struct):
    id: int
    code: int = 0
    error: str | None = None


class Launcher:
    """Starts its process with the first program. Use it on one event loop; `close` it at the end."""

    def __init__(self) -> None:
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[_Answer]] = {}
        self._number = 0
        self._closed = False

    async def run(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Path, err: Path, limit: float
    ) -> int:
        """The exit status, negative for a signal. When this returns, however it does, the program is gone.

        Raises `OSError` for what can't be started, `TimeoutError` after `limit` seconds.
        """
        process = await self._process()
        self._number += 1
        number = self._number
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._tell(
            process,
            {"id": number, "argv": argv, "cwd": str(cwd), "env": env, "out": str(out), "err": str(err)},
        )
        try:
            async with asyncio.timeout(limit):
                done = await asyncio.shield(answer)
        except (TimeoutError, asyncio.CancelledError):
            self._tell(process, {"kill": number})
            await asyncio.wait({answer}, timeout=_PARTING)
            raise
        if done.error is not None:
            raise OSError(0, done.error)
        return done.code

    async def close(self) -> None:
        """End every program; none is started from then on."""
        self._closed = True
        if self._starting is None:
            return
        process = await self._starting
        self._starting = None
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _PARTING)
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._reading is not None:
            await self._reading

    async def _process(self) -> asyncio.subprocess.Process:
        if self._closed:
            raise OSError(0, "no more tools are started: this session has ended")
        if self._reading is not None and self._reading.done():
            self._starting = self._reading = None  # somebody killed it
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            str(_LAUNCHPAD),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            process_group=0,
        )
        self._reading = asyncio.ensure_future(self._read(process))
        return process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                answer = msgspec.json.decode(line, type=_Answer)
                waiting = self._answers.pop(answer.id, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        finally:
            # However it ends, at the end of the event loop too: who waits must not wait for ever.
            self._lose(self._answers)

    @staticmethod
    def _lose(answers: dict[int, asyncio.Future[_Answer]]) -> None:
        for number, waiting in answers.items():
            if not waiting.done():
                waiting.set_result(_Answer(number, error="the process that starts tools ended"))
        answers.clear()

    @staticmethod
    def _tell(process: asyncio.subprocess.Process, message: object) -> None:
        assert process.stdin is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write(msgspec.json.encode(message) + b"\n")
