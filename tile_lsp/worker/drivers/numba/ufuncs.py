"""`vectorize` and `guvectorize` for CUDA: the kernel that numba-cuda makes of a function of elements.

It is made of text, calls or inlines the function, and takes arrays where the function takes elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba.cuda import types, vectorizers
from numba.cuda.np import numpy_support

from ... import faults

_KINDS = (vectorizers.CUDAUFuncDispatcher, vectorizers.CUDAGeneralizedUFunc)


def install() -> None:
    """Lets each keep the function that it is made of, by which it is found."""
    for kind in _KINDS:
        _keep_function(kind)


def _keep_function(kind: Any) -> None:
    stock = kind.__init__

    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        stock(self, *arguments, **keywords)
        self.py_func = keywords.get("pyfunc", arguments[-1] if arguments else None)

    kind.__init__ = __init__


def is_ufunc(value: Any) -> bool:
    return isinstance(value, _KINDS)


def kernel_of(ufunc: Any, given: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any | None]:
    """The kernel for one of the function's signatures, what it is compiled for, and the function where it is inlined,
    typed by itself. Raises `faults.Refused`.
    """
    if isinstance(ufunc, vectorizers.CUDAUFuncDispatcher):
        wanted = _dtypes(given)
        found = ufunc.functions.get(wanted)
        if found is None:
            raise faults.Refused(_no_signature(ufunc, given, ufunc.functions))
        result, kernel = found
        elements = (*given, numpy_support.from_dtype(result))
        core = kernel.py_func.__globals__["__core__"]
        arrays = tuple(types.Array(element, 1, "C") for element in elements)
        return kernel, arrays, core.overloads.get(tuple(given))
    wanted = _dtypes(given[: ufunc.engine.nin])
    found = ufunc.kernelmap.get(wanted)
    if found is None:
        raise faults.Refused(_no_signature(ufunc, given, ufunc.kernelmap))
    kernel = found[1]
    return kernel, next(iter(kernel.overloads)), None


def _dtypes(given: Sequence[Any]) -> tuple[Any, ...] | None:
    try:
        return tuple(numpy_support.as_dtype(getattr(ty, "dtype", ty)) for ty in given)
    except Exception:
        return None


def _no_signature(ufunc: Any, given: Sequence[Any], known: Any) -> Any:
    signatures = ", ".join(f"({', '.join(str(dtype) for dtype in key)})" for key in known) or "none"
    message = (
        f"{ufunc.__name__} has no signature for ({', '.join(map(str, given))}); it has {signatures}. "
        "Kernels of vectorize are compiled for the signatures of their decorator alone"
    )
    return faults.fault(faults.USER, message, code="signature")
