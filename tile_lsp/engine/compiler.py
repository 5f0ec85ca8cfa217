"""The job-keyed cache with shared inference: `compile_or_lookup`, step by step.

    closure + arguments ──infer──▶ inference entry ──codegen──▶ blobs ──tools──▶ blobs ──read──▶ artifact

Every step is keyed by exactly what it reads: inference by version, arguments and the fields that the front end names;
code generation by its inference entry and its own fields; a tool by its command line, its version and the *content* of
its inputs, so that equal bytecode means no assembler run. Every step is single-flight, here and across processes, and
cancelling the last caller stops the work.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

import msgspec

from tile_lsp.frontends.base import BlobsByTarget, SplitsCodegen
from tile_lsp.model.job import Scalar, digest
from tile_lsp.model.outcome import Artifact, Fault, FaultKind, Inference
from tile_lsp.model.stage import Stage

from .compilation import Compilation
from .disassembler import Disassembler
from .entries import Entries, Entry
from .environment import missing_tool
from .inputs import content
from .lru import Lru
from .own_tools import NAMES, own_tool
from .steps import Blobs, Steps, is_passing
from .store import Store
from .tools import Tool, Tools
from .turns import Slots
from .workers import CodegenRequest, HolderGone, WorkerPool

#: The blobs that the engine makes itself, whatever the front end.
DISASSEMBLY = "disassembly"
CUBIN = "cubin"
#: The text of the typed IR, which inference left: there before any code is generated.
TYPED = "typed"

_PATIENCE = 5.0
"""Seconds. About what inferring again costs at the most."""
_PARTING = 5.0
"""Seconds that the end of a session waits for what is being written down."""


class Compiler:
    """`infer`, `artifact` and `blob` are the cached ways in. A fault is a value that they return."""

    def __init__(self, pool: WorkerPool, store: Store, tools: Tools, disassembler: Disassembler) -> None:
        self._pool = pool
        self._store = store
        self._tools = tools
        self._disassembler = disassembler
        self._entries = Entries(pool, store)
        self._steps = Steps(store)
        #: More at a time would evict each other's typed IR.
        self._generating = Slots(max(1, pool.limits.holders // 2))
        self._artifacts: Lru[Artifact | Fault] = Lru(256)

    @property
    def running(self) -> int:
        return self._entries.running + self._steps.running

    async def close(self) -> None:
        """What was made is written down, and nothing is held any more."""
        if unfinished := {*self._entries.unfinished(), *self._steps.unfinished()}:
            await asyncio.wait(unfinished, timeout=_PARTING)
        self._entries.close()

    def forget_failures(self) -> None:
        """Let what failed for the environment's sake be tried again."""
        self._entries.forget_failures()
        self._steps.forget_failures()
        self._artifacts.drop(is_passing)

    def is_cached(self, compilation: Compilation) -> bool:
        """True unless it was inferred by this very process."""
        return self._entries.is_cached(compilation)

    async def infer(self, compilation: Compilation) -> Inference:
        """Types, HIR and typed IR, with the faults that ended inference, if any."""
        return (await self._entries.find(compilation)).inference

    async def blob(self, compilation: Compilation, name: str) -> bytes | Fault:
        """One of the blobs that stages are read from, by the front end's name for it."""
        return await self._blob(compilation, await self._entries.find(compilation), name)

    async def artifact(self, compilation: Compilation, stage: Stage) -> Artifact | Fault:
        """One stage of a job: looked up, or made by running just what is missing."""
        entry = await self._entries.find(compilation)
        if stage in (Stage.HIR, Stage.TYPED):
            whole = await self._entries.whole(entry)
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

    async def _generate(self, compilation: Compilation, entry: Entry, blob: str) -> Blobs | Fault:
        """The blobs of the worker's code generation that go with one, and its plain values as the blob `values`."""
        frontend, config = compilation.frontend, compilation.job.config
        parts = frontend if isinstance(frontend, SplitsCodegen) else None
        part = parts.part_of(blob) if parts is not None else ""
        fields = parts.part_fields(part, config) if parts is not None and part else frontend.codegen_fields(config)
        key = digest("codegen", entry.key, sorted(fields.items()), compilation.job.kernel, *([part] if part else ()))
        if not self._entries.is_held(entry) and not self._steps.is_known(key):
            await self._leave_to_holder(entry.key, key)
        return await self._steps.run(key, lambda: self._codegen(compilation, entry, fields, part))

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
            holder = await self._entries.holder(compilation, entry)
            if isinstance(holder, Fault):
                return holder
            try:
                generated = await self._pool.codegen(holder, request)
            except HolderGone as gone:
                self._entries.drop_holder(entry)
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
            whole = await self._entries.whole(entry)
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
        key = digest("tool", tool.name, tool.version, run.arguments, run.outputs, [content(b) for b in inputs.values()])
        outputs = await self._steps.run(key, lambda: self._tools.run(tool, run, inputs))
        return outputs if isinstance(outputs, Fault) else outputs.get(name, outputs.get("stdout", b""))

    async def _disassemble(self, compilation: Compilation, entry: Entry) -> bytes | Fault:
        cubin = await self._blob(compilation, entry, CUBIN)
        if isinstance(cubin, Fault):
            return cubin
        tool = compilation.environment.tools.get("nvdisasm")
        if tool is None:
            return missing_tool(compilation.environment, "nvdisasm")
        key = digest("disassembly", tool.version, content(cubin))
        made = await self._steps.run(key, lambda: self._disassembler.disassemble(tool, cubin))
        return made if isinstance(made, Fault) else made[DISASSEMBLY]

    def _prepare_disassembly(self, compilation: Compilation) -> None:
        """The disassembler builds its tables while the assembler runs."""
        tool = compilation.environment.tools.get("nvdisasm")
        target = compilation.job.config.target
        if tool is not None and target is not None:
            self._disassembler.prepare(tool, target)

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
                whole = whole and not is_passing(blob)
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


def _missing_blob(compilation: Compilation, name: str) -> Fault:
    return Fault(FaultKind.ENVIRONMENT, f"{compilation.job.frontend} made no {name} for {compilation.job.kernel}.")
