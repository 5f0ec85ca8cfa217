"""The parts of numba-cuda that it has in common with its successor, numba-cuda-mlir, which brings a copy of them along.

Modules here that import nothing else of either work on both: `drivers/numba_mlir` has an `api` of its own.
"""

from __future__ import annotations

from numba import cuda
from numba.cuda import decorators as declarations
from numba.cuda import random, types
from numba.cuda.core import bytecode, errors, interpreter, ir, typeinfer
from numba.cuda.np import numpy_support
from numba.cuda.typing.typeof import typeof, typeof_impl

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
