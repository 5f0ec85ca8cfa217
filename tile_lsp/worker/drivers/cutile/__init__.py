"""cuTile Python: cuda-tile 1.3 and later."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from ... import distributions, faults, tools
from ...standins import StandIns

if TYPE_CHECKING:
    from .compiler import Compiler
    from .inference import Held

_FLOOR = (1, 3)
_WANTED = "cuda-tile[tileiras]>=1.7"


class CuTile:
    distributions = ("cuda-tile", "typing-extensions")

    def __init__(self) -> None:
        self._version: str | None = None
        self._error: str | None = None
        self._help: str | None = None
        self._compiler: Compiler | None = None
        self._standins: StandIns | None = None

    def start(self, standins: StandIns) -> None:
        self._standins = standins
        self._version = distributions.version_of("cuda-tile")
        if self._version is None:
            self._error = f"cuda-tile is not installed in {sys.executable}"
            self._help = distributions.pip(_WANTED)
        elif tools.release(f"release {self._version}") is None or tools.release(f"release {self._version}") < _FLOOR:
            self._error = (
                f"cuda-tile {self._version} is too old for tile-lsp, which works with 1.3 and later (best with 1.7)"
            )
            self._help = distributions.pip(_WANTED)
        else:
            self._import(standins)

    def _import(self, standins: StandIns) -> None:
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

            self._compiler = Compiler()
            standins.add_register(self._compiler.register_dtype)
        except Exception as error:
            self._error = f"cuda-tile {self._version} can't be used: {faults.describe(error)}"
            self._help = distributions.pip("--force-reinstall", _WANTED)
        finally:
            del sys.modules["torch"]
            if real is not None:
                sys.modules["torch"] = real

    def tools(self) -> dict[str, str]:
        return {}

    def report(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self._compiler is not None:
            self._compiler.tileiras = tools.release(table["tileiras"]["version"])
            fields = {
                "bytecode_versions": self._compiler.bytecode_versions(),
                "portable_bytecode_versions": self._compiler.portable_bytecode_versions(),
                "hints": self._compiler.hints(),
                "dtypes": self._compiler.dtypes(),
            }
        return {"version": self._version, "error": self._error, "help": self._help, "fields": fields}

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

    def infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
        if self._compiler is None:
            missing = faults.fault(faults.ENVIRONMENT, self._error or "cuda-tile is missing", help=self._help)
            return None, {"inference": {"faults": [missing]}, "options": {}}
        from .inference import infer

        return infer(self._compiler, request, standins)
