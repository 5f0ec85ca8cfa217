"""cuTile Python: cuda-tile 1.3 and later."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from ... import tools
from ...standins import StandIns
from ..installed import Installed


class CuTile(Installed):
    name = "cuda-tile"
    floor = (1, 3)
    best = " (best with 1.7)"
    wanted = "cuda-tile[tileiras]>=1.7"
    distributions = ("cuda-tile", "typing-extensions")

    def _load(self, standins: StandIns) -> Any:
        # Read when cuda.tile is imported. It runs no tool here, and keeps nothing: caching is the server's.
        os.environ["CUDA_TILE_CACHE_DIR"] = "off"
        os.environ["CUDA_TILE_TEMP_DIR"] = tempfile.gettempdir()
        for name in (
            "CUDA_TILE_LOGS",
            "CUDA_TILE_DUMP_BYTECODE",
            "CUDA_TILE_DUMP_TILEIR",
            "CUDA_TILE_ENABLE_CRASH_DUMP",
        ):
            os.environ.pop(name, None)
        # cuda.tile imports torch where it is installed, for the sake of its dtypes: seconds, and threads.
        real = sys.modules.get("torch")
        sys.modules["torch"] = standins.torch
        try:
            from .compiler import Compiler

            compiler = Compiler()
            standins.add_register(compiler.register_dtype)
            return compiler
        finally:
            del sys.modules["torch"]
            if real is not None:
                sys.modules["torch"] = real

    def _fields(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        self._compiler.tileiras = tools.release(table["tileiras"]["version"])
        return {
            "bytecode_versions": self._compiler.bytecode_versions(),
            "portable_bytecode_versions": self._compiler.portable_bytecode_versions(),
            "hints": self._compiler.hints(),
            "dtypes": self._compiler.dtypes(),
        }

    def warm(self) -> None:
        for _ in range(4 if self._compiler is not None else 0):
            self.touch()

    def touch(self) -> None:
        if self._compiler is None:
            return
        from . import sample

        assert self._standins is not None
        held, _ = self.infer(sample.request(), self._standins)
        if held is not None:
            held.codegen({"targets": ["sm_90"]})
        sample.clean()

    def _infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Any, dict[str, Any]]:
        from .inference import infer

        return infer(self._compiler, request, standins)
