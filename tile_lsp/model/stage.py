"""The artifacts that a job can yield."""

from __future__ import annotations

import enum


class Stage(enum.StrEnum):
    """One artifact of a job. Which of them a front end has, and in which order, is the front end's to say."""

    TYPES = "types"
    HIR = "hir"
    TYPED = "typed"
    TILEIR = "tileir"
    MLIR = "mlir"
    TTIR = "ttir"
    TTGIR = "ttgir"
    LLVM = "llvm"
    LLVM_REMARKS = "llvm-remarks"
    PTX = "ptx"
    PTX_LLVM = "ptx-llvm"
    CUBIN = "cubin"
    SASS = "sass"
    AMDGCN = "amdgcn"
    RESOURCES = "resources"
    REMARKS = "remarks"
