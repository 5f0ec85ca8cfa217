"""Triton and Gluon (`triton.jit`, `triton.experimental.gluon.jit`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.python import KernelSite, Workspace
from tile_lsp.frontends.base import JobSpec, Problem, ToolRun
from tile_lsp.frontends.python import PythonFrontEnd
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.settings import Settings
from tile_lsp.model.stage import Stage

from . import artifacts, hints, jobs, kernels, recipe, targets

__all__ = ["Triton"]


class Triton(PythonFrontEnd):
    """The front end; satisfies `frontends.base.FrontEnd`. Holds no state."""

    name = "triton"
    kernel_decorators = kernels.DECORATORS
    stages = recipe.STAGES
    targets = targets.TARGETS

    def check_config(self, config: Config) -> str | None:
        return hints.check_config(config)

    def is_kernel(self, site: KernelSite, workspace: Workspace) -> bool:
        return kernels.is_kernel(site, workspace)

    def inference_fields(
        self, config: Config, closure: Closure | None = None, arguments: Sequence[Argument] = ()
    ) -> Mapping[str, Scalar]:
        return recipe.inference_fields(config, closure, arguments)

    def codegen_fields(self, config: Config) -> Mapping[str, Scalar]:
        return recipe.codegen_fields(config)

    def tool_for(self, blob: str, config: Config, generated: Mapping[str, Scalar]) -> ToolRun | Fault | None:
        return recipe.tool_for(blob, config, generated)

    def passed_over(self, fault: Fault) -> str | None:
        return recipe.passed_over(fault)

    def blobs_for(self, stage: Stage) -> tuple[str, ...]:
        return recipe.blobs_for(stage)

    def stages_for_target(self, target: str | None) -> tuple[Stage, ...]:
        return recipe.stages_for(target)

    def blobs_for_target(self, stage: Stage, target: str | None) -> tuple[str, ...]:
        return recipe.blobs_for(stage, target)

    def read(self, stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
        return artifacts.read(stage, blobs)

    def job_specs(
        self, kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
    ) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
        return jobs.job_specs(kernel, workspace, comments, settings)
