"""Numba-CUDA: numba-cuda 0.30 and later."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ... import distributions, faults, tools
from ...standins import StandIns

if TYPE_CHECKING:
    from .compiler import Compiler
    from .inference import Held

_FLOOR = (0, 30)
_WANTED = "numba-cuda[cu13]>=0.30"
_PARTS = {
    "numba": "numba",
    "llvmlite": "llvmlite",
    "libNVVM": "nvidia-nvvm",
    "nvJitLink": "nvidia-nvjitlink",
    "NVRTC": "nvidia-cuda-nvrtc",
}


class Numba:
    distributions = ("numba-cuda", "numba", "llvmlite", "cuda-bindings", "cuda-core")

    def __init__(self) -> None:
        self._version: str | None = None
        self._error: str | None = None
        self._help: str | None = None
        self._compiler: Compiler | None = None
        self._standins: StandIns | None = None

    def start(self, standins: StandIns) -> None:
        self._standins = standins
        self._version = distributions.version_of("numba-cuda")
        if self._version is None:
            self._error = f"numba-cuda is not installed in {sys.executable}"
            self._help = distributions.pip(_WANTED)
            return
        release = tools.release(f"release {self._version}")
        if release is None or release < _FLOOR:
            self._error = f"numba-cuda {self._version} is too old for tile-lsp, which works with 0.30 and later"
            self._help = distributions.pip(_WANTED)
            return
        # The simulator has no compiler; what a dump prints nobody would see.
        for name in ("NUMBA_ENABLE_CUDASIM", "NUMBA_DUMP_ASSEMBLY", "NUMBA_DUMP_LLVM", "NUMBA_DUMP_IR"):
            os.environ.pop(name, None)
        try:
            from .compiler import Compiler

            self._compiler = Compiler()
        except Exception as error:
            self._error = f"numba-cuda {self._version} can't be used: {faults.describe(error)}"
            self._help = distributions.pip("--force-reinstall", _WANTED)

    def tools(self) -> dict[str, str]:
        return {}

    def report(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        version = self._version
        if self._compiler is not None:
            # Each of them has a part in the code, so each is part of what it is known by.
            found = ((name, distributions.version_of(package)) for name, package in _PARTS.items())
            version = f"{version} ({', '.join(f'{name} {found}' for name, found in found if found)})"
        return {"version": version, "error": self._error, "help": self._help, "fields": {}}

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

    def infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
        if self._compiler is None:
            missing = faults.fault(faults.ENVIRONMENT, self._error or "numba-cuda is missing", help=self._help)
            return None, {"inference": {"faults": [missing]}, "options": {}}
        from .inference import infer

        return infer(self._compiler, request, standins)
