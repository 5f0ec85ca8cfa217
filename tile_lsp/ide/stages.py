"""The stages as people meet them: name, file extension, language and comment leader of their documents."""

from __future__ import annotations

import msgspec

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


def stages_of(frontend: str) -> tuple[Stage, ...]:
    """The stages of a front end that can be shown, in the order of lowering."""
    from tile_lsp.frontends import FRONTENDS  # the front ends take time to import, and the server starts without

    known = next((other.stages for other in FRONTENDS if other.name == frontend), ())
    return tuple(stage for stage in known if stage in FORMATS)
