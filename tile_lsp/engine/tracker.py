"""One kernel of one file over time: what is known of it now, and the work that brings it up to date.

    update(analysis) ─▶ plan ─▶ infer the active job ─▶ the other jobs ─▶ (idle) code generation: resources

An update that leaves jobs equal replaces the positions and starts nothing. One that does not replaces the work in
flight. Broken text starts nothing either: the last good types stay, at the lines that still stand.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

import msgspec

from tile_lsp.analysis.language import Blocked, PositionMap
from tile_lsp.analysis.snapshot import JobView, KernelView, State
from tile_lsp.analysis.stale import NoPositions, StalePositions
from tile_lsp.frontends.base import Readings, Tunes
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Job
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Artifact, Fault, FaultKind, Inference
from tile_lsp.model.stage import Stage

from .analyse import FileAnalysis, KernelAnalysis
from .compiler import TYPED, Compiler
from .inputs import is_current
from .lru import Lru
from .planner import Plan, PlannedJob, Planner, no_target
from .turns import Turn, on_turn

log = logging.getLogger(__name__)

#: How many of a kernel's jobs have their code generated before somebody asks: an autotuner may have a hundred.
_AHEAD = 8
#: Readings that are worked out from faults, at the most.
_MOST_READINGS = 48
#: Of those, the ones that come before what is assumed without a fault.
_FEW_READINGS = 8
#: Those whose code is generated, where the first has none.
_MOST_GENERATED = 8


class _Shown(NamedTuple):
    """The last types that were true, with the text that they were true of."""

    inference: Inference
    positions: PositionMap
    lines: tuple[str, ...]


class KernelTracker:
    """Owned by a session; all methods run on the event loop. `notify` is called when the view is another one."""

    def __init__(
        self,
        compiler: Compiler,
        planner: Planner,
        notify: Callable[[KernelTracker, bool], None],
        *,
        idle_delay: float | None,
    ) -> None:
        self._compiler = compiler
        self._planner = planner
        self._notify = notify
        self._idle_delay = idle_delay
        self._analysis: KernelAnalysis | None = None
        self._planned_from: KernelAnalysis | None = None
        self._file: FileAnalysis | None = None
        self._shown: _Shown | None = None
        self._plan = Plan()
        self._selected: Job | None = None
        self._inferences: dict[str, Inference] = {}
        self._mended: tuple[Argument, ...] = ()
        """What worked last, where the first guess does not."""
        self._artifacts: dict[str, dict[Stage, Artifact]] = {}
        self._faults: dict[str, Fault] = {}
        self._closures: Lru[Closure] = Lru(16)
        self._files_read: frozenset[str] = frozenset()
        self._work: asyncio.Task[None] | None = None
        self._inferred = asyncio.Event()
        self._view: KernelView | None = None
        self._turn = Turn()

    # -- edits -------------------------------------------------------------------------------------------------------

    def update(self, analysis: KernelAnalysis, file: FileAnalysis) -> None:
        """Take in a new text."""
        self._analysis = analysis
        self._file = file
        self._view = None
        if not self._readable:
            self._stop()
            self._inferred.set()
            self._notify(self, True)
            return
        result = analysis.result
        assert result is not None
        assert result.closure is not None
        outside = self._outside_stands()
        if outside and self._planned_from is not None and self._stands(self._planned_from, analysis):
            self._keep_shown()
            self._notify(self, False)
            return
        self._stop()
        self._planned_from = analysis
        self._inferred.clear()
        self._work = asyncio.ensure_future(self._guarded(analysis))

    @staticmethod
    def _stands(planned: KernelAnalysis, analysis: KernelAnalysis) -> bool:
        """True if what was started, or is done, for an earlier text is right for this one."""
        return (
            planned.result is not None
            and analysis.result is not None
            and planned.result.closure == analysis.result.closure
            and planned.specs == analysis.specs
            and planned.settings == analysis.settings
        )

    def _outside_stands(self) -> bool:
        """False if a file or a variable that the kernel's code read is another one by now: what hung on it goes."""
        gone = [key for key, inference in self._inferences.items() if not is_current(inference)]
        for key in gone:
            del self._inferences[key]
            self._artifacts.pop(key, None)
        return not gone

    def files_read(self) -> frozenset[str]:
        """What the kernel's code read while it was loaded; until that is known anew, what it read before as well."""
        inputs = (one for inference in self._inferences.values() for one in inference.inputs)
        found = frozenset(name for kind, name, _ in inputs if kind == "file")
        self._files_read = found if self._all_inferred(self._plan) else found | self._files_read
        return self._files_read

    def look_outside(self, paths: Collection[str]) -> None:
        """Start again if one of these files was read, or is being read, and is another one by now."""
        if self.files_read().isdisjoint(paths):
            return
        if not self._outside_stands() or not self._all_inferred(self._plan):
            self.retry()

    @property
    def _readable(self) -> bool:
        result = self._analysis.result if self._analysis else None
        return result is not None and result.closure is not None

    @property
    def busy(self) -> bool:
        return self._work is not None and not self._work.done()

    def retry(self) -> None:
        """Start again, though nothing changed in the text."""
        analysis, file = self._analysis, self._file
        if analysis is not None and file is not None:
            self._planned_from = None
            self.update(analysis, file)

    def prepare(self) -> None:
        """Work out what the first question after inference would wait for. Any thread may do that."""
        result = self._analysis.result if self._analysis is not None else None
        if result is not None:
            result.positions.prepare()

    def close(self) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._work is not None:
            if not self._work.done():
                self._planned_from = None
            self._work.cancel()
            self._work = None

    # -- work --------------------------------------------------------------------------------------------------------

    async def _guarded(self, analysis: KernelAnalysis) -> None:
        """A fault of our own is shown where the user looks, and logged whole; the next edit starts afresh."""
        try:
            with on_turn(self._turn):
                await self._bring_up_to_date(analysis)
        except Exception as error:
            log.exception("%s: internal error", self.name)
            self._plan = Plan(
                fault=Fault(FaultKind.ENVIRONMENT, f"internal error of tile-lsp: {error!r}", code="internal")
            )
            self._planned_from = None
            self._inferred.set()
            self._changed()

    async def _bring_up_to_date(self, analysis: KernelAnalysis) -> None:
        plan = await self._planner.plan(analysis)
        for planned in plan.jobs:
            self._closures.put(planned.view.job.version, planned.compilation.closure)
        if plan.keys == self._plan.keys and plan.fault is None and self._all_inferred(plan):
            # The same jobs: an edit to a comment, a settings change that changed nothing here.
            self._plan = plan
        else:
            self._plan = plan
            self._forget_all_but(plan)
        self._changed()
        if plan.jobs:
            waiting = set(range(len(plan.jobs)))
            while waiting:
                # Another job may have been made the active one meanwhile: it comes next.
                index = self._active_index if self._active_index in waiting else min(waiting)
                waiting.discard(index)
                await self._infer(index)
                if self._active_index not in waiting:
                    self._inferred.set()
                self._changed()
            await self._generate_when_idle()
        else:
            self._inferred.set()
            self._changed()

    async def _infer(self, index: int) -> None:
        """Types of one job; if they fail on assumed arguments, those of the first alternative that works."""
        planned = self._plan.jobs[index]
        key = planned.view.job.key
        if key in self._inferences:
            return
        inference = await self._compiler.infer(planned.compilation)
        if inference.faults and inference.faults[0].kind is FaultKind.USER:
            planned, inference = await self._other_reading(planned, inference)
            if planned is not self._plan.jobs[index]:
                jobs = list(self._plan.jobs)
                jobs[index] = planned
                self._plan = Plan(tuple(jobs), self._plan.fault)
                key = planned.view.job.key
        self._inferences[key] = inference

    async def _other_reading(self, first: PlannedJob, failed: Inference) -> tuple[PlannedJob, Inference]:
        """One that is typed, if there is one; else one that gets into the kernel, where the first did not."""
        shown = (first, failed)
        furthest = (_progress(failed), first, failed)
        tried = {first.view.job.arguments}

        async def attempt(arguments: tuple[Argument, ...]) -> Inference | None:
            nonlocal shown, furthest
            tried.add(arguments)
            other = first.assuming(arguments)
            inference = await self._compiler.infer(other.compilation)
            if inference.faults and inference.faults[0].kind is not FaultKind.USER:
                return None
            # What ends before the kernel's first statement says less of it than what gets into it.
            if not inference.faults or (inference.types and not shown[1].types):
                shown = (other, inference)
            if _progress(inference) > furthest[0]:
                furthest = (_progress(inference), other, inference)
            if not inference.faults:
                self._mended = arguments
            return inference

        # What mended another config, or the text before this one, most likely mends this one; then comes what the fault
        # itself suggests.
        likely = itertools.islice(_after(first, failed.faults[0]), _FEW_READINGS)
        for arguments in (*self._last_mended(first), *likely, *first.alternatives):
            if arguments in tried:
                continue
            made = await attempt(arguments)
            # One that takes too long, or has no worker: the next one would be no better.
            if made is None or not made.faults:
                return shown
        left = _MOST_READINGS
        while left:
            start, base, ended = furthest
            for arguments in _after(base, ended.faults[0]):
                if arguments in tried or not left:
                    continue
                left -= 1
                made = await attempt(arguments)
                if made is None or not made.faults:
                    return shown
                if furthest[0] > start:
                    break
            else:
                break
        return shown

    def _last_mended(self, planned: PlannedJob) -> tuple[tuple[Argument, ...], ...]:
        """What worked before, with what is said now in place of what was said then."""
        if [argument.name for argument in self._mended] != [a.argument.name for a in planned.view.arguments]:
            return ()
        pairs = zip(planned.view.arguments, self._mended, strict=True)
        return (tuple(old if one.origin == "assumed" else one.argument for one, old in pairs),)

    async def _generate_when_idle(self) -> None:
        """Resources, and what the assembler has to say, once nobody types."""
        if self._idle_delay is None:
            return
        await asyncio.sleep(self._idle_delay)
        active = self._active_index
        first = sorted(range(len(self._plan.jobs)), key=lambda index: index != active)[:_AHEAD]
        for planned in [self._plan.jobs[index] for index in first]:
            job = planned.view.job
            if self._inferences[job.key].faults:
                continue
            if job.config.target is None:
                # What is wrong though all types are known is found without a target, too.
                frontend = planned.compilation.frontend
                for stage in [one for one in frontend.stages if frontend.blobs_for(one) == (TYPED,)][:1]:
                    await self._generate(planned, stage)
                    self._changed()
            else:
                if Stage.TTGIR in planned.compilation.frontend.stages:
                    # Hovers tell layouts from it; it is there once code is generated.
                    await self._generate(planned, Stage.TTGIR)
                await self._generate_somehow(planned, Stage.RESOURCES)
                if self._wants_llvm and Stage.LLVM_REMARKS in planned.compilation.frontend.stages:
                    await self._generate(planned, Stage.LLVM_REMARKS)
                self._changed()

    async def _generate_somehow(self, planned: PlannedJob, stage: Stage) -> Artifact | Fault:
        """One stage of a job; where it fails on assumed arguments, that of the first other reading that has it."""
        made = await self._generate(planned, stage)
        job = planned.view.job
        known = self._inferences.get(job.key)
        is_typed = known is not None and not known.faults
        if not isinstance(made, Fault) or made.kind is not FaultKind.USER or not is_typed:
            return made
        if self._told(planned, made) is not made:
            # Another config may do.
            return made
        for arguments in itertools.islice(self._after_generation(planned, made), _MOST_GENERATED):
            other = planned.assuming(arguments)
            inference = await self._compiler.infer(other.compilation)
            if inference.faults:
                continue
            instead = await self._compiler.artifact(other.compilation, stage)
            if isinstance(instead, Fault):
                if instead.kind is not FaultKind.USER:
                    break
                continue
            self._faults.pop(job.key, None)
            self._inferences[other.view.job.key] = inference
            self._artifacts.setdefault(other.view.job.key, {})[stage] = instead
            self._plan = Plan(tuple(other if each is planned else each for each in self._plan.jobs), self._plan.fault)
            self._mended = arguments
            self._changed()
            return instead
        return made

    def _after_generation(self, planned: PlannedJob, fault: Fault) -> Iterator[tuple[Argument, ...]]:
        seen = {planned.view.job.arguments}
        suggested = tuple(_after(planned, fault))
        # Of a fault that suggests nothing, nothing is to be hoped for.
        others = planned.alternatives if suggested else ()
        for one in (*self._last_mended(planned), *suggested, *others):
            if one not in seen:
                seen.add(one)
                yield one

    @property
    def _wants_llvm(self) -> bool:
        return self._analysis is not None and self._analysis.settings.llvm_remarks

    async def _generate(self, planned: PlannedJob, stage: Stage) -> Artifact | Fault:
        job = planned.view.job
        made = await self._compiler.artifact(planned.compilation, stage)
        if isinstance(made, Fault):
            self._faults[job.key] = made
        else:
            self._faults.pop(job.key, None)
            self._artifacts.setdefault(job.key, {})[stage] = made
        self._view = None
        return made

    def _all_inferred(self, plan: Plan) -> bool:
        return all(key in self._inferences for key in plan.keys)

    def _forget_all_but(self, plan: Plan) -> None:
        known = set(plan.keys)
        self._inferences = {key: value for key, value in self._inferences.items() if key in known}
        self._faults = {key: value for key, value in self._faults.items() if key in known}
        self._artifacts = {key: value for key, value in self._artifacts.items() if key in known}

    def _changed(self) -> None:
        self._keep_shown()
        self._view = None
        self._notify(self, True)

    def _keep_shown(self) -> None:
        inference = self._current_inference
        if inference is not None:
            assert self._analysis is not None
            assert self._analysis.result is not None
            assert self._file is not None
            self._shown = _Shown(inference, self._analysis.result.positions, self._file.lines)

    async def inferred(self) -> None:
        """Until the types of the active job are those of the text."""
        await self._inferred.wait()

    async def settled(self) -> None:
        """Until nothing is queued or running, idle work included."""
        while self.busy:
            assert self._work is not None
            await asyncio.wait([self._work])  # raises nothing of the work's, and leaves it alone when cancelled

    # -- questions ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        assert self._analysis is not None
        return self._analysis.site.qualname

    @property
    def path(self) -> str:
        assert self._analysis is not None
        return self._analysis.site.path

    def ask(self) -> None:
        """Somebody looks at it: it comes before those that nobody does."""
        self._turn.ask()

    def is_in(self, first: int, last: int) -> bool:
        """True if some of its lines (1-based) are from `first` to `last`."""
        return self._analysis is not None and (
            self._analysis.site.span.line <= last and first <= self._analysis.site.span.end_line
        )

    def select(self, index: int) -> None:
        """Make another job the one that hovers and hints follow."""
        if 0 <= index < len(self._plan.jobs):
            self.ask()
            self._selected = self._plan.jobs[index].view.job
            if self.busy and self._selected.key not in self._inferences:
                self._inferred.clear()
            self._changed()

    async def artifact(self, stage: Stage, job: Job | None = None) -> Artifact | Fault:
        """One stage of the active job, or of a job of this kernel as it is now or was lately."""
        if self._analysis is not None and not self._readable:
            return self._stale_artifact(stage, job)
        self.ask()
        with on_turn(self._turn):
            return await self._made(stage, job)

    async def _made(self, stage: Stage, job: Job | None) -> Artifact | Fault:
        await self._inferred.wait()
        if self._plan.fault is not None:
            return self._plan.fault
        planned = self._planned_for(job) if job is not None else self._plan.jobs[self._active_index]
        if planned is None:
            return Fault(
                FaultKind.USER,
                f"This version of {self.name} is gone: its text changed since the view was pinned.",
                help="Unpin the view to follow the kernel.",
                code="gone",
            )
        needs_target = set(planned.compilation.frontend.blobs_for(stage)) - {TYPED}
        if planned.view.job.config.target is None and needs_target:
            assert self._analysis is not None
            return no_target(self._analysis)
        made = await self._generate_somehow(planned, stage)
        return self._told(planned, made) if isinstance(made, Fault) else made

    def _told(self, planned: PlannedJob, fault: Fault) -> Fault:
        """The fault of a job; of one that is tried with others as what it is then, while there is one that may do."""
        frontend = planned.compilation.frontend
        words = frontend.passed_over(fault) if planned.tuned and isinstance(frontend, Tunes) else None
        if words is None:
            return fault
        own = planned.view.job
        rivals = [other.view.job for other in self._plan.jobs if other.tuned and other.view.job != own]
        if all(self._has_failed(rival) for rival in rivals if rival.config.target == own.config.target):
            return fault
        return msgspec.structs.replace(fault, message=words, passed_over=True)

    def _has_failed(self, job: Job) -> bool:
        inference = self._inferences.get(job.key)
        return job.key in self._faults or (inference is not None and bool(inference.faults))

    def _planned_for(self, job: Job) -> PlannedJob | None:
        for planned in self._plan.jobs:
            if planned.view.job == job:
                return planned
        template = self._plan.jobs[0] if self._plan.jobs else None
        if template is None:
            return None
        closure = self._closures.get(job.version)
        if closure is None:
            return None
        compilation = dataclasses.replace(template.compilation, job=job, closure=closure)
        return PlannedJob(JobView(job, (), job.config.target or ""), compilation)

    def _stale_artifact(self, stage: Stage, job: Job | None) -> Artifact | Fault:
        key = job.key if job is not None else self._plan.keys[self._active_index] if self._plan.jobs else ""
        known = self._artifacts.get(key, {}).get(stage)
        if known is not None:
            return known
        blocked = self._blocked
        if blocked is not None:
            return _blocking_fault(blocked)
        return Fault(FaultKind.USER, f"{self.name} can't be read as it stands: it has a syntax error.", code="syntax")

    @property
    def _active_index(self) -> int:
        """The selected job, or the one most like it after an edit: the one of the same config."""
        if self._selected is not None:
            jobs = [planned.view.job for planned in self._plan.jobs]
            for index, job in enumerate(jobs):
                if (job.arguments, job.config) == (self._selected.arguments, self._selected.config):
                    return index
            for index, job in enumerate(jobs):
                if job.config == self._selected.config:
                    return index
        return 0

    @property
    def _current_inference(self) -> Inference | None:
        """Of the active job, once it is that of the text."""
        if not self._plan.jobs or not self._readable or not self._inferred.is_set():
            return None
        return self._inferences.get(self._plan.jobs[self._active_index].view.job.key)

    @property
    def view(self) -> KernelView:
        if self._view is None:
            self._view = self._make_view()
        return self._view

    def _make_view(self) -> KernelView:
        assert self._analysis is not None
        assert self._file is not None
        site = self._analysis.site
        result = self._analysis.result
        inference = self._current_inference
        faults: tuple[Fault, ...] = (self._plan.fault,) if self._plan.fault is not None else ()
        if not self._readable:
            blocked = self._blocked
            state = State.STALE if blocked is None or blocked.syntax else State.BLOCKED
            # This file's own syntax errors are shown in their own place.
            if blocked is not None and not (blocked.syntax and blocked.at and blocked.at.path == site.path):
                faults = (_blocking_fault(blocked),)
        elif self._plan.fault is not None:
            state = State.BLOCKED
        elif inference is None:
            state = State.COMPILING
        else:
            state = State.FAILED if inference.faults else State.FRESH
            if inference.faults:
                active = self._plan.jobs[self._active_index]
                faults = tuple(self._told(active, fault) for fault in inference.faults)
                inference = msgspec.structs.replace(inference, faults=faults)
        positions: PositionMap = NoPositions()
        if inference is not None and result is not None:
            positions = result.positions
        elif self._shown is not None:
            inference = self._shown.inference
            positions = StalePositions(site.path, self._shown.positions, self._shown.lines, self._file.lines)
        elif result is not None:
            positions = result.positions
        return KernelView(
            frontend=self._analysis.frontend.name,
            name=site.qualname,
            path=site.path,
            span=site.span,
            name_span=site.name_span,
            parameters=tuple((parameter.name, parameter.span) for parameter in site.parameters),
            state=state,
            positions=positions,
            jobs=tuple(self._job_view(planned) for planned in self._plan.jobs),
            active=self._active_index,
            inference=inference,
            cached=bool(self._plan.jobs) and self._compiler.is_cached(self._plan.jobs[self._active_index].compilation),
            faults=faults,
            notes=result.closure.notes if result is not None and result.closure is not None else (),
        )

    def _job_view(self, planned: PlannedJob) -> JobView:
        view = planned.view
        key = view.job.key
        inference = self._inferences.get(key)
        own = () if inference is None or planned is self._plan.jobs[self._active_index] else inference.faults
        generation = (self._faults[key],) if key in self._faults and not (inference and inference.faults) else ()
        made, faults = self._artifacts.get(key, {}), tuple(self._told(planned, fault) for fault in (*own, *generation))
        written = {**view.written, **dict(self._in_settings(view, inference))}
        return JobView(view.job, view.arguments, view.label, made, faults, written)

    def _in_settings(self, view: JobView, inference: Inference | None) -> Iterator[tuple[str, SourceRange]]:
        """Where arguments of settings are written that faults are of."""
        assert self._analysis is not None
        wrong = {fault.argument for fault in inference.faults} if inference is not None else set()
        for one in view.arguments if wrong - {None} else ():
            name = one.argument.name
            if name in wrong and one.origin == "settings" and (place := self._analysis.written(("arguments", name))):
                yield name, place

    @property
    def _blocked(self) -> Blocked | None:
        result = self._analysis.result if self._analysis else None
        return result.blocked_by if result is not None else None


def _after(planned: PlannedJob, fault: Fault) -> Iterable[tuple[Argument, ...]]:
    """Readings that a fault suggests."""
    others = planned.alternatives
    if not isinstance(others, Readings):
        return ()
    return others.after(planned.compilation.closure, planned.view.job.arguments, fault)


def _progress(inference: Inference) -> tuple[int, int]:
    """How far into the kernel an inference came: the line of its own text, and how much it typed."""
    chain = inference.faults[0].chain if inference.faults else ()
    return (chain[-1].line if chain else 0, len(inference.types))


def _blocking_fault(blocked: Blocked) -> Fault:
    if blocked.newer:
        return Fault(FaultKind.ENVIRONMENT, blocked.message, help=blocked.help, code="python")
    return Fault(FaultKind.USER, blocked.message, help=blocked.help, code="syntax" if blocked.syntax else "closure")
