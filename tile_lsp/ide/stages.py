"""The stages as people meet them: name, file extension, language and comment leader of their documents."""

from __future__ import annotations

import msgspec

from tile_lsp.analysis.snapshot import JobView, KernelView
from tile_lsp.model.stage import Stage


class Format(msgspec.Struct, frozen=True):
    title: str
    extension: str
    language: str
    """The editor's language id. No editor has it, or the extension, for something else: `sass` is a style sheet."""
    comment: str = "//"


TOKEN_TYPES = ("comment", "label", "function", "type", "variable", "number", "string", "keyword")
"""The legend of semantic tokens in documents: a token's type is an index into it."""

FORMATS = {
    Stage.TYPES: Format("Types", "types", "tile-types"),
    Stage.HIR: Format("HIR", "hir", "tile-hir"),
    Stage.TYPED: Format("Typed IR", "tir", "tile-typed"),
    Stage.TILEIR: Format("Tile IR", "mlir", "mlir"),
    Stage.MLIR: Format("MLIR", "mlir", "mlir"),
    Stage.TTIR: Format("TTIR", "ttir", "mlir"),
    Stage.TTGIR: Format("TTGIR", "ttgir", "mlir"),
    Stage.LLVM: Format("LLVM IR", "ll", "llvm", ";"),
    Stage.LLVM_REMARKS: Format("LLVM Remarks", "llvm.remarks", "tile-remarks"),
    Stage.PTX: Format("PTX", "ptx", "ptx"),
    Stage.PTX_LLVM: Format("Cross-Check of PTX by LLVM", "llvm.ptx", "ptx"),
    Stage.SASS: Format("SASS", "nvsass", "nvsass"),
    Stage.AMDGCN: Format("AMDGCN", "amdgcn", "amdgcn", ";"),
    Stage.RESOURCES: Format("Resources", "resources", "tile-resources"),
    Stage.REMARKS: Format("Remarks", "remarks", "tile-remarks"),
}
"""Every stage that can be shown as text; `cubin` can't."""


def stages_of(kernel: KernelView, view: JobView | None) -> tuple[Stage, ...]:
    """The stages of a kernel's job that can be shown, in the order of lowering."""
    from tile_lsp.frontends import FRONTENDS  # the front ends take time to import, and the server starts without
    from tile_lsp.frontends.base import BlobsByTarget

    front = next((other for other in FRONTENDS if other.name == kernel.frontend), None)
    known = front.stages if front is not None else ()
    if isinstance(front, BlobsByTarget) and view is not None:
        known = front.stages_for_target(view.job.config.target)
    return tuple(stage for stage in known if stage in FORMATS)


def machine_code(kernel: KernelView) -> Stage:
    """What runs on the GPU of the kernel's active job."""
    stages = stages_of(kernel, kernel.job)
    return Stage.AMDGCN if Stage.AMDGCN in stages and Stage.SASS not in stages else Stage.SASS
