"""Numba-CUDA: numba-cuda 0.30 and later."""

from __future__ import annotations

import os
from typing import Any

from ...standins import StandIns
from ..installed import Installed


class Numba(Installed):
    name = "numba-cuda"
    floor = (0, 30)
    wanted = "numba-cuda[cu13]>=0.30"
    parts = (
        ("numba", "numba"),
        ("llvmlite", "llvmlite"),
        ("libNVVM", "nvidia-nvvm"),
        ("nvJitLink", "nvidia-nvjitlink"),
        ("NVRTC", "nvidia-cuda-nvrtc"),
    )
    distributions = ("numba-cuda", "numba", "llvmlite", "cuda-bindings", "cuda-core")

    def _load(self, standins: StandIns) -> Any:
        # The simulator has no compiler; what a dump prints nobody would see.
        for name in ("NUMBA_ENABLE_CUDASIM", "NUMBA_DUMP_ASSEMBLY", "NUMBA_DUMP_LLVM", "NUMBA_DUMP_IR"):
            os.environ.pop(name, None)
        from .compiler import Compiler

        return Compiler()

    def warm(self) -> None:
        if self._compiler is not None:
            for _ in range(4):
                self._run(codegen=False)

    def touch(self) -> None:
        if self._compiler is not None:
            self._run(codegen=False)

    def _run(self, *, codegen: bool) -> None:
        from . import sample

        assert self._standins is not None
        held, _ = self.infer(sample.request(), self._standins)
        if held is not None and codegen:
            held.codegen({"targets": ["sm_90"]})
        sample.clean()

    def _infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Any, dict[str, Any]]:
        from .inference import infer

        return infer(self._compiler, request, standins)
