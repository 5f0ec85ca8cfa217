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
            self._compiler.warm()
            from . import clang_library, clang_unit

            with contextlib.suppress(clang_library.Unavailable):
                clang_unit.precompile()

    def touch(self) -> None:
        if self._compiler is not None:
            self._compiler.touch()

    def infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
        if self._compiler is None:
            missing = faults.fault(faults.ENVIRONMENT, self._error or "NVRTC is missing", help=self._help)
            return None, {"inference": {"faults": [missing]}, "options": {}}
        from .inference import infer

        return infer(self._compiler, request)
