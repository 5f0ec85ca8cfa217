"""Triton and Gluon: triton 3.6 and later."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ... import distributions, faults, wire
from ...standins import StandIns

if TYPE_CHECKING:
    from .compiler import Compiler
    from .inference import Held

_FLOOR = (3, 6)
_WANTED = "triton>=3.6"
#: Read when triton is imported: it must neither run kernels in Python nor print or keep what it makes.
_UNSET = (
    "TRITON_INTERPRET",
    "TRITON_ALWAYS_COMPILE",
    "TRITON_KERNEL_DUMP",
    "TRITON_KERNEL_OVERRIDE",
    "TRITON_OVERRIDE_ARCH",
    "TRITON_FRONT_END_DEBUGGING",
    "TRITON_PRINT_AUTOTUNING",
    "TRITON_DISABLE_LINE_INFO",
    "NVPTX_ENABLE_DUMP",
    "AMDGCN_ENABLE_DUMP",
    "MLIR_ENABLE_DUMP",
    "LLVM_IR_ENABLE_DUMP",
)


class Triton:
    distributions = ("triton", "pytorch-triton", "triton-nightly")

    def __init__(self) -> None:
        self._version: str | None = None
        self._error: str | None = None
        self._help: str | None = None
        self._compiler: Compiler | None = None
        self._standins: StandIns | None = None

    def start(self, standins: StandIns) -> None:
        self._standins = standins
        self._version = next((v for name in self.distributions if (v := distributions.version_of(name))), None)
        if self._version is None:
            self._error = f"triton is not installed in {sys.executable}"
            self._help = distributions.pip(_WANTED)
            return
        release = _release(self._version)
        if release is None or release < _FLOOR:
            self._error = f"triton {self._version} is too old for tile-lsp, which works with 3.6 and later"
            self._help = distributions.pip(_WANTED)
            return
        for name in _UNSET:
            os.environ.pop(name, None)
        try:
            from .compiler import Compiler

            self._compiler = Compiler()
        except Exception as error:
            self._error = f"triton {self._version} can't be used: {faults.describe(error)}"
            self._help = distributions.pip("--force-reinstall", _WANTED)

    def tools(self) -> dict[str, str]:
        return self._compiler.tools() if self._compiler is not None else {}

    def report(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        fields = {"hints": self._compiler.hints()} if self._compiler is not None else {}
        return {"version": self._version, "error": self._error, "help": self._help, "fields": fields}

    def warm(self) -> None:
        held = self._sample()
        if held is not None:
            held.codegen({"targets": ["sm_90"]})
        for _ in range(3):
            self._sample()

    def touch(self) -> None:
        # Two that are alive at once take as much memory as a kernel of a usual size.
        held = [self._sample() for _ in range(2)]
        if held[0] is not None and self._compiler is not None:
            held[0].listings()
            self._compiler.prepare()

    def _sample(self) -> Held | None:
        if self._compiler is None:
            return None
        from . import sample

        assert self._standins is not None
        held, answer = self.infer(sample.request(), self._standins)
        wire.encode(answer)
        sample.clean()
        return held

    def infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
        if self._compiler is None:
            missing = faults.fault(faults.ENVIRONMENT, self._error or "triton is missing", help=self._help)
            return None, {"inference": {"faults": [missing]}, "options": {}}
        from .inference import infer

        return infer(self._compiler, request, standins)


def _release(version: str) -> tuple[int, int] | None:
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return None
