"""numba-cuda-mlir 0.6 and later: numba-cuda's successor, which types as it does and generates code by MLIR.

What works on the typed IR alone is shared: modules that are not here are those of `drivers/numba`, over the `api` here.
"""

from __future__ import annotations

import os
from typing import Any

from ...standins import StandIns
from ..installed import Installed

__path__.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "numba"))


class NumbaMlir(Installed):
    name = "numba-cuda-mlir"
    floor = (0, 6)
    wanted = "numba-cuda-mlir[cu13]>=0.6"
    parts = (("libNVVM", "nvidia-nvvm"), ("nvJitLink", "nvidia-nvjitlink"), ("NVRTC", "nvidia-cuda-nvrtc"))
    distributions = ("numba-cuda-mlir", "cuda-bindings", "cuda-core")

    def _load(self, standins: StandIns) -> Any:
        from .compiler import Compiler

        return Compiler()

    def warm(self) -> None:
        if self._compiler is not None:
            for _ in range(2):
                self.touch()

    def touch(self) -> None:
        if self._compiler is not None:
            from . import sample

            assert self._standins is not None
            request = sample.request()
            for member in request["closure"]["modules"][0]["members"]:
                member["text"] = member["text"].replace("from numba import", "from numba_cuda_mlir import")
                member["text"] = member["text"].replace("cuda, float32", "cuda; float32 = cuda.float32")
            self.infer(request, self._standins)
            sample.clean()

    def _infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Any, dict[str, Any]]:
        from .inference import infer

        return infer(self._compiler, request, standins)
