"""Dtypes of array libraries by their cuTile names, and the limits of the types that code asks for when it is loaded."""

from __future__ import annotations

import math
from typing import Any

_COMMON = {
    **{name: name for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    **{name: name for name in ("float16", "float32", "float64", "bfloat16")},
    **{name: name for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")},
}
TORCH_NAMES = {
    **_COMMON,
    "bool": "bool_",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
}
NUMPY_NAMES = {**_COMMON, "bool_": "bool_", "half": "float16", "single": "float32", "double": "float64"}

#: bits, exponent bits, mantissa bits; the formats without infinities spend their top exponent on numbers.
_FLOATS = {
    "float16": (16, 5, 10),
    "bfloat16": (16, 8, 7),
    "float32": (32, 8, 23),
    "float64": (64, 11, 52),
    "float8_e5m2": (8, 5, 2),
}
_E4M3FN = {"bits": 8, "max": 448.0, "min": -448.0, "eps": 0.125, "tiny": 2.0**-6, "smallest_normal": 2.0**-6}


class _Limits:
    """A class, as torch's and numpy's are: compilers call no functions but their own."""

    def __init__(self, dtype: object) -> None:
        self.dtype = _name(dtype)
        self.__dict__.update(self._limits(dtype))

    def _limits(self, dtype: object) -> dict[str, Any]:
        raise NotImplementedError


class finfo(_Limits):
    """Limits of a floating-point dtype, by the names that torch and numpy give them. Raises `TypeError` for another."""

    def _limits(self, dtype: object) -> dict[str, Any]:
        name = self.dtype
        if name == "float8_e4m3fn":
            return _E4M3FN
        if name == "float8_e8m0fnu":
            return {"bits": 8, "max": 2.0**127, "min": 2.0**-127, "eps": 1.0, "tiny": 2.0**-127}
        if name not in _FLOATS:
            raise TypeError(f"finfo() needs a floating-point dtype, not {dtype!r}")
        bits, exponent, mantissa = _FLOATS[name]
        bias = (1 << (exponent - 1)) - 1
        largest = math.ldexp(2.0 - 2.0**-mantissa, bias)
        tiny = 2.0 ** (1 - bias)
        limits = {"bits": bits, "max": largest, "min": -largest, "eps": 2.0**-mantissa}
        return {**limits, "tiny": tiny, "smallest_normal": tiny}


class iinfo(_Limits):
    """Limits of an integer dtype. Raises `TypeError` for another."""

    def _limits(self, dtype: object) -> dict[str, Any]:
        name = self.dtype
        if not name.lstrip("u").startswith("int"):
            raise TypeError(f"iinfo() needs an integer dtype, not {dtype!r}")
        bits = int(name.lstrip("u")[3:])
        low, high = (0, (1 << bits) - 1) if name.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        return {"bits": bits, "min": low, "max": high}


def _name(dtype: object) -> str:
    name = getattr(dtype, "_name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return TORCH_NAMES.get(name, name)
