"""numba-cuda-mlir 0.6 and later: numba-cuda's successor, which types as it does and generates code by MLIR.

What works on the typed IR alone is shared: modules that are not here are those of `drivers/numba`, over the `api` here.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ... import distributions, faults, tools
from ...standins import StandIns

if TYPE_CHECKING:
    from .compiler import Compiler
    from .inference import Held

__path__.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "numba"))

_FLOOR = (0, 6)
_WANTED = "numba-cuda-mlir[cu13]>=0.6"
_PARTS = {"libNVVM": "nvidia-nvvm", "nvJitLink": "nvidia-nvjitlink", "NVRTC": "nvidia-cuda-nvrtc"}


class NumbaMlir:
    distributions = ("numba-cuda-mlir", "cuda-bindings", "cuda-core")

    def __init__(self) -> None:
        self._version: str | None = None
        self._error: str | None = None
        self._help: str | None = None
        self._compiler: Compiler | None = None
        self._standins: StandIns | None = None

    def start(self, standins: StandIns) -> None:
        self._standins = standins
        self._version = distributions.version_of("numba-cuda-mlir")
        if self._version is None:
            self._error = f"numba-cuda-mlir is not installed in {sys.executable}"
            self._help = distributions.pip(_WANTED)
            return
        release = tools.release(f"release {self._version}")
        if release is None or release < _FLOOR:
            self._error = f"numba-cuda-mlir {self._version} is too old for tile-lsp, which works with 0.6 and later"
            self._help = distributions.pip(_WANTED)
            return
        try:
            from .compiler import Compiler

            self._compiler = Compiler()
        except Exception as error:
            self._error = f"numba-cuda-mlir {self._version} can't be used: {faults.describe(error)}"
            self._help = distributions.pip("--force-reinstall", _WANTED)

    def tools(self) -> dict[str, str]:
        return {}

    def report(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        version = self._version
        if self._compiler is not None:
            found = ((name, distributions.version_of(package)) for name, package in _PARTS.items())
            version = f"{version} ({', '.join(f'{name} {found}' for name, found in found if found)})"
        return {"version": version, "error": self._error, "help": self._help, "fields": {}}

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

    def infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
        if self._compiler is None:
            missing = faults.fault(faults.ENVIRONMENT, self._error or "numba-cuda-mlir is missing", help=self._help)
            return None, {"inference": {"faults": [missing]}, "options": {}}
        from .inference import infer

        return infer(self._compiler, request, standins)
