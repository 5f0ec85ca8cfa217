"""The job-keyed cache with shared inference: `compile_or_lookup`, step by step.

    closure + arguments ──infer──▶ inference entry ──codegen──▶ blobs ──tools──▶ blobs ──read──▶ artifact

Every step is keyed by exactly what it reads: inference by version, arguments and the fields that the front end names;
code generation by its inference entry and its own fields; a tool by its command line, its version and the *content* of
its inputs, so that equal bytecode means no assembler run. Every step is single-flight, here and across processes, and
cancelling the last caller stops the work.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import hashlib
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from tile_lsp.frontends.base import BlobsByTarget, FrontEnd, SplitsCodegen
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Job, Scalar, digest
from tile_lsp.model.outcome import Artifact, Fault, FaultKind, Inference
from tile_lsp.model.stage import Stage

from .disassembler import Disassembler
from .environment import compiler_fingerprint, missing_tool
from .lru import Lru
from .own_tools import NAMES, own_tool
from .singleflight import SingleFlight
from .stats import Counters
from .store import Store
from .tools import Tool, Tools
from .workers import CodegenRequest, Environment, Holder, HolderGone, InferRequest, Listings, WorkerPool

Blobs = Mapping[str, bytes]

#: The blobs that the engine makes itself, whatever the front end.
DISASSEMBLY = "disassembly"
CUBIN = "cubin"
#: The text of the typed IR, which inference left: there before any code is generated.
TYPED = "typed"


_MOST_CLAIMS = 16
"""As many as workers are kept with their typed IR."""
_PATIENCE = 5.0
"""Seconds. About what inferring again costs at the most."""
_HEAD_START = 0.001
"""Seconds that types get to reach who waits for them, before anything else is done about them."""
_PARTING = 5.0
"""Seconds that the end of a session waits for what is being written down."""


@dataclasses.dataclass(frozen=True)
class Compilation:
    """A job with what it takes to carry it out."""

    frontend: FrontEnd
    environment: Environment
    closure: Closure
    job: Job
    externals: tuple[tuple[str, str], ...] = ()
    """Third-party modules of the closure, with the versions of their distributions."""

    @functools.cached_property
    def inference_fields(self) -> Mapping[str, Scalar]:
        return self.frontend.inference_fields(self.job.config, self.closure, self.job.arguments)

    @functools.cached_property
    def inference_key(self) -> str:
        return digest("inference", self.specialisations_key, self.closure.version)

    @functools.cached_property
    def specialisations_key(self) -> str:
        """What inference reads, less the text of the closure."""
        return digest(
            "specialisations",
            self.job.frontend,
            self.closure.entry.module,
            self.closure.entry.qualname,
            self.job.arguments,
            sorted(self.inference_fields.items()),
            compiler_fingerprint(self.environment, self.job.frontend),
            self.externals,
        )


class Entry(NamedTuple):
    """An inference entry, under the key that code generation hangs on."""

    key: str
    inference: Inference
    base: str
    """The key that it is looked up by: `key`, less what was read from outside."""


class _Inferred(NamedTuple):
    """An entry whose types are there, and what is to come."""

    entry: Entry
    listings: asyncio.Task[Listings | Fault] | None
    """To be written down beside it."""


class _Specialisation(msgspec.Struct, frozen=True, array_like=True):
    """What one inference turned out to depend on: it holds for any version in which those functions are the same."""

    reached: tuple[str, ...]
    seen: str
    """`Closure.digest_of(reached)` at that time."""
    key: str


class Compiler:
    """`infer` and `artifact` are the cached ways in. A fault is a value that they return."""

    def __init__(
        self, pool: WorkerPool, store: Store, tools: Tools, disassembler: Disassembler, counters: Counters
    ) -> None:
        self._pool = pool
        self._store = store
        self._tools = tools
        self._disassembler = disassembler
        self._counters = counters
        self._entry_flights: SingleFlight[Entry] = SingleFlight()
        self._holder_flights: SingleFlight[Holder | Fault] = SingleFlight()
        self._step_flights: SingleFlight[Blobs | Fault] = SingleFlight()
        self._entries: Lru[Entry] = Lru(512)
        self._holders: Lru[Holder] = Lru(64)
        #: More at a time would evict each other's typed IR.
        self._generating = asyncio.Semaphore(max(1, pool.limits.holders // 2))
        self._blobs: Lru[Blobs | Fault] = Lru(256)
        self._artifacts: Lru[Artifact | Fault] = Lru(256)
        self._made_here: Lru[bool] = Lru(4096)
        self._completing: dict[str, asyncio.Task[Entry | Fault]] = {}
        """By the key that an entry is looked up by: its types are there, its texts or its file not yet."""
        self._writing: set[asyncio.Task[None]] = set()
        self._claims: Lru[int] = Lru(_MOST_CLAIMS, evicted=os.close)
        """By entry: what tells other processes that its typed IR is held here."""

    @property
    def running(self) -> int:
        return len(self._entry_flights) + len(self._holder_flights) + len(self._step_flights)

    async def close(self) -> None:
        """What was made is written down, and nothing is held any more."""
        if unfinished := {*self._completing.values(), *self._writing}:
            await asyncio.wait(unfinished, timeout=_PARTING)
        self._claims.drop_all()

    def forget_failures(self) -> None:
        """Let what failed for the environment's sake be tried again."""
        self._entries.drop(lambda entry: not _is_result(entry.inference))
        self._blobs.drop(_is_passing)
        self._artifacts.drop(_is_passing)

    def is_cached(self, compilation: Compilation) -> bool:
        """True unless it was inferred by this very process."""
        return self._made_here.get(compilation.inference_key) is None

    async def infer(self, compilation: Compilation) -> Inference:
        """Types, HIR and typed IR, with the faults that ended inference, if any."""
        return (await self._entry(compilation)).inference

    async def artifact(self, compilation: Compilation, stage: Stage) -> Artifact | Fault:
        """One stage of a job: looked up, or made by running just what is missing."""
        entry = await self._entry(compilation)
        if stage in (Stage.HIR, Stage.TYPED):
            whole = await self._whole(entry)
            if isinstance(whole, Fault):
                return whole
            entry = whole
        early = _from_inference(entry.inference, stage)
        if early is not None:
            return early
        key = _artifact_key(compilation, entry, stage)
        artifact = self._artifacts.get(key)
        if artifact is None:
            artifact, whole = await self._read(compilation, entry, stage)
            if whole:
                self._artifacts.put(key, artifact)
        return artifact

    # -- inference ---------------------------------------------------------------------------------------------------

    async def _entry(self, compilation: Compilation) -> Entry:
        key = compilation.inference_key
        entry = self._entries.get(key)
        if entry is not None and is_current(entry.inference):
            return entry
        return await self._entry_flights.run(key, lambda: self._find_entry(compilation, key))

    async def _find_entry(self, compilation: Compilation, key: str) -> Entry:
        entry = self._stored_entry(compilation, key)
        if entry is None:
            async with contextlib.AsyncExitStack() as held:
                await held.enter_async_context(self._store.lock(key))
                # Another process may have made it between our look and our lock.
                blobs = self._store.peek(key)
                entry = _decode_entry(key, blobs) if blobs is not None else None
                if entry is None:
                    inferred = await self._infer(compilation, key)
                    self._keep(compilation, key, inferred, held.pop_all())
                    return inferred.entry
        self._entries.put(key, entry)
        return entry

    def _stored_entry(self, compilation: Compilation, key: str) -> Entry | None:
        """From the store, by version; else an entry of another version that differs only in functions never reached."""
        blobs = self._store.get(key)
        if blobs is not None:
            entry = _decode_entry(key, blobs)
            if entry is not None:
                return entry
        seen = functools.cache(lambda reached: compilation.closure.digest_of(frozenset(reached)))
        for specialisation in self._specialisations(compilation):
            if seen(specialisation.reached) == specialisation.seen and specialisation.key != key:
                entry = self._entries.get(specialisation.key)
                if entry is not None and not is_current(entry.inference):
                    entry = None
                if entry is None and (blobs := self._store.get(specialisation.key)) is not None:
                    entry = _decode_entry(specialisation.key, blobs)
                if entry is not None:
                    return entry
        return None

    async def _infer(self, compilation: Compilation, key: str) -> _Inferred:
        result = await self._pool.infer(
            compilation.environment.executable,
            InferRequest(
                frontend=compilation.frontend.name,
                closure=compilation.closure,
                arguments=compilation.job.arguments,
                fields=dict(compilation.inference_fields),
            ),
        )
        entry = _entry_of(key, _with_our_environment(result.inference))
        self._entries.put(key, entry)
        self._made_here.put(key, True)
        if result.holder is not None:
            self._holders.put(entry.key, result.holder)
        return _Inferred(entry, result.listings)

    def _keep(self, compilation: Compilation, key: str, inferred: _Inferred, lock: contextlib.AsyncExitStack) -> None:
        """Complete an entry, and write it down, while its types are on their way to the user already. Other processes
        wait that long.
        """

        async def keep() -> Entry | Fault:
            async with lock:
                await asyncio.sleep(_HEAD_START)
                entry = inferred.entry
                if self._holders.get(entry.key) is not None and self._claims.get(entry.key) is None:
                    claim = self._store.claim(entry.key)
                    if claim >= 0:
                        self._claims.put(entry.key, claim)
                remembered = self._remember_specialisation(compilation, key, entry.inference)
                if inferred.listings is not None:
                    listings = await inferred.listings
                    if isinstance(listings, Fault):
                        self._entries.discard(key)
                        return listings
                    inference = msgspec.structs.replace(entry.inference, hir=listings.hir, typed=listings.typed)
                    entry = entry._replace(inference=inference)
                    self._entries.put(key, entry)
                if _is_result(entry.inference):
                    written = {key: {"inference": msgspec.json.encode(entry.inference)}, **remembered}
                    await asyncio.to_thread(self._write, written)
                return entry

        task = self._completing[key] = asyncio.ensure_future(keep())
        task.add_done_callback(lambda done: self._completing.pop(key) if self._completing.get(key) is done else None)

    def _write(self, entries: Mapping[str, Blobs]) -> None:
        for key, blobs in entries.items():
            self._store.put(key, blobs)

    async def _whole(self, entry: Entry) -> Entry | Fault:
        """The entry with the texts of its IR."""
        completing = self._completing.get(entry.base)
        if completing is not None:
            return await asyncio.shield(completing)
        if entry.inference.typed is not None or entry.inference.faults:
            return entry
        # It was taken over for another version before it was complete.
        known = self._entries.get(entry.base)
        if (known is None or known.inference.typed is None) and (blobs := self._store.peek(entry.base)) is not None:
            known = _decode_entry(entry.base, blobs)
        return known or entry

    def _specialisations(self, compilation: Compilation) -> tuple[_Specialisation, ...]:
        blobs = self._blobs.get(compilation.specialisations_key)
        if blobs is None:
            blobs = self._store.get(compilation.specialisations_key)
        if blobs is None or isinstance(blobs, Fault):
            return ()
        try:
            return msgspec.json.decode(blobs["specialisations"], type=tuple[_Specialisation, ...])
        except (KeyError, msgspec.MsgspecError):
            return ()

    def _remember_specialisation(self, compilation: Compilation, key: str, inference: Inference) -> Mapping[str, Blobs]:
        """What is to be written down of it."""
        if inference.faults:
            # A function may be refused before it is entered: a fault hangs on all of them.
            return {}
        reached = tuple(sorted(inference.reached))
        new = _Specialisation(reached, compilation.closure.digest_of(frozenset(reached)), key)
        kept = [old for old in self._specialisations(compilation) if old.seen != new.seen]
        blobs = {"specialisations": msgspec.json.encode([new, *kept[:31]])}
        self._blobs.put(compilation.specialisations_key, blobs)
        return {compilation.specialisations_key: blobs}

    async def _holder(self, compilation: Compilation, entry: Entry) -> Holder | Fault:
        """A worker that holds the typed IR of an entry; inferred again where no living worker does."""
        holder = self._holders.get(entry.key)
        if holder is not None and holder.alive:
            return holder
        return await self._holder_flights.run(entry.key, lambda: self._hold_again(compilation, entry))

    async def _hold_again(self, compilation: Compilation, entry: Entry) -> Holder | Fault:
        inferred = await self._infer(compilation, entry.base)
        self._keep(compilation, entry.base, inferred, contextlib.AsyncExitStack())
        holder = self._holders.get(entry.key)
        if holder is not None and holder.alive:
            return holder
        faults = inferred.entry.inference.faults
        return faults[0] if faults else Fault(FaultKind.ENVIRONMENT, "The worker ended early.")

    # -- code generation and tools -----------------------------------------------------------------------------------

    async def _generate(self, compilation: Compilation, entry: Entry, blob: str) -> Blobs | Fault:
        """The blobs of the worker's code generation that go with one, and its plain values as the blob `values`."""
        frontend, config = compilation.frontend, compilation.job.config
        parts = frontend if isinstance(frontend, SplitsCodegen) else None
        part = parts.part_of(blob) if parts is not None else ""
        fields = parts.part_fields(part, config) if parts is not None and part else frontend.codegen_fields(config)
        key = digest("codegen", entry.key, sorted(fields.items()), compilation.job.kernel, *([part] if part else ()))
        if self._holders.get(entry.key) is None and self._blobs.get(key) is None:
            await self._leave_to_holder(entry.key, key)
        return await self._step(key, lambda: self._codegen(compilation, entry, fields, part))

    async def _leave_to_holder(self, entry: str, key: str) -> None:
        """Another process that has just inferred an entry is likely to be about to generate its code: it needn't infer
        again for that, as we would. Wait a moment for what it makes.
        """
        patience = asyncio.get_running_loop().time() + _PATIENCE
        while self._store.peek(key) is None and self._store.is_claimed_elsewhere(entry):
            if asyncio.get_running_loop().time() > patience:
                return
            await asyncio.sleep(0.01)

    async def _codegen(
        self, compilation: Compilation, entry: Entry, fields: Mapping[str, Scalar], part: str
    ) -> Blobs | Fault:
        hints = {name: value for name, value in fields.items() if name not in ("symbol", "target")}
        target = fields.get("target")
        request = CodegenRequest(
            hints=hints,
            targets=(str(target),) if target is not None else compilation.frontend.targets,
            symbol=str(fields.get("symbol") or _default_symbol(compilation.job.kernel)),
            part=part,
        )
        async with self._generating:
            return await self._generated(compilation, entry, request)

    async def _generated(self, compilation: Compilation, entry: Entry, request: CodegenRequest) -> Blobs | Fault:
        words = ""
        for _ in range(2):
            holder = await self._holder(compilation, entry)
            if isinstance(holder, Fault):
                return holder
            try:
                generated = await self._pool.codegen(holder, request)
            except HolderGone as gone:
                self._holders.discard(entry.key)
                words = str(gone)
                request = msgspec.structs.replace(request, again=True)
                continue
            if isinstance(generated, Fault):
                return generated
            return {**generated.blobs, "values": msgspec.json.encode(_Values(generated.values, generated.faults))}
        message = f"The worker ended twice while it generated code for {compilation.job.kernel}."
        return Fault(FaultKind.ENVIRONMENT, f"{message}\n{words}" if words else message, code="crash")

    async def _blob(self, compilation: Compilation, entry: Entry, name: str) -> bytes | Fault:
        """One named blob of a job, made from the blobs before it."""
        if name == TYPED:
            whole = await self._whole(entry)
            if isinstance(whole, Fault):
                return whole
            if whole.inference.typed is not None:
                return whole.inference.typed.text.encode()
        generated = await self._generate(compilation, entry, name)
        if isinstance(generated, Fault):
            return generated
        target = compilation.job.config.target
        values = msgspec.json.decode(generated["values"], type=_Values)
        if target is not None and target in values.faults:
            return values.faults[target][0]
        if name == DISASSEMBLY:
            return await self._disassemble(compilation, entry)
        run = compilation.frontend.tool_for(name, compilation.job.config, values.of(target))
        if isinstance(run, Fault):
            return run
        if run is None:
            return generated[name] if name in generated else _missing_blob(compilation, name)
        tool = _tool(compilation, run.tool)
        if isinstance(tool, Fault):
            return tool
        inputs: dict[str, bytes] = {}
        for needed in run.inputs:
            blob = await self._blob(compilation, entry, needed)
            if isinstance(blob, Fault):
                return blob
            inputs[needed] = blob
        key = digest(
            "tool", tool.name, tool.version, run.arguments, run.outputs, [_content(b) for b in inputs.values()]
        )
        outputs = await self._step(key, lambda: self._tools.run(tool, run, inputs))
        return outputs if isinstance(outputs, Fault) else outputs.get(name, outputs.get("stdout", b""))

    async def _disassemble(self, compilation: Compilation, entry: Entry) -> bytes | Fault:
        cubin = await self._blob(compilation, entry, CUBIN)
        if isinstance(cubin, Fault):
            return cubin
        tool = compilation.environment.tools.get("nvdisasm")
        if tool is None:
            return missing_tool(compilation.environment, "nvdisasm")
        key = digest("disassembly", tool.version, _content(cubin))
        made = await self._step(key, lambda: self._disassembler.disassemble(tool, cubin))
        return made if isinstance(made, Fault) else made[DISASSEMBLY]

    def _prepare_disassembly(self, compilation: Compilation) -> None:
        """The disassembler builds its tables while the assembler runs."""
        tool = compilation.environment.tools.get("nvdisasm")
        target = compilation.job.config.target
        if tool is not None and target is not None:
            self._disassembler.prepare(tool, target)

    async def _step(self, key: str, attempt: Callable[[], Awaitable[Blobs | Fault]]) -> Blobs | Fault:
        """A step looked up in memory, then in the store, then run, by one caller in one process."""
        known = self._blobs.get(key)
        if known is not None:
            return known
        return await self._step_flights.run(key, lambda: self._find_or_run(key, attempt))

    async def _find_or_run(self, key: str, attempt: Callable[[], Awaitable[Blobs | Fault]]) -> Blobs | Fault:
        stored = self._store.get(key)
        made: Blobs | Fault
        if stored is None:
            async with contextlib.AsyncExitStack() as held:
                await held.enter_async_context(self._store.lock(key))
                stored = self._store.peek(key)
                if stored is None:
                    made = await attempt()
                    if not _is_passing(made):
                        self._write_down(key, made, held.pop_all())
                else:
                    made = _decode_step(stored)
        else:
            made = _decode_step(stored)
        self._blobs.put(key, made)
        return made

    def _write_down(self, key: str, made: Blobs | Fault, lock: contextlib.AsyncExitStack) -> None:
        """Nobody here waits for the file; other processes do, by the lock."""

        async def write() -> None:
            async with lock:
                await asyncio.to_thread(self._store.put, key, _encode_step(made))

        task = asyncio.ensure_future(write())
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _read(self, compilation: Compilation, entry: Entry, stage: Stage) -> tuple[Artifact | Fault, bool]:
        """False beside it where something was left out that may be there another time."""
        whole = True
        blobs: dict[str, bytes] = {}
        frontend = compilation.frontend
        needed = (
            frontend.blobs_for_target(stage, compilation.job.config.target)
            if isinstance(frontend, BlobsByTarget)
            else frontend.blobs_for(stage)
        )
        if DISASSEMBLY in needed:
            self._prepare_disassembly(compilation)
        names = [name.removesuffix("?") for name in needed]
        made = await asyncio.gather(*(self._blob(compilation, entry, name) for name in names))
        for wanted, name, blob in zip(needed, names, made, strict=True):
            if not isinstance(blob, Fault):
                blobs[name] = blob
            elif wanted == name:
                return blob, True
            else:
                blobs[wanted] = "\n".join(filter(None, (blob.message, blob.help))).encode()
                whole = whole and not _is_passing(blob)
        try:
            # In a thread: a listing of some thousand lines takes longer to read than a hover may wait.
            return await asyncio.to_thread(compilation.frontend.read, stage, blobs), whole
        except ValueError as error:
            message = f"The {stage} of {compilation.job.kernel} can't be read: {error}"
            return Fault(FaultKind.ENVIRONMENT, message), True


class _Values(msgspec.Struct, frozen=True):
    """What code generation says beside its blobs."""

    values: dict[str, Scalar]
    faults: dict[str, tuple[Fault, ...]] = {}
    """By target: what rules it out."""

    def of(self, target: str | None) -> dict[str, Scalar]:
        return dict(self.values)


def _tool(compilation: Compilation, name: str) -> Tool | Fault:
    """Of the server's own, else of the user's interpreter."""
    if name in NAMES:
        return own_tool(name)
    return compilation.environment.tools.get(name) or missing_tool(compilation.environment, name)


def _artifact_key(compilation: Compilation, entry: Entry, stage: Stage) -> str:
    return digest("artifact", entry.key, compilation.job.config, compilation.job.toolchain, stage)


def _from_inference(inference: Inference, stage: Stage) -> Artifact | Fault | None:
    """What the inference entry itself answers for a stage."""
    if stage is Stage.HIR and inference.hir is not None:
        return inference.hir
    if inference.faults:
        return inference.faults[0]
    return inference.typed if stage is Stage.TYPED else None


def _default_symbol(kernel: str) -> str:
    """Assemblers take letters of ASCII only."""
    return re.sub(r"\W", "_", kernel.rpartition(".")[2], flags=re.ASCII)


def _is_result(inference: Inference) -> bool:
    return all(fault.kind is FaultKind.USER for fault in inference.faults)


def _is_passing(value: object) -> bool:
    return isinstance(value, Fault) and value.kind is FaultKind.ENVIRONMENT


def _decode_entry(key: str, blobs: Blobs) -> Entry | None:
    try:
        entry = _entry_of(key, msgspec.json.decode(blobs["inference"], type=Inference))
    except (KeyError, msgspec.MsgspecError):
        return None
    return entry if is_current(entry.inference) else None


def _entry_of(base: str, inference: Inference) -> Entry:
    """What code read from outside is in the key of all that is made from it."""
    key = (
        digest("inputs", base, [(kind, made_of) for kind, _, made_of in inference.inputs]) if inference.inputs else base
    )
    return Entry(key, inference, base)


def is_current(inference: Inference) -> bool:
    """False if a file or a variable that the kernel's code read is another one by now."""
    return all(_input(kind, name) == made_of for kind, name, made_of in inference.inputs)


def _input(kind: str, name: str) -> str:
    if kind == "environment":
        value = os.environ.get(name)
        return "" if value is None else _content(os.fsencode(value))
    try:
        status = os.stat(name)
        return _file_content(name, status.st_mtime_ns, status.st_size)
    except OSError:
        return ""


@functools.lru_cache(maxsize=256)
def _file_content(name: str, modified: int, size: int) -> str:
    """Asked for at each keystroke: a file that was not written is not read again."""
    return _content(Path(name).read_bytes())


def _with_our_environment(inference: Inference) -> Inference:
    """Less the variables that the worker has set for itself: they say nothing about the user's."""
    kept = tuple(one for one in inference.inputs if one[0] != "environment" or _input(one[0], one[1]) == one[2])
    return inference if kept == inference.inputs else msgspec.structs.replace(inference, inputs=kept)


def _encode_step(made: Blobs | Fault) -> Blobs:
    return {"!fault": msgspec.json.encode(made)} if isinstance(made, Fault) else made


def _decode_step(stored: Blobs) -> Blobs | Fault:
    return msgspec.json.decode(stored["!fault"], type=Fault) if "!fault" in stored else stored


def _content(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def _missing_blob(compilation: Compilation, name: str) -> Fault:
    return Fault(FaultKind.ENVIRONMENT, f"{compilation.job.frontend} made no {name} for {compilation.job.kernel}.")
