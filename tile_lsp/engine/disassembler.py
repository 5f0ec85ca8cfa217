"""Disassembly: nvdisasm, several code sections a run, and parked ahead of time where the system can (see `parked.py`).

For each architecture in use one nvdisasm waits with its tables built: a request costs some milliseconds instead of some
hundred. Once one is used the next is started. Parking is tried once for each version of the tool, against a cold
run; wherever it does not behave exactly so, that version is started cold from then on. Requests that arrive while a run
for their architecture is under way are put together into the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tile_lsp.analysis import cubin as elf
from tile_lsp.analysis import disassembly
from tile_lsp.analysis.disassembly import Texts
from tile_lsp.frontends.base import ToolRun
from tile_lsp.model.outcome import Fault, FaultKind

from .launcher import Launcher
from .stats import Counters
from .tools import Tool, Tools, environment

DISASSEMBLY = "disassembly"
_HELPER = Path(__file__).with_name("parked.py")
#: `EXIT`, a branch to itself, `NOP`: the same on all architectures from sm_70 on. What parking is tried with.
_KNOWN_CODE = b"".join(
    word.to_bytes(8, "little")
    for word in (0x000000000000794D, 0x000FEA0003800000, 0xFFFFFFF000007947, 0x000FC0000383FFFF)
) + 6 * b"".join(word.to_bytes(8, "little") for word in (0x0000000000007918, 0x000FC00000000000))


#: Seconds for a process to be parked, which its helper gives up before.
_START = 300.0
#: Seconds in which requests are gathered for one run, which takes ten (parked) to two hundred times as long.
_GATHER = 0.002

_T = TypeVar("_T")


class _Key(NamedTuple):
    """What one run needs to be the same."""

    path: str
    version: str
    arch: str


class _Request(NamedTuple):
    codes: tuple[bytes, ...]
    answer: asyncio.Future[list[Texts] | Fault]


class _Broken(Exception):
    """Parking does not work as it should."""


class Disassembler:
    """`runs` counts what happened: `warm` and `cold` runs, `batched` requests that shared one, processes `parked`."""

    def __init__(
        self,
        counters: Counters,
        launcher: Launcher,
        *,
        park: bool = sys.platform == "linux",
        most_parked: int = 4,
        idle: float = 300.0,
        limit: float = 60.0,
    ) -> None:
        """`idle`: seconds after which an unused parked process is dropped. `limit`: seconds for one run."""
        self.runs: Counter[str] = Counter()
        self._counters = counters
        self._tools = Tools(counters, launcher, timeout=limit)
        self._trial_tools = Tools(Counters(), launcher, timeout=limit)
        self._park = park
        self._most_parked = most_parked
        self._idle = idle
        self._limit = limit
        self._pending: dict[_Key, list[_Request]] = {}
        self._runners: dict[_Key, asyncio.Task[None]] = {}
        self._parked: dict[_Key, asyncio.Task[_Parked]] = {}
        self._sound: dict[tuple[str, str], bool] = {}
        self._trials: dict[tuple[str, str], asyncio.Task[bool]] = {}
        self._timers: dict[_Key, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._endings: set[asyncio.Task[None]] = set()
        self._closed = False

    async def disassemble(self, tool: Tool, cubin: bytes) -> dict[str, bytes] | Fault:
        """The blob `disassembly` of one cubin, for `analysis.disassembly.decode`."""
        try:
            read = await asyncio.to_thread(elf.read, cubin)
        except ValueError as error:
            return Fault(FaultKind.ENVIRONMENT, f"The cubin can't be read: {error}.", help="tile-lsp doctor")
        texts = await self.texts(tool, read.arch, disassembly.sections(read))
        return texts if isinstance(texts, Fault) else {DISASSEMBLY: disassembly.encode(texts)}

    async def texts(self, tool: Tool, arch: str, codes: Sequence[bytes]) -> list[Texts] | Fault:
        """Raw disassembly of code sections of one architecture (`"sm_90"`), a text an instruction.

        Cancelling the last caller that waits for a run stops it.
        """
        if self._closed:
            return Fault(FaultKind.ENVIRONMENT, "The disassembler has been shut down.")
        if not any(codes):
            return [()] * len(codes)
        key = _Key(tool.path, tool.version, arch)
        request = _Request(tuple(codes), asyncio.get_running_loop().create_future())
        self._pending.setdefault(key, []).append(request)
        if key not in self._runners:
            self._runners[key] = self._start(self._run_pending(key, tool))
        return await request.answer

    def prepare(self, tool: Tool, arch: str) -> None:
        """Have a process parked, since disassembly for this architecture is likely to be wanted soon. Never waits."""
        if self._park and not self._closed:
            self._start(self._ensure_parked(_Key(tool.path, tool.version, arch), tool))

    async def settled(self) -> None:
        """Until nothing is being started, tried or run: for tests and measurements."""
        while waiting := {t for t in (*self._tasks, *self._endings, *self._parked.values()) if not t.done()}:
            await asyncio.wait(waiting)

    async def close(self) -> None:
        """End all processes and wait until they are gone."""
        self._closed = True
        for key in [*self._timers]:
            self._stop_timer(key)
        for request in (r for requests in self._pending.values() for r in requests):
            request.answer.cancel()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(self._drop(key) for key in [*self._parked]))
        await asyncio.gather(*self._endings)

    async def _run_pending(self, key: _Key, tool: Tool) -> None:
        """One run after the other until no request for `key` is left."""
        try:
            await asyncio.sleep(_GATHER)
            while requests := self._pending.pop(key, None):
                if alive := [r for r in requests if not r.answer.done()]:
                    await self._answer(key, tool, alive)
        finally:
            del self._runners[key]
            for request in self._pending.pop(key, ()):
                request.answer.cancel()

    async def _answer(self, key: _Key, tool: Tool, requests: Sequence[_Request]) -> None:
        """Answer all, by one run."""
        run = self._start(self._run(key, tool, [code for r in requests for code in r.codes]))

        def stop_if_unwanted(_: object) -> None:
            if all(r.answer.cancelled() for r in requests):
                run.cancel()

        for request in requests:
            request.answer.add_done_callback(stop_if_unwanted)
        try:
            await asyncio.wait({run})
        except asyncio.CancelledError:
            run.cancel()
            for request in requests:
                request.answer.cancel()
            raise
        if run.cancelled():
            return
        if error := run.exception():
            for request in requests:
                if not request.answer.done():
                    request.answer.set_exception(error)
            return
        texts = run.result()
        if isinstance(texts, Fault) and len(requests) > 1:
            # One damaged section must not cost the others their answer.
            for request in requests:
                if not request.answer.done():
                    await self._answer(key, tool, [request])
            return
        if len(requests) > 1:
            self.runs["batched"] += len(requests)
        at = 0
        for request in requests:
            end = at + len(request.codes)
            if not request.answer.done():
                request.answer.set_result(texts if isinstance(texts, Fault) else texts[at:end])
            at = end

    async def _run(self, key: _Key, tool: Tool, codes: Sequence[bytes]) -> list[Texts] | Fault:
        try:
            code = disassembly.combine(codes)
        except ValueError as error:
            return Fault(FaultKind.ENVIRONMENT, f"The cubin can't be disassembled: {error}.", help="tile-lsp doctor")
        try:
            texts = await self._run_parked(key, tool, code, codes)
            if texts is None:
                self.runs["cold"] += 1
                return await self._run_cold(self._tools, tool, key.arch, code, codes)
            return texts
        finally:
            # The next request is to find one parked.
            self.prepare(tool, key.arch)

    async def _run_parked(self, key: _Key, tool: Tool, code: bytes, codes: Sequence[bytes]) -> list[Texts] | None:
        """None if there is no parked process, or it failed."""
        starting = self._parked.pop(key, None)
        self._stop_timer(key)
        if starting is None:
            return None
        try:
            # One that is still building its tables is sooner ready than a new one.
            parked = await starting
            try:
                output = await parked.run(code, self._limit)
            finally:
                # Its end is nobody's wait, nor to be cancelled.
                ending = asyncio.ensure_future(parked.end())
                self._endings.add(ending)
                ending.add_done_callback(self._endings.discard)
            texts = await asyncio.to_thread(disassembly.split, output, codes)
        except (_Broken, ValueError):
            self._sound[key.path, key.version] = False
            return None
        self.runs["warm"] += 1
        self._counters.tools[tool.name] += 1
        return texts

    async def _run_cold(
        self, tools: Tools, tool: Tool, arch: str, code: bytes, codes: Sequence[bytes]
    ) -> list[Texts] | Fault:
        architecture = disassembly.architecture(arch)
        run = ToolRun(tool.name, ("-b", architecture, "{code}"), ("code",), ("stdout",))
        made = await tools.run(tool, run, {"code": code})
        if isinstance(made, Fault):
            return _fault(f"nvdisasm could not disassemble code for {arch}: {made.message}", made.help, made.code)
        try:
            return await asyncio.to_thread(disassembly.split, made["stdout"].decode("utf-8", "replace"), codes)
        except ValueError as error:
            return _fault(f"nvdisasm's output for {arch} was not understood: {error}.")

    async def _ensure_parked(self, key: _Key, tool: Tool) -> None:
        if key in self._parked or not await self._is_sound(key, tool):
            return
        while len(self._parked) >= self._most_parked and key not in self._parked:
            await self._drop(next(iter(self._parked)))
        if key in self._parked or self._closed:
            return
        self.runs["parked"] += 1
        starting = self._parked[key] = asyncio.ensure_future(_Parked.start(tool, key.arch))
        starting.add_done_callback(lambda task: self._started(key, task))

    async def _is_sound(self, key: _Key, tool: Tool) -> bool:
        """Whether parking works for this tool: known code, warm and cold, must come out the same. Tried once."""
        identity = (key.path, key.version)
        if identity not in self._sound:
            if identity not in self._trials:
                self._trials[identity] = self._start(self._try_parking(key, tool))
            await asyncio.wait({self._trials[identity]})
        return self._sound.get(identity, False)

    async def _try_parking(self, key: _Key, tool: Tool) -> bool:
        identity = (key.path, key.version)
        try:
            cold = await self._run_cold(self._trial_tools, tool, key.arch, _KNOWN_CODE, [_KNOWN_CODE])
            if isinstance(cold, Fault):
                # That says nothing of parking: the tool may not know the architecture. Another request tries again.
                return False
            sound = False
            with contextlib.suppress(_Broken, ValueError):
                parked = await _Parked.start(tool, key.arch)
                try:
                    output = await parked.run(_KNOWN_CODE, self._limit)
                finally:
                    await parked.end()
                sound = disassembly.split(output, [_KNOWN_CODE]) == cold
            self._sound[identity] = sound
            return sound
        finally:
            del self._trials[identity]

    def _started(self, key: _Key, task: asyncio.Task[_Parked]) -> None:
        # A failure is dealt with by whoever takes the process; here it only counts as seen.
        if not task.cancelled() and task.exception() is None and self._parked.get(key) is task and not self._closed:
            self._timers[key] = task.get_loop().call_later(self._idle, self._drop_later, key)

    def _drop_later(self, key: _Key) -> None:
        self._start(self._drop(key))

    async def _drop(self, key: _Key) -> None:
        """End a parked process, or stop it from being started."""
        task = self._parked.pop(key, None)
        self._stop_timer(key)
        if task is not None:
            task.cancel()
            for done in await asyncio.gather(task, return_exceptions=True):
                if isinstance(done, _Parked):
                    await done.end()

    def _stop_timer(self, key: _Key) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()

    def _start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class _Parked:
    """One parked process with its helper. Used once."""

    def __init__(self, helper: asyncio.subprocess.Process, folder: str) -> None:
        self._helper = helper
        self._folder = folder

    @classmethod
    async def start(cls, tool: Tool, arch: str) -> _Parked:
        """Raises `_Broken` where it can't be done."""
        why = "no folder"
        for base in _folders():
            try:
                folder = tempfile.mkdtemp(prefix="tile-lsp-nvdisasm-", dir=base)
                try:
                    parked = cls(await _helper(tool, arch, folder), folder)
                except BaseException:
                    shutil.rmtree(folder, ignore_errors=True)
                    raise
            except OSError as error:
                why = str(error)
                continue
            try:
                why = await parked._said(_START)
            except BaseException:
                await parked.end()
                raise
            if why == "ready":
                return parked
            await parked.end()
        raise _Broken(why)

    async def run(self, code: bytes, limit: float) -> str:
        """Raises `_Broken` if nvdisasm does not end well."""
        assert self._helper.stdin is not None
        try:
            self._helper.stdin.write(len(code).to_bytes(8, "little") + code)
            await self._helper.stdin.drain()
        except OSError as error:
            raise _Broken(str(error)) from error
        said = await self._said(limit)
        if said != "done 0":
            raise _Broken(said)
        try:
            return await asyncio.to_thread((Path(self._folder) / "out").read_text, "utf-8", "replace")
        except OSError as error:
            raise _Broken(str(error)) from error

    async def end(self) -> None:
        """End of input makes the helper end nvdisasm and remove the folder; one that does not is killed."""
        await asyncio.shield(asyncio.ensure_future(self._end()))

    async def _end(self) -> None:
        assert self._helper.stdin is not None
        self._helper.stdin.close()
        try:
            await asyncio.wait_for(self._helper.wait(), 5)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._helper.kill()
            await self._helper.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _said(self, limit: float) -> str:
        assert self._helper.stdout is not None
        try:
            line = await asyncio.wait_for(self._helper.stdout.readline(), limit)
        except TimeoutError:
            return f"nothing within {limit:g} s"
        return line.decode("utf-8", "replace").strip() or "the helper ended"


async def _helper(tool: Tool, arch: str, folder: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        str(_HELPER),
        tool.path,
        disassembly.architecture(arch),
        folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(tool.env),
        start_new_session=True,
    )


def _folders() -> list[str]:
    """Where parking is tried: some file systems (network, overlay) have no leases; memory has."""
    shared = "/dev/shm"
    return list(dict.fromkeys([tempfile.gettempdir(), *([shared] if Path(shared).is_dir() else [])]))


def _fault(message: str, mends: str | None = None, code: str | None = None) -> Fault:
    return Fault(
        FaultKind.ENVIRONMENT,
        message,
        help=mends or "install nvidia-cuda-nvdisasm in the version of nvidia-cuda-tileiras",
        code=code or "nvdisasm",
    )
