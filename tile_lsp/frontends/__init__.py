"""One package a kernel language. A new one is named here, and nowhere else."""

from __future__ import annotations

from .base import FrontEnd
from .cuda import Cuda, CudaInPython
from .cutile import CuTile
from .numba import Numba
from .numba_mlir import NumbaMlir
from .triton import Triton

FRONTENDS: tuple[FrontEnd, ...] = (CuTile(), Triton(), Numba(), NumbaMlir(), Cuda(), CudaInPython())
"""In the order in which a file's kernels are looked for."""
