"""The warm process of one interpreter, the workers that it forks, and the sockets and pipes to them.

Where the interpreter can't fork safely, each worker is a process started from scratch; one is always kept ready. Both
look the same from outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import msgspec
import psutil

from tile_lsp.model.outcome import Fault, FaultKind

from .tools import Tool

#: By path, never imported: it belongs to the other interpreter.
_WORKER = Path(__file__).parent.parent / "worker" / "__main__.py"
_PROTOCOL = 2
_ANOTHER = "set tile-lsp.python to an interpreter that runs: Python 3.10 or later, with the kernels' compiler"
_SAVED = "TILE_LSP_SAVED_"
_LINE_LIMIT = 1 << 28
#: For a process that was told to end, or whose socket closed, to be gone (s).
_PARTING = 5.0
_OUTERMOST = re.compile(r'__main__\.py", line \d+ in <module>\n\Z')
#: How often a worker that has not answered yet is looked at (s).
_LOOK_AFTER = 0.5
#: For a worker that is out of time to print where it is (s).
_LAST_WORDS = 0.5


class Limits(msgspec.Struct, frozen=True):
    """Times in seconds, sizes in bytes."""

    inference: float = 60.0
    codegen: float = 60.0
    start: float = 120.0
    memory: int = 8 << 30
    """What a worker's code may allocate; 0: no limit."""
    output_tail: int = 64 << 10
    output_cap: int = 64 << 20
    """A worker that prints more is ended."""
    holders: int = 16
    jobs: int | None = None
    """Workers at work at once; None: one for each core."""
    fork: bool = True
    """False: start each worker from scratch."""


class FrontEndInfo(msgspec.Struct, frozen=True):
    version: str | None = None
    error: str | None = None
    """Why it can't be used; None where it can."""
    help: str | None = None
    """The command that mends it."""
    fields: dict[str, Any] = {}
    """What this version offers: `bytecode_versions`, `portable_bytecode_versions`, `hints`, `dtypes`."""


class ToolReport(msgspec.Struct, frozen=True):
    path: str | None = None
    version: str = ""
    env: dict[str, str] = {}
    error: str | None = None
    help: str | None = None


class Environment(msgspec.Struct, frozen=True):
    """What an interpreter is and has, as it says itself."""

    protocol: int
    python: str
    executable: str
    platform: str
    frontends: dict[str, FrontEndInfo]
    fork: bool = False
    implementation: str = "cpython"
    reports: dict[str, ToolReport] = msgspec.field(name="tools", default={})
    """Every tool that is known of, the missing ones with what installs them."""
    distributions: dict[str, str] = {}
    environment: dict[str, str] = {}
    """Variables that a compiler or its tools read."""
    sys_path: tuple[str, ...] = ()
    editable: dict[str, str] = {}
    """Import name → the folder that holds the package or module, of what is installed editable."""
    watch: tuple[tuple[str, int, int], ...] = ()
    """Path, modification time (ns) and size of what changes when something is installed."""

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools that are there, by name."""
        return {
            name: Tool(name, report.path, report.version, report.env)
            for name, report in self.reports.items()
            if report.path is not None
        }


class StartFailed(Exception):
    """The interpreter can't be used."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


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


class _Output:
    """What a process prints: drained all the time, its end kept."""

    def __init__(self, fd: int, limits: Limits, on_flood: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._limits = limits
        self._on_flood = on_flood
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.total = 0
        self._printed: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self._read)
        self._open = True

    def printed(self) -> asyncio.Future[None]:
        """Done when the process next prints something, or can't any more."""
        self._printed = self._loop.create_future()
        if not self._open:
            self._printed.set_result(None)
        return self._printed

    def text(self) -> str:
        while self._open and self._read():
            pass
        return b"".join(self._chunks)[-self._limits.output_tail :].decode("utf-8", "replace")

    def close(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._notify()

    def _notify(self) -> None:
        if self._printed is not None and not self._printed.done():
            self._printed.set_result(None)

    def _read(self) -> bool:
        """True if there was something."""
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        self._notify()
        self._chunks.append(data)
        self._size += len(data)
        self.total += len(data)
        while self._size - len(self._chunks[0]) >= self._limits.output_tail:
            self._size -= len(self._chunks.popleft())
        if self.total > self._limits.output_cap:
            self._on_flood()
            self.close()
        return True


class Worker:
    """One worker process: a socket for requests, a pipe for what it prints."""

    def __init__(self, limits: Limits, output: int) -> None:
        self._limits = limits
        self._output = _Output(output, limits, self._flooded)
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

    async def ask(self, message: bytes, timeout: float) -> bytes:  # noqa: ASYNC109
        """One request, one answer. Raises `Lost`."""
        self.tell(message)
        return await self.hear(timeout)

    async def hear(self, timeout: float) -> bytes:  # noqa: ASYNC109
        """What it says next. Raises `Lost`."""
        try:
            async with asyncio.timeout(timeout):
                await self._writer.drain()
                answer = await self._line()
        except TimeoutError:
            await self._where_it_is()
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

    async def _where_it_is(self) -> None:
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
            async with asyncio.timeout(_PARTING):
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


class _Breeder(Protocol):
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

    def __init__(self, environment: Environment, breeder: _Breeder, limits: Limits) -> None:
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
                return await self._servant.ask(message, self._limits.inference)
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
        zygote = await _Zygote.start(python, limits, drivers)
        if zygote.environment.fork:
            return Nursery(zygote.environment, zygote, limits)
        await zygote.close()
    spawner = _Spawner(python, limits, drivers)
    first = await spawner.make()
    nursery = Nursery(spawner.environment, spawner, limits)
    nursery._spare = asyncio.ensure_future(_made(first))
    return nursery


def _discard(made: asyncio.Task[Worker]) -> None:
    if not made.cancelled() and made.exception() is None:
        made.result().kill()


async def _made(worker: Worker) -> Worker:
    return worker


class _Process:
    """A process of ours in the user's interpreter, up to its hello."""

    def __init__(self, process: asyncio.subprocess.Process, ours: socket.socket, output: int) -> None:
        self.process = process
        self.connection = ours
        self.output = output
        """Read end of the pipe that is its standard output and error."""

    @classmethod
    async def start(cls, python: str, options: tuple[str, ...]) -> _Process:
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                python,
                str(_WORKER),
                "--fd",
                str(theirs.fileno()),
                *options,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            ours.close()
            os.close(reading)
            reason = getattr(error, "strerror", None) or error
            raise StartFailed(
                Fault(
                    FaultKind.ENVIRONMENT,
                    f"The interpreter {python} could not be started: {reason}",
                    help=_ANOTHER,
                    code="interpreter",
                )
            ) from error
        finally:
            theirs.close()
            os.close(writing)
        return cls(process, ours, reading)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    async def reap(self) -> Ending:
        """Wait for its end, and force it after a while."""
        try:
            async with asyncio.timeout(_PARTING):
                code = await self.process.wait()
        except TimeoutError:
            self.kill()
            code = await self.process.wait()
        return _ending(code)


def _ending(code: int) -> Ending:
    return Ending(status=code) if code >= 0 else Ending(signal=-code)


def _environment() -> dict[str, str]:
    """Ours, with what would change how the worker itself starts set aside for it to put back for the user's code."""
    env = dict(os.environ)
    for name in ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONSAFEPATH"):
        if name in env:
            env[_SAVED + name] = env.pop(name)
    # Sets that a compiler goes through come in one order in every process.
    env.update(PYTHONHASHSEED="0", PYTHONSAFEPATH="1")
    return env


def _hello(line: bytes, python: str, words: str) -> Environment:
    try:
        environment = msgspec.json.decode(line, type=Environment)
    except msgspec.MsgspecError:
        last = "\n".join(words.strip().splitlines()[-6:]) or "it said nothing"
        raise StartFailed(
            Fault(
                FaultKind.ENVIRONMENT,
                f"The interpreter {python} could not be used: {last}",
                help=_ANOTHER,
                code="interpreter",
            )
        ) from None
    if environment.protocol != _PROTOCOL:
        raise StartFailed(
            Fault(
                FaultKind.ENVIRONMENT,
                f"tile-lsp's worker speaks protocol {environment.protocol}, its server {_PROTOCOL}: reinstall tile-lsp",
                code="protocol",
            )
        )
    return environment


class _Zygote:
    """The warm process that forks."""

    environment: Environment

    def __init__(self, started: _Process, limits: Limits) -> None:
        self._started = started
        self._limits = limits
        self._control = started.connection
        self._control.setblocking(False)
        self._output = _Output(started.output, limits, started.kill)
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
    async def start(cls, python: str, limits: Limits, drivers: str) -> _Zygote:
        zygote = cls(await _Process.start(python, ("--drivers", drivers)), limits)
        try:
            try:
                async with asyncio.timeout(limits.start):
                    line = await zygote._greeting
            except TimeoutError:
                line = b""
            zygote.environment = _hello(line, python, zygote._output.text())
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
            raise StartFailed(_forker_gone()) from error
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
            raise StartFailed(_forker_gone())
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


def _forker_gone() -> Fault:
    return Fault(FaultKind.ENVIRONMENT, "The process that forks workers ended.", help="tile-lsp doctor", code="worker")


class _Spawner:
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
        started = await _Process.start(self._python, options)
        worker = Worker(self._limits, started.output)
        await worker.connect(started.connection)
        worker.born(started.process.pid)
        self._workers.add(worker)
        task = asyncio.ensure_future(self._watch(started, worker))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        if not self.alive:
            worker.kill()
            raise StartFailed(_forker_gone())
        try:
            try:
                async with asyncio.timeout(self._limits.start):
                    line = await worker._reader.readline()
            except (TimeoutError, ConnectionError):
                line = b""
            self.environment = _hello(line, self._python, worker.output())
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

    async def _watch(self, started: _Process, worker: Worker) -> None:
        code = await started.process.wait()
        worker.ended(_ending(code))
        self._workers.discard(worker)


if sys.platform == "win32":
    raise ImportError("tile-lsp's workers need a POSIX system")
