"""numba-cuda-mlir: numba-cuda's successor. What differs is the package's name, and that code goes by MLIR.

| step                  | makes                                               | reads                                |
|-----------------------|-----------------------------------------------------|--------------------------------------|
| worker: infer         | types, typed IR, remarks on doubles                 | version, arguments                   |
| worker: codegen       | `mlir`, `llvm`, `ptx`, `cubin`, `lined`, `places`   | the inference entry, target, options |
| engine's disassembler | `disassembly`                                       | cubin                                |
| LLVM (`../llvm.py`)   | `llvm-sliced`, `llvm-remarks`, `llvm-ptx`           | `llvm`                               |
"""

from __future__ import annotations

from collections.abc import Mapping

from tile_lsp.frontends.numba import Numba, artifacts, recipe
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

__all__ = ["NumbaMlir"]


class NumbaMlir(Numba):
    """The front end; satisfies `frontends.base.FrontEnd`. Holds no state."""

    name = "numba-mlir"
    kernel_decorators = frozenset({"numba_cuda_mlir.cuda.jit"})
    stages = (Stage.TYPES, Stage.TYPED, Stage.MLIR, *recipe.STAGES[2:])

    def blobs_for(self, stage: Stage) -> tuple[str, ...]:
        return ("mlir", "places") if stage is Stage.MLIR else recipe.blobs_for(stage)

    def read(self, stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
        return artifacts.read(stage, blobs)

    def part_of(self, blob: str) -> str:
        """One for all: lowering reads the target here."""
        return ""
