"""One worker process as it is seen from here: asked, paused, killed, and how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket

import msgspec
import psutil

from .limits import Limits
from .output import Output

#: For a process that was told to end, or whose socket closed, to be gone (s).
PARTING = 5.0
_LINE_LIMIT = 1 << 28
_OUTERMOST = re.compile(r'__main__\.py", line \d+ in <module>\n\Z')
#: How often a worker that has not answered yet is looked at (s).
_LOOK_AFTER = 0.5
#: For a worker that is out of time to print where it is (s). On a busy machine it waits for its turn.
_LAST_WORDS = 5.0


class Lost(Exception):
    """A worker gave no answer."""

    def __init__(self, reason: str, *, seconds: float = 0.0, with_parent: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        """`timeout`, or what happened, as in "The worker {reason}"."""
        self.seconds = seconds
        self.with_parent = with_parent


class Ending(msgspec.Struct, frozen=True):
    """How a process ended."""

    status: int | None = None
    signal: int | None = None
    with_parent: bool = False


class Worker:
    """One worker process: a socket for requests, a pipe for what it prints."""

    def __init__(self, limits: Limits, output: int) -> None:
        self._limits = limits
        self._output = Output(output, limits, self._flooded)
        self._pid: int | None = None
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter
        self._stopped = ""
        """Why we ended it, as in "The worker {…}"."""
        self._killed = False
        self.birth: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when its process exists, or never will."""
        self.ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()

    async def connect(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._reader, self._writer = await asyncio.open_unix_connection(sock=connection, limit=_LINE_LIMIT)

    def born(self, pid: int) -> None:
        self._pid = pid
        if not self.birth.done():
            self.birth.set_result(None)
        if self._killed:
            self._signal_group(signal.SIGKILL)

    def ended(self, ending: Ending) -> None:
        if not self.birth.done():
            self.birth.set_result(None)
        if not self.ending.done():
            self.ending.set_result(ending)
        self._writer.close()
        self._output.text()
        self._output.close()

    @property
    def alive(self) -> bool:
        return not self.ending.done() and not self._killed

    def output(self) -> str:
        """The end of what it printed up to now."""
        return self._output.text()

    def tell(self, message: bytes) -> None:
        self._writer.write(message + b"\n")

    async def ask(self, message: bytes, timeout: float, *, where: bool = False) -> bytes:  # noqa: ASYNC109
        """One request, one answer. Raises `Lost`. `where`: it is to print where it is when it is out of time."""
        self.tell(message)
        return await self.hear(timeout, where=where)

    async def hear(self, timeout: float, *, where: bool = False) -> bytes:  # noqa: ASYNC109
        """What it says next. Raises `Lost`."""
        try:
            async with asyncio.timeout(timeout):
                await self._writer.drain()
                answer = await self._line()
        except TimeoutError:
            if where:
                await self._say_where()
            raise Lost("timeout", seconds=timeout) from None
        except (ConnectionError, ValueError):
            answer = b""
        if answer.endswith(b"\n"):
            return answer
        raise await self._what_happened()

    async def _line(self) -> bytes:
        """The next line. A worker that takes its time is looked at meanwhile: what it shares, or has its processes
        hold, is memory that the system's own limit doesn't count.
        """
        line = asyncio.ensure_future(self._reader.readline())
        try:
            while not (await asyncio.wait({line}, timeout=_LOOK_AFTER))[0]:
                if self._limits.memory and await asyncio.to_thread(_resident, self._pid) > self._limits.memory:
                    self._stopped = f"was stopped when it held more than {self._limits.memory >> 20} MiB"
                    self._signal_group(signal.SIGKILL)
            return line.result()
        finally:
            line.cancel()

    def pause(self) -> None:
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_group(signal.SIGCONT)

    def kill(self) -> None:
        """At once, with every process that it started."""
        if not self._killed:
            self._killed = True
            self._signal_group(signal.SIGKILL)
            self._writer.close()

    def _flooded(self) -> None:
        self._stopped = f"was stopped after it had printed {self._limits.output_cap >> 20} MiB"
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: int) -> None:
        """The worker leads a group; one that was only just forked doesn't yet."""
        if self._pid is None or self.ending.done():
            return
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._pid, number)

    async def _say_where(self) -> None:
        """Have it print its Python frames, as it does on this signal."""
        if self._pid is None or self.ending.done():
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGUSR2)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                # It prints frame by frame; the outermost is our own.
                while not _OUTERMOST.search(self._output.text()):
                    await self._output.printed()

    async def _what_happened(self) -> Lost:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                await asyncio.shield(self.ending)
        if self._stopped:
            return Lost(self._stopped)
        if not self.ending.done():
            return Lost("closed its connection")
        ending = self.ending.result()
        if ending.with_parent:
            return Lost("ended together with the process that forked it", with_parent=True)
        if ending.signal is not None:
            return Lost(f"was ended by {_signal_name(ending.signal)}")
        return Lost(f"ended itself with exit status {ending.status}")


def _resident(pid: int | None) -> int:
    """Bytes of memory that a process and its descendants hold. Looks through all processes: not for the event loop."""
    try:
        process = psutil.Process(pid)
        return sum(p.memory_info().rss for p in (process, *process.children(recursive=True)))
    except psutil.Error:
        return 0


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
