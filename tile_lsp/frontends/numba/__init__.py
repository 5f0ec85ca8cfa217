"""Numba-CUDA (`numba.cuda`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.language import ClosureResult
from tile_lsp.analysis.python import KernelSite, Workspace, build_closure
from tile_lsp.frontends import llvm
from tile_lsp.frontends.base import JobSpec, Problem, ToolRun
from tile_lsp.frontends.python import PythonFrontEnd
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.settings import Settings
from tile_lsp.model.stage import Stage

from . import artifacts, decorators, hints, jobs, recipe, registrations, targets

__all__ = ["Numba"]


class Numba(PythonFrontEnd):
    """The front end; satisfies `frontends.base.FrontEnd`. Holds no state."""

    name = "numba"
    kernel_decorators = frozenset({"numba.cuda.jit", *decorators.UFUNCS})
    stages = recipe.STAGES
    targets = targets.TARGETS

    def check_config(self, config: Config) -> str | None:
        return hints.check_config(config)

    def closure(
        self, site: KernelSite, workspace: Workspace, bindings: Mapping[str, str], expressions: Sequence[str]
    ) -> ClosureResult:
        return build_closure(site, workspace, bindings, expressions, registrations.registers)

    def is_kernel(self, site: KernelSite, workspace: Workspace) -> bool:
        if site.decorator_name in decorators.UFUNCS:
            return decorators.is_for_cuda(site, workspace)
        return not (decorators.is_device(site, workspace) or decorators.is_helper(site, workspace))

    def inference_fields(
        self, config: Config, closure: Closure | None = None, arguments: Sequence[Argument] = ()
    ) -> Mapping[str, Scalar]:
        """None: types depend on neither target nor option."""
        return {}

    def codegen_fields(self, config: Config) -> Mapping[str, Scalar]:
        return recipe.codegen_fields(config)

    def part_of(self, blob: str) -> str:
        return recipe.part_of(blob)

    def part_fields(self, part: str, config: Config) -> Mapping[str, Scalar]:
        return recipe.part_fields(part, config)

    def tool_for(self, blob: str, config: Config, generated: Mapping[str, Scalar]) -> ToolRun | Fault | None:
        """LLVM's alone: the worker makes all others, for the linker is a library."""
        return llvm.tool_for(blob, config.target, optimized=False)

    def blobs_for(self, stage: Stage) -> tuple[str, ...]:
        return recipe.blobs_for(stage)

    def read(self, stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
        return artifacts.read(stage, blobs)

    def job_specs(
        self, kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
    ) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
        return jobs.job_specs(kernel, workspace, comments, settings)
