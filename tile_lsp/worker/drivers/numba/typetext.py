"""Numba's types in its own notation, without what differs from one process to the next."""

from __future__ import annotations

import re
from typing import Any

from .api import types

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|(?<=') from '[^']*'")
_LONGEST = 120


def of(ty: Any) -> str:
    match ty:
        case types.Literal():
            return of(ty.literal_type)
        case types.Module():
            return f"module {ty.pymod.__name__}"
        case types.Dispatcher():
            return f"function {ty.dispatcher.py_func.__qualname__}"
        case types.Function():
            return f"function {_function(ty.typing_key)}"
        case types.NumberClass() | types.DType():
            return f"type {ty.dtype}"
        case types.ClassType():
            return f"class {ty.class_name}"
        case _:
            return scrub(str(ty))


def constant(ty: Any) -> str | None:
    """The value of what is known when types are inferred."""
    if not isinstance(ty, types.Literal) or isinstance(ty.literal_value, slice):
        return None
    text = scrub(repr(ty.literal_value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def facts(ty: Any) -> list[list[str]]:
    if isinstance(ty, types.Array):
        layouts = {"C": "contiguous, row by row", "F": "contiguous, column by column", "A": "any strides"}
        found = [["layout", layouts.get(ty.layout, ty.layout)]]
        if not ty.mutable:
            found.append(["readonly", "yes"])
        return found
    return []


def scrub(text: str) -> str:
    """Without addresses of objects and paths of modules."""
    return _ADDRESS.sub("", text)


def _function(key: Any) -> str:
    module, name = (
        getattr(key, "__module__", None),
        getattr(key, "__qualname__", None) or getattr(key, "__name__", None),
    )
    if name is None:
        return scrub(str(key))
    return f"{module}.{name}" if module and module not in ("builtins", "_operator") else name
