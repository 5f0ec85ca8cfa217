"""CUDA C++ (`.cu`, `.cuh`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.cuda import KernelSite, Workspace, build_closure, find_kernels, job_comments
from tile_lsp.analysis.language import ClosureResult, CommentLine, TextProblem
from tile_lsp.analysis.python import Workspace as PythonWorkspace
from tile_lsp.frontends.base import JobSpec, Problem, ToolRun
from tile_lsp.frontends.python import PYTHON
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.settings import Settings
from tile_lsp.model.stage import Stage

from . import artifacts, hints, jobs, recipe, strings, targets

__all__ = ["Cuda", "CudaInPython"]

SUFFIXES = (".cu", ".cuh")


class CudaText:
    """The language; satisfies `frontends.base.Language`. Holds no state."""

    drivers = "cuda"
    words = frozenset({"__global__"})

    def claims(self, path: str) -> bool:
        return path.endswith(SUFFIXES)

    def workspace(
        self,
        path: str,
        read: Callable[[str], str | None],
        *,
        roots: Sequence[str],
        editable: Mapping[str, str],
        settings: Settings,
    ) -> Workspace:
        return Workspace(path, read, roots, settings.cuda)

    def problems(self, path: str, workspace: Workspace) -> Iterable[TextProblem]:
        return workspace.problems(path)

    def job_comments(self, path: str, workspace: Workspace) -> Iterable[CommentLine]:
        file = workspace.file(path)
        return job_comments(file) if file is not None else ()


class Cuda:
    """The front end; satisfies `frontends.base.FrontEnd`. Holds no state."""

    name = "cuda"
    language = CudaText()
    comment = "//"
    stages = recipe.STAGES
    targets = targets.TARGETS

    def find_kernels(self, path: str, workspace: Workspace) -> tuple[KernelSite, ...]:
        return find_kernels(path, workspace)

    def closure(
        self, site: KernelSite, workspace: Workspace, bindings: Mapping[str, str], expressions: Sequence[str]
    ) -> ClosureResult:
        return build_closure(site, workspace, bindings, expressions)

    def check_config(self, config: Config) -> str | None:
        return hints.check_config(config)

    def inference_fields(
        self, config: Config, closure: Closure | None = None, arguments: Sequence[Argument] = ()
    ) -> Mapping[str, Scalar]:
        return recipe.inference_fields(config, closure)

    def codegen_fields(self, config: Config) -> Mapping[str, Scalar]:
        return recipe.codegen_fields(config)

    def tool_for(self, blob: str, config: Config, generated: Mapping[str, Scalar]) -> ToolRun | Fault | None:
        return recipe.tool_for(blob, config, generated)

    def blobs_for(self, stage: Stage) -> tuple[str, ...]:
        return recipe.blobs_for(stage)

    def read(self, stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
        return artifacts.read(stage, blobs)

    def job_specs(
        self, kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
    ) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
        return jobs.job_specs(kernel, workspace, comments, settings)


class CudaInPython(Cuda):
    """The same for strings of Python files; satisfies `frontends.base.FrontEnd`."""

    language = PYTHON

    def find_kernels(self, path: str, workspace: PythonWorkspace) -> tuple[KernelSite, ...]:
        return strings.find_kernels(path, workspace)

    def job_comments(self, path: str, workspace: PythonWorkspace) -> Iterable[CommentLine]:
        return strings.job_comments(path, workspace)

    def closure(
        self, site: KernelSite, workspace: PythonWorkspace, bindings: Mapping[str, str], expressions: Sequence[str]
    ) -> ClosureResult:
        return strings.closure(site, workspace, expressions)

    def job_specs(
        self, kernel: KernelSite, workspace: PythonWorkspace, comments: Sequence[JobComment], settings: Settings
    ) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
        return strings.job_specs(kernel, workspace, comments, settings)
