"""Triton and Gluon: triton 3.6 and later."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ... import wire
from ...standins import StandIns
from ..installed import Installed

if TYPE_CHECKING:
    from .inference import Held

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


class Triton(Installed):
    name = "triton"
    names = ("pytorch-triton", "triton-nightly")
    floor = (3, 6)
    wanted = "triton>=3.6"
    distributions = ("triton", "pytorch-triton", "triton-nightly")

    def _load(self, standins: StandIns) -> Any:
        for name in _UNSET:
            os.environ.pop(name, None)
        from .compiler import Compiler

        return Compiler()

    def tools(self) -> dict[str, str]:
        return self._compiler.tools() if self._compiler is not None else {}

    def _fields(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        return {"hints": self._compiler.hints()}

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

    def _infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
        from .inference import infer

        return infer(self._compiler, request, standins)
