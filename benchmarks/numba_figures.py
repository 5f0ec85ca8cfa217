"""Numba-CUDA: its cases."""

from __future__ import annotations

import itertools

from .workplace import ROOT, Case, Language

NUMBA = Language(
    "numba", "numba_baseline", "its passes", "codegen", ROOT / "build" / "venvs" / "numba" / "bin" / "python"
)
OPTIONS = [
    {"max_registers": registers, "fastmath": fastmath}
    for registers, fastmath in itertools.product((32, 40, 48, 64, 80), (False, True))
]
SAXPY = Case(
    "saxpy.py",
    "saxpy",
    ("float32", "float32[::1]", "float32[::1]"),
    ("a * x[i] + y[i]", "a * x[i] + y[i] * {}"),
    "i = cuda.grid",
)
MATMUL = Case(
    "matmul.py",
    "matmul",
    ("float32[:,::1]", "float32[:,::1]", "float32[:,::1]"),
    ("+ TILE - 1) // TILE):", "+ TILE - 1) // TILE + {0} - {0}):"),
    "total = float32",
)
