"""CUDA C++: NVRTC, by cuda.bindings."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from ... import distributions, faults
from ...standins import StandIns

if TYPE_CHECKING:
    from .compiler import Compiler
    from .inference import Held

_WANTED = (
    "cuda-bindings>=13",
    "nvidia-cuda-nvrtc>=13",
    "nvidia-cuda-runtime>=13",
    "nvidia-cuda-cccl>=13",
    "nvidia-cuda-nvdisasm>=13",
    "libclang",
)

_TEXT = """\
template <typename T> __global__ void sample(T *x, int n) {
__shared__ T tile[32];
for (int i = threadIdx.x; i < n; i += blockDim.x) { tile[i % 32] = x[i] * T(2) + sqrtf(1.0f); }
__syncthreads();
x[threadIdx.x] = tile[31 - threadIdx.x];
}"""
_SAMPLE = {
    "entry": {"expression": "sample"},
    "modules": [{"members": [{"id": "sample.cu/sample", "text": _TEXT}]}],
}


class Cuda:
    distributions = ("cuda-bindings", "cuda-pathfinder", "libclang")

    def __init__(self) -> None:
        self._version: str | None = None
        self._error: str | None = None
        self._help: str | None = None
        self._compiler: Compiler | None = None

    def start(self, standins: StandIns) -> None:
        self._version = distributions.version_of("cuda-bindings")
        if self._version is None:
            self._error = f"NVRTC is not at hand in {sys.executable}: cuda-bindings is not installed there"
            self._help = distributions.pip(*_WANTED)
            return
        try:
            from .compiler import Compiler

            self._compiler = Compiler()
        except Exception as error:
            self._error = f"NVRTC can't be used in {sys.executable}: {faults.describe(error)}"
            self._help = distributions.pip(*_WANTED)

    def tools(self) -> dict[str, str]:
        """Clang, where there is one: for LLVM IR."""
        from . import clang_llvm

        found = clang_llvm.find()
        return {"clang": found} if found is not None else {}

    def report(self, tools: dict[str, dict[str, Any]]) -> dict[str, Any]:
        version = self._version
        if self._compiler is not None:
            # Headers and the reader of types have a part in what is made, so they are part of what it is known by.
            version = f"{version} ({', '.join(self._compiler.parts())})"
        return {"version": version, "error": self._error, "help": self._help, "fields": {}}

    def warm(self) -> None:
        if self._compiler is not None:
            from . import clang_library, clang_unit

            self._compiler.warm()
            with contextlib.suppress(clang_library.Unavailable):
                clang_unit.precompile()
            self.touch()

    def touch(self) -> None:
        """An inference of a sample, as one of the user's goes."""
        if self._compiler is not None:
            self.infer({"closure": _SAMPLE, "arguments": [["T", "float"]]}, None)

    def infer(self, request: dict[str, Any], standins: StandIns | None) -> tuple[Held | None, dict[str, Any]]:
        if self._compiler is None:
            missing = faults.fault(faults.ENVIRONMENT, self._error or "NVRTC is missing", help=self._help)
            return None, {"inference": {"faults": [missing]}, "options": {}}
        from .inference import infer

        return infer(self._compiler, request)
