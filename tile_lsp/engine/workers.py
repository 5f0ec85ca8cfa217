"""Workers: processes in the user's interpreter that load kernels, type them, and hold their typed IR for code
generation.

Per interpreter there is one warm process that forks a worker for each inference (`nursery/`). A worker that
finished an inference becomes the *holder* of its IR. Whatever happens to a worker, the caller gets a value: an
`Inference` or a `Fault` with its last words.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Scalar
from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact, Fault, FaultKind, Inference

from .nursery import (
    Environment,
    FrontEndInfo,
    Limits,
    Lost,
    Nursery,
    StartFailed,
    ToolReport,
    Worker,
    start_hung,
    start_nursery,
)
from .singleflight import SingleFlight
from .stats import Counters
from .turns import Slots

__all__ = [
    "CodegenRequest",
    "Environment",
    "FrontEndInfo",
    "Generated",
    "Holder",
    "HolderGone",
    "InferRequest",
    "InferResult",
    "Limits",
    "ToolReport",
    "WorkerPool",
]

_DRIVERS = {frontend.name: drivers for frontend in FRONTENDS if (drivers := frontend.language.drivers)}
_Key = tuple[str, str]
"""An interpreter, and which drivers its process has."""
#: An interpreter that has not said anything for so long (s) is told to be waited for.
_SLOW = 3.0
#: An environment that was looked at this long ago (s) is looked at again before it is trusted.
_FRESH = 2.0
_LAST_WORDS = 4096
"""Characters of a dead worker's output that are looked at for its last words."""
_DUMP = re.compile(
    r"^(?:Current thread|Thread|Stack)\b.*\(most recent call first\):\n(?: +File .*\n| +\.\.\.\n)*"
    r"|^Extension modules: .*",
    re.MULTILINE,
)
_DUMPED_FRAME = re.compile(r'^ +File "(.+)", line (\d+) in ', re.MULTILINE)


class InferRequest(msgspec.Struct, frozen=True):
    frontend: str
    closure: Closure
    arguments: tuple[Argument, ...] = ()
    fields: Mapping[str, Scalar] = {}
    """Exactly those fields of the config that inference reads."""


class CodegenRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    hints: Mapping[str, Scalar] = {}
    """One that is absent is the kernel's own."""
    targets: tuple[str, ...] = ()
    """Architectures to check the kernel's dtypes for."""
    symbol: str | None = None
    part: str = ""
    """Of a front end that splits it: how far to go."""
    again: bool = False
    """A worker died of this request: what the compiler says is to get out as it is said, for its last words."""


class Generated(msgspec.Struct, frozen=True):
    blobs: Mapping[str, bytes]
    values: dict[str, Scalar] = {}
    """Plain values that the next tools' command lines depend on."""
    faults: dict[str, tuple[Fault, ...]] = {}
    """By target: what rules it out."""


class InferResult(msgspec.Struct, frozen=True):
    inference: Inference
    holder: Holder | None = None
    """None where there is no typed IR to hold."""
    options: dict[str, dict[str, Scalar]] = {}
    """The kernel's own hints: `{"default": {"num_ctas": None, "opt_level": 3}, "sm_100": {"num_ctas": 2}}`."""
    listings: asyncio.Task[Listings | Fault] | None = None
    """The texts of the IR, which come after the types; None where inference failed, and had its last words."""


class Listings(msgspec.Struct, frozen=True):
    """The IR as text, as far as the language has it."""

    hir: Artifact | None = None
    typed: Artifact | None = None


class HolderGone(Exception):
    """The worker that held the IR was evicted, or died: infer again. Its text are its last words, if it had any."""


class Holder:
    """A worker with the typed IR of one inference. It lives until it is evicted."""

    def __init__(self, worker: Worker, name: str, busy: bool) -> None:
        self._worker = worker
        self._name = name
        self._lock = asyncio.Lock()
        self._busy = busy
        self._wanted = 0
        """Who waits for something of it: it is not evicted before they have it."""
        self._listings: asyncio.Task[Listings | Fault] | None = None

    def rest(self) -> None:
        """Nothing is asked of it now: threads or processes of the user's would go on running for as long as the IR is
        held.
        """
        if self._busy:
            self._worker.pause()

    @property
    def alive(self) -> bool:
        return self._worker.alive

    def release(self) -> None:
        self._worker.kill()


class _InferAnswer(msgspec.Struct):
    inference: Inference = Inference()
    options: dict[str, dict[str, Scalar]] = {}
    busy: bool = False
    more: bool = False
    """The texts of the IR follow."""
    faults: tuple[Fault, ...] = ()
    error: str | None = None


class _ListingsAnswer(msgspec.Struct):
    listings: Listings = Listings()
    error: str | None = None


class _CodegenAnswer(msgspec.Struct):
    blobs: dict[str, str] = {}
    values: dict[str, Scalar] = {}
    faults: dict[str, tuple[Fault, ...]] | tuple[Fault, ...] = {}
    error: str | None = None


class WorkerPool:
    """All workers of one engine. Use it on one event loop; `close` it at the end."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        counters: Counters | None = None,
        on_waiting: Callable[[str, bool], None] = lambda python, begun: None,
    ) -> None:
        """`on_waiting` is told of an interpreter that takes its time to start, and once it is waited for no longer."""
        self.limits = limits or Limits()
        self._on_waiting = on_waiting
        self.starts = 0
        """Warm processes started, restarts included."""
        self._counters = counters or Counters()
        self._slots = Slots(self.limits.jobs or os.cpu_count() or 2)
        self._naming: SingleFlight[None] = SingleFlight()
        self._starting: dict[_Key, asyncio.Task[Nursery]] = {}
        self._giving_up: dict[_Key, asyncio.Event] = {}
        self._hung: dict[_Key, Fault] = {}
        """Those that never said a word: not tried again before something changed."""
        self._nurseries: dict[_Key, Nursery] = {}
        self._looked: dict[_Key, float] = {}
        self._holders: OrderedDict[int, Holder] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()
        self._listening: set[asyncio.Task[Listings | Fault]] = set()
        self._closed = False

    # -- what there is -----------------------------------------------------------------------------------------------

    async def environment(self, python: str, drivers: str = "") -> Environment | Fault:
        """What an interpreter is and has; it is started for that, once. Noticed when something is installed into it.

        `drivers`: which front ends are asked about, see `frontends.base.Language`.
        """
        try:
            return (await self._nursery(python, drivers)).environment
        except StartFailed as failure:
            return failure.fault

    def forget_environments(self) -> None:
        """Look at each interpreter again before it is next used."""
        self._looked.clear()
        self._hung.clear()

    def give_up(self, python: str) -> None:
        """Wait no longer for an interpreter that is being started."""
        for key, event in self._giving_up.items():
            if key[0] == python:
                event.set()

    async def versions(self, python: str, modules: Sequence[str]) -> Mapping[str, str]:
        """Distribution and version for each top-level import name that isn't Python's own; what isn't installed is
        left out.
        """
        try:
            nursery = await self._nursery(python)
        except StartFailed:
            return {}
        unknown = [name for name in modules if name not in nursery.versions]
        if unknown:
            # All kernels of a file ask for the same ones at once.
            await self._naming.run(f"{id(nursery)} {unknown}", lambda: self._name(nursery, unknown))
        return {name: version for name in modules if (version := nursery.versions.get(name)) is not None}

    async def _name(self, nursery: Nursery, modules: Sequence[str]) -> None:
        answer = await self._serve(nursery, {"op": "versions", "modules": modules})
        found = (answer or {}).get("versions", {})
        nursery.versions.update({name: found.get(name) for name in modules})

    async def parse(self, python: str, source: str, filename: str = "<unsaved>") -> Mapping[str, Any]:
        """`{"tree": …}` or `{"error": {"message", "line", "column", …}}`, by that interpreter's own grammar
        (`worker/syntax.py`).
        """
        try:
            nursery = await self._nursery(python)
        except StartFailed as failure:
            return {"error": {"message": failure.fault.message, "line": 1, "column": 0, "end_line": 1, "end_column": 0}}
        answer = await self._serve(nursery, {"op": "parse", "source": source, "filename": filename})
        return answer or {
            "error": {"message": "the parser ended early", "line": 1, "column": 0, "end_line": 1, "end_column": 0}
        }

    # -- work --------------------------------------------------------------------------------------------------------

    async def infer(self, python: str, request: InferRequest) -> InferResult:
        """Load and type a kernel in a fresh worker. Cancelling the caller kills the worker at once."""
        payload = msgspec.json.encode(
            {
                "op": "infer",
                "frontend": request.frontend,
                "closure": request.closure,
                "arguments": request.arguments,
                "fields": request.fields,
            }
        )
        async with self._slots:
            self._counters.inferences += 1
            self._counters.loads += 1
            for attempt in range(2):
                try:
                    nursery = await self._nursery(python, _DRIVERS.get(request.frontend, ""))
                    worker = await nursery.worker()
                except StartFailed as failure:
                    return InferResult(Inference(faults=(failure.fault,)))
                try:
                    answer = await worker.ask(payload, self.limits.inference, where=True)
                except Lost as lost:
                    worker.kill()
                    nursery.prepare()
                    # Its parent died of something else: that says nothing of this kernel.
                    if lost.with_parent and attempt == 0:
                        continue
                    return _lost(lost, request, worker)
                except BaseException:
                    worker.kill()
                    nursery.prepare()
                    raise
                result = self._inferred(answer, request, worker)
                if result.holder is None:
                    nursery.prepare()
                    return result
                listings = asyncio.ensure_future(self._listings(result.holder, nursery, _expected(request)))
                result.holder._listings = listings
                self._listening.add(listings)
                listings.add_done_callback(self._listening.discard)
                return msgspec.structs.replace(result, listings=listings)
        raise AssertionError("unreachable")

    async def _listings(self, holder: Holder, nursery: Nursery, expected: bytes | None) -> Listings | Fault:
        """The end of an inference's answer. Only then is another worker made: it would take the time of this one."""
        holder._wanted += 1
        try:
            answer = msgspec.json.decode(await holder._worker.hear(self.limits.inference), type=_ListingsAnswer)
        except (Lost, msgspec.MsgspecError) as error:
            self._drop(holder)
            return _bad_answer(str(error))
        finally:
            holder._wanted -= 1
            if not self._closed:
                nursery.prepare(expected)
        holder.rest()
        return _bad_answer(answer.error) if answer.error else answer.listings

    async def codegen(self, holder: Holder, request: CodegenRequest) -> Generated | Fault:
        """Blobs for one set of hints, from the IR that is held. Raises `HolderGone`."""
        holder._wanted += 1
        try:
            return await self._codegen(holder, request)
        finally:
            holder._wanted -= 1

    async def _codegen(self, holder: Holder, request: CodegenRequest) -> Generated | Fault:
        payload = msgspec.json.encode({"op": "codegen", **msgspec.to_builtins(request)})
        if holder._listings is not None:
            await asyncio.shield(holder._listings)
        async with holder._lock, self._slots:
            if not holder.alive:
                raise HolderGone
            self._counters.codegens += 1
            if id(holder) in self._holders:
                self._holders.move_to_end(id(holder))
            worker = holder._worker
            try:
                if holder._busy:
                    worker.resume()
                answer = await worker.ask(payload, self.limits.codegen)
                holder.rest()
            except Lost as lost:
                self._drop(holder)
                if lost.reason == "timeout":
                    return _timed_out("Generating code for", holder._name, self.limits.codegen, setting="tool")
                raise HolderGone(_last_words(worker.output())) from lost
            except BaseException:
                # Its answer would be taken for that of the next request.
                self._drop(holder)
                raise
        return _generated(answer)

    async def close(self) -> None:
        """End every process. No other method may be called from then on."""
        self._closed = True
        for holder in self._holders.values():
            holder.release()
        self._holders.clear()
        await asyncio.gather(*self._listening)
        for task in self._starting.values():
            task.cancel()
        started = await asyncio.gather(*self._starting.values(), return_exceptions=True)
        late = [nursery for nursery in started if isinstance(nursery, Nursery)]
        await asyncio.gather(*(nursery.close() for nursery in {*self._nurseries.values(), *late}), *self._closing)
        self._nurseries.clear()

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _nursery(self, python: str, drivers: str = "") -> Nursery:
        """The interpreter's warm process, started or restarted where need be; any number of callers, one start."""
        key = (python, drivers)
        nursery = self._nurseries.get(key)
        if nursery is not None and nursery.alive and await self._is_current(nursery, drivers):
            return nursery
        if key in self._hung:
            raise StartFailed(self._hung[key])
        task = self._starting.get(key)
        if task is None:
            task = self._starting[key] = asyncio.ensure_future(self._start(python, drivers))
            task.add_done_callback(lambda done: self._started(key, done))
        # Not cancelled with one of its callers: the others wait for it too.
        return await asyncio.shield(task)

    def _started(self, key: _Key, task: asyncio.Task[Nursery]) -> None:
        self._starting.pop(key, None)
        # All who waited for it may have gone.
        failure = task.exception() if not task.cancelled() else None
        if isinstance(failure, StartFailed) and failure.hung:
            self._hung[key] = failure.fault

    async def _start(self, python: str, drivers: str) -> Nursery:
        old = self._nurseries.pop((python, drivers), None)
        if old is not None:
            self._retire(old)
        self.starts += 1
        nursery = await self._started_in_time(python, drivers)
        self._looked[nursery.environment.executable, drivers] = asyncio.get_running_loop().time()
        self._nurseries[python, drivers] = nursery
        self._nurseries[nursery.environment.executable, drivers] = nursery
        nursery.prepare()
        return nursery

    async def _started_in_time(self, python: str, drivers: str) -> Nursery:
        """It is told that one is waited for, and who is told may give up."""
        start = asyncio.ensure_future(start_nursery(python, self.limits, drivers))
        try:
            if not (await asyncio.wait({start}, timeout=_SLOW))[0]:
                await self._wait_or_give_up(start, (python, drivers))
            return start.result()
        except BaseException:
            start.cancel()
            await asyncio.wait({start})
            if not start.cancelled() and start.exception() is None:
                await start.result().close()
            raise

    async def _wait_or_give_up(self, start: asyncio.Future[Nursery], key: _Key) -> None:
        given_up = self._giving_up[key] = asyncio.Event()
        giving_up = asyncio.ensure_future(given_up.wait())
        self._on_waiting(key[0], True)
        try:
            await asyncio.wait({start, giving_up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            giving_up.cancel()
            del self._giving_up[key]
            self._on_waiting(key[0], False)
        if not start.done():
            raise start_hung(key[0], "while somebody waited for it")

    async def _is_current(self, nursery: Nursery, drivers: str) -> bool:
        """False once something was installed into the interpreter, or a tool was replaced."""
        now = asyncio.get_running_loop().time()
        key = (nursery.environment.executable, drivers)
        if now - self._looked.get(key, -_FRESH) < _FRESH:
            return True
        self._looked[key] = now
        return await asyncio.to_thread(nursery.is_current)

    def _retire(self, nursery: Nursery) -> None:
        for name in [name for name, other in self._nurseries.items() if other is nursery]:
            del self._nurseries[name]
        task = asyncio.ensure_future(nursery.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _serve(self, nursery: Nursery, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """One request to the worker that runs no user code."""
        for _ in range(2):
            try:
                return msgspec.json.decode(await nursery.serve(msgspec.json.encode(message)))
            except (Lost, StartFailed):
                continue
        return None

    def _inferred(self, answer: bytes, request: InferRequest, worker: Worker) -> InferResult:
        try:
            decoded = msgspec.json.decode(answer, type=_InferAnswer)
        except msgspec.MsgspecError as error:
            worker.kill()
            return InferResult(Inference(faults=(_bad_answer(str(error)),)))
        inference = msgspec.structs.replace(decoded.inference, output=worker.output())
        faults = (*inference.faults, *decoded.faults, *((_bad_answer(decoded.error),) if decoded.error else ()))
        if faults or not decoded.more:
            worker.kill()
            return InferResult(msgspec.structs.replace(inference, faults=faults), options=decoded.options)
        holder = Holder(worker, request.closure.entry.qualname, decoded.busy)
        idle = [other for other in self._holders.values() if not other._wanted]
        for other in idle[: max(0, len(self._holders) + 1 - self.limits.holders)]:
            self._drop(other)
        self._holders[id(holder)] = holder
        return InferResult(inference, holder, decoded.options)

    def _drop(self, holder: Holder) -> None:
        self._holders.pop(id(holder), None)
        holder.release()


def _generated(answer: bytes) -> Generated | Fault:
    try:
        decoded = msgspec.json.decode(answer, type=_CodegenAnswer)
    except msgspec.MsgspecError as error:
        return _bad_answer(str(error))
    if decoded.error:
        return _bad_answer(decoded.error)
    if isinstance(decoded.faults, tuple):
        return decoded.faults[0]
    if "" in decoded.faults:
        return decoded.faults[""][0]
    blobs = {name: base64.b64decode(data) for name, data in decoded.blobs.items()}
    return Generated(blobs, decoded.values, decoded.faults)


def _bad_answer(words: str) -> Fault:
    return Fault(FaultKind.ENVIRONMENT, f"internal error of tile-lsp's worker: {words}", code="worker")


def _timed_out(what: str, name: str, seconds: float, chain: Chain = (), *, setting: str = "inference") -> Fault:
    return Fault(
        FaultKind.ENVIRONMENT,
        f"{what} {name} took longer than {seconds:g} s and was stopped.",
        chain,
        help=f"set tile-lsp.timeouts.{setting} to more seconds",
        code="timeout",
    )


def _expected(request: InferRequest) -> bytes | None:
    """What the next inference is told ahead: the members that an edit of the kernel leaves as they are. None where they
    are no Python, and so not the worker's to compile.
    """
    if request.frontend in _DRIVERS:
        return None
    closure = request.closure
    own = f"{closure.entry.module}/{closure.entry.expression}"
    members = [member for module in closure.modules for member in module.members if member.id != own]
    return msgspec.json.encode({"op": "expect", "members": members})


def _lost(lost: Lost, request: InferRequest, worker: Worker) -> InferResult:
    """A worker that gave no answer: what became of it, and where, if it could still say so."""
    name = request.closure.entry.qualname
    output = worker.output()
    members = {member.id for module in request.closure.modules for member in module.members}
    chain = _dumped(output, members)
    if lost.reason == "timeout":
        fault = _timed_out("Loading and typing", name, lost.seconds, chain)
    else:
        words = _last_words(output)
        message = f"The worker {lost.reason} while it loaded and typed {name}."
        fault = Fault(FaultKind.ENVIRONMENT, f"{message}\n{words}" if words else message, chain, code="crash")
    return InferResult(Inference(faults=(fault,), output=output))


def _last_words(output: str) -> str:
    """Its last lines, each no longer than a message can bear; without the frames that Python prints as it goes down,
    which the chain of places says better."""
    lines = [line for line in _DUMP.sub("", output)[-_LAST_WORDS:].strip().splitlines() if line][-8:]
    return "\n".join(line if len(line) <= 200 else f"{line[:200]}…" for line in lines)


def _dumped(output: str, members: Collection[str]) -> Chain:
    """The frames of the last traceback that the interpreter printed as it went down, those of the closure, innermost
    first.
    """
    start = max(output.rfind("(most recent call first)"), 0)
    frames = _DUMPED_FRAME.findall(output, start)
    return tuple(Place(file, int(line)) for file, line in frames if file in members)[:32]
