"""The parts of numba-cuda-mlir that it has in common with numba-cuda: see `drivers/numba/api.py`."""

from __future__ import annotations

from numba_cuda_mlir import compiler as declarations
from numba_cuda_mlir import cuda
from numba_cuda_mlir.numba_cuda import random, types
from numba_cuda_mlir.numba_cuda.core import bytecode, errors, interpreter, ir, typeinfer
from numba_cuda_mlir.numba_cuda.np import numpy_support
from numba_cuda_mlir.numba_cuda.typing.typeof import typeof, typeof_impl

__all__ = [
    "bytecode",
    "cuda",
    "declarations",
    "errors",
    "interpreter",
    "ir",
    "numpy_support",
    "random",
    "typeinfer",
    "typeof",
    "typeof_impl",
    "types",
]
