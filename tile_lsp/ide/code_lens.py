"""Code lenses over each kernel: one for each stage that can be shown, and the active config."""

from __future__ import annotations

import msgspec

from tile_lsp.analysis.snapshot import KernelView, Snapshot, State
from tile_lsp.ide.jobs import job_label, state_word
from tile_lsp.ide.kernels import kernel_named
from tile_lsp.ide.resources import resources_line
from tile_lsp.ide.stages import FORMATS, stages_of
from tile_lsp.model.location import Span
from tile_lsp.model.stage import Stage

STAGES = (Stage.TYPES, Stage.TYPED, Stage.TILEIR, Stage.TTGIR, Stage.LLVM, Stage.PTX, Stage.SASS, Stage.AMDGCN)
"""Those that get a lens, where the front end has them; the code actions offer all."""


class Lens(msgspec.Struct, frozen=True):
    span: Span
    kernel: str
    stage: Stage | None
    """None for the lens that names the active config."""


def code_lenses(snapshot: Snapshot, path: str) -> tuple[Lens, ...]:
    """Lenses without titles: those are made when a lens is seen."""
    file = snapshot.files.get(path)
    if file is None:
        return ()
    return tuple(
        Lens(kernel.name_span, kernel.name, stage)
        for kernel in file.kernels
        for stage in (*(stage for stage in STAGES if stage in stages_of(kernel, kernel.job)), None)
    )


def lens_title(snapshot: Snapshot, path: str, kernel_name: str, stage: Stage | None) -> str:
    """What a lens says now; it never causes work."""
    if stage is not None:
        return FORMATS[stage].title
    kernel = kernel_named(snapshot, path, kernel_name)
    return _config_title(kernel) if kernel else kernel_name


def _config_title(kernel: KernelView) -> str:
    view = kernel.job
    if view is None:
        return state_word(kernel)
    parts = [job_label(view)]
    if len(kernel.jobs) > 1:
        parts[0] += f" ({kernel.active + 1} of {len(kernel.jobs)})"
    if resources := resources_line(view):
        parts.append(resources)
    if kernel.state is not State.FRESH:
        parts.append(state_word(kernel))
    return " | ".join(parts)
