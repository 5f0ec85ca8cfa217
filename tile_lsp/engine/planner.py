"""From a kernel's analysis to the jobs it stands for: version, targets and toolchain put in place."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from tile_lsp.analysis.snapshot import ArgumentView, JobView
from tile_lsp.frontends.base import JobSpec
from tile_lsp.model.closure import Closure, Loading
from tile_lsp.model.job import Argument, Config, Job, digest
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Fault, FaultKind

from .analyse import KernelAnalysis
from .compilation import Compilation
from .device import local_target
from .environment import environment_for, toolchain_fingerprint
from .turns import Line
from .workers import Environment, WorkerPool


class PlannedJob(NamedTuple):
    view: JobView
    compilation: Compilation
    alternatives: Sequence[tuple[Argument, ...]] = ()
    """Other arguments to assume, should inference fail with these."""
    tuned: bool = False
    """See `JobSpec.tuned`."""

    def assuming(self, arguments: tuple[Argument, ...]) -> PlannedJob:
        """The same job for other assumed arguments."""
        job = Job(
            self.view.job.frontend,
            self.view.job.kernel,
            self.view.job.version,
            arguments,
            self.view.job.config,
            self.view.job.toolchain,
        )
        # Why the first guess was made says nothing of another one.
        views = tuple(
            ArgumentView(argument, old.origin, old.detail if argument == old.argument else _INSTEAD)
            for argument, old in zip(arguments, self.view.arguments, strict=True)
        )
        view = JobView(job, views, self.view.label, written=self.view.written)
        return PlannedJob(view, dataclasses.replace(self.compilation, job=job), self.alternatives, self.tuned)


_INSTEAD = "what was assumed first does not compile"


class Plan(NamedTuple):
    """The jobs of a kernel, or why nothing can run."""

    jobs: tuple[PlannedJob, ...] = ()
    fault: Fault | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(planned.view.job.key for planned in self.jobs)


class Planner:
    """Answers at once where the interpreter is known already; else its worker is started first."""

    def __init__(self, pool: WorkerPool, roots: tuple[str, ...], trusted: bool) -> None:
        self._pool = pool
        self._roots = roots
        self._trusted = trusted
        self._device: asyncio.Task[str | None] | None = None
        self._line = Line()
        """Of kernels that waited for one interpreter: who is planned first is the first to be inferred."""

    async def plan(self, analysis: KernelAnalysis) -> Plan:
        assert analysis.result is not None
        closure = analysis.result.closure
        blocked = self._blocked(analysis, closure)
        if blocked is not None:
            return Plan(fault=blocked)
        path, python = analysis.site.path, analysis.settings.python
        environment = await environment_for(self._pool, path, self._roots, python, analysis.frontend.name)
        if isinstance(environment, Fault):
            return Plan(fault=environment)
        versions = await self._pool.versions(environment.executable, closure.externals) if closure.externals else {}
        externals = tuple(sorted(versions.items()))
        target = await self._default_target(analysis)
        await self._line.stand()
        jobs = [
            _planned(analysis, environment, closure, externals, spec, _with_target(config, target))
            for spec in analysis.specs
            for config in spec.configs
        ]
        # Two configs may be one once the default target is in place.
        return Plan(tuple({planned.view.job.key: planned for planned in jobs}.values()))

    def _blocked(self, analysis: KernelAnalysis, closure: Closure) -> Fault | None:
        if not self._trusted:
            return Fault(
                FaultKind.ENVIRONMENT,
                "This workspace is not trusted, so its code is not executed: types and code generation are off.",
                help="Trust the workspace (in VS Code: Workspaces: Manage Workspace Trust).",
                code="untrusted",
            )
        if closure.loading is Loading.IMPORT and analysis.settings.loading == "slice":
            return Fault(
                FaultKind.ENVIRONMENT,
                f"{analysis.site.qualname} can only be had by importing its module, which the settings forbid.",
                help='set tile-lsp.loading to "auto"',
                code="loading",
            )
        return None

    async def _default_target(self, analysis: KernelAnalysis) -> str | None:
        """The local device's, asked for once and only where some config needs it."""
        if all(config.target for spec in analysis.specs for config in spec.configs):
            return None
        if self._device is None:
            self._device = asyncio.ensure_future(local_target())
        return await asyncio.shield(self._device)


def no_target(analysis: KernelAnalysis) -> Fault:
    """Why a kernel has none: what was named is none, or nothing was."""
    kernel = analysis.site.qualname
    refused = [said for name in _named_targets(analysis) if (said := analysis.frontend.check_config(Config(name)))]
    none = "; ".join(dict.fromkeys(refused)) or "there is no GPU here whose architecture could be taken"
    return Fault(
        FaultKind.ENVIRONMENT,
        f"{kernel} has no target: {none}." if refused else f"{kernel} has no target, and {none}.",
        help='Add target=sm_90 to its "# tile-lsp:" comment, set tile-lsp.targets, or give --target sm_90.',
        code="target",
    )


def _named_targets(analysis: KernelAnalysis) -> list[str]:
    """By its comments, and by the settings."""
    items = [item for spec in analysis.specs if spec.comment is not None for item in spec.comment.items]
    values = [item.value for item in items if item.name.removeprefix("@") == "target"]
    named = [part.strip() for value in values for part in value.split(",")]
    return [*named, *analysis.settings.for_kernel(analysis.site.qualname, analysis.site.path).targets]


def _with_target(config: Config, target: str | None) -> Config:
    return config if config.target is not None else Config(target, config.hints, config.symbol)


def _planned(
    analysis: KernelAnalysis,
    environment: Environment,
    closure: Closure,
    externals: tuple[tuple[str, str], ...],
    spec: JobSpec,
    config: Config,
) -> PlannedJob:
    job = Job(
        analysis.frontend.name,
        analysis.site.qualname,
        digest("version", closure.version, externals) if externals else closure.version,
        spec.arguments,
        config,
        toolchain_fingerprint(environment, analysis.frontend.name),
    )
    views = tuple(
        ArgumentView(argument, origin.kind, origin.detail)
        for argument, origin in zip(spec.arguments, spec.origins, strict=True)
    )
    items = spec.comment.items if spec.comment is not None else ()
    written = {i.name: SourceRange(analysis.site.path, i.value_span) for i in items if i.value_span.line}
    view = JobView(job, views, label_of(config, spec, analysis.specs), written=written)
    compilation = Compilation(analysis.frontend, environment, closure, job, externals)
    return PlannedJob(view, compilation, spec.alternatives, spec.tuned)


def label_of(config: Config, spec: JobSpec, specs: tuple[JobSpec, ...]) -> str:
    """Short, and different for each job of a kernel: the config, and those arguments that tell the specs apart."""
    parts = [config.target or "no target", *(f"{name}={value}" for name, value in config.hints)]
    if len(specs) > 1:
        columns = itertools.zip_longest(*(other.arguments for other in specs))
        differing = {i for i, column in enumerate(columns) if len(set(column)) > 1}
        parts += [f"{a.name}={a.spec}" for i, a in enumerate(spec.arguments) if i in differing]
    return " · ".join(parts)
