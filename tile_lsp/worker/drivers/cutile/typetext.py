"""Types and constants in cuTile's own notation, without what differs from one process to the next."""

from __future__ import annotations

import enum
import math
import re
import struct
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MAX_CONSTANT = 120
_MISSING = object()


def scrub(text: str) -> str:
    """Without addresses of objects."""
    return _ADDRESS.sub("", text) if " at 0x" in text else text


def of(ty: Any) -> str:
    render = _RENDERERS.get(type(ty).__name__)
    try:
        return scrub(str(ty)) if render is None else render(ty)
    except Exception:
        # Another version's type may lack a field; its own words are better than none.
        return scrub(repr(ty))


def constant(variable: Any, ty: Any) -> str | None:
    """The value of a variable where the compiler knows it, and it says more than the type."""
    if variable.is_constant():
        value = variable.get_constant()
        if isinstance(value, float) and str(getattr(ty, "dtype", "")) == "float32":
            return _single(value)
        return value_text(value)
    if type(ty).__name__ == "TupleTy" and variable.is_aggregate():
        items = [constant(item, item.get_type_allow_invalid()) for item in variable.get_aggregate().as_tuple()]
        if items and all(item is not None for item in items):
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"  # type: ignore[arg-type]
    return None


def _single(value: float) -> str:
    """The shortest decimal that means this value in single precision: `1e-05`, not `9.999999747378752e-06`."""
    for digits in range(1, 10):
        text = float(f"{value:.{digits}g}")
        if not math.isfinite(text) or struct.pack("f", text) == struct.pack("f", value):
            return repr(text)
    return repr(value)


def value_text(value: Any) -> str | None:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, (bool, int, float, str, complex)):
        text = repr(value)
    elif isinstance(value, tuple):
        items = [value_text(item) for item in value]
        if any(item is None for item in items):
            return None
        text = f"({', '.join(items)}{',' if len(items) == 1 else ''})"  # type: ignore[arg-type]
    elif type(value).__name__ == "DType":
        text = value.name
    else:
        return None
    return text if len(text) <= _MAX_CONSTANT else text[: _MAX_CONSTANT - 1] + "…"


def facts(ty: Any) -> tuple[tuple[str, str], ...]:
    name = type(ty).__name__
    if name == "ArrayTy":
        index = getattr(ty, "index_dtype", None)
        return (("index type", index.name),) if index is not None else ()
    if name == "InvalidType":
        return (("invalid", scrub(ty.error_message)),)
    return ()


def _dims(values: Any) -> str:
    return "(" + ",".join("?" if value is None else str(value) for value in values) + ")"


def _array(ty: Any) -> str:
    index = getattr(getattr(ty, "index_dtype", None), "name", "int32")
    return (
        f"Array[{ty.dtype},{_dims(ty.shape)}:{_dims(ty.strides)}{'' if index == 'int32' else f',index_dtype={index}'}]"
    )


def _function(function: Any) -> str:
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "?")
    return f"{module}.{name}" if module and not module.startswith("builtins") else name


_RENDERERS = {
    "TileTy": lambda ty: f"Tile[{ty.dtype},{_dims(ty.shape)}]",
    "ArrayTy": _array,
    "ListTy": lambda ty: f"List[{of(ty.item_type)}]",
    "TupleTy": lambda ty: f"Tuple[{','.join(of(item) for item in ty.value_types)}]",
    "FunctionTy": lambda ty: f"function {_function(ty.func)}",
    "BoundMethodTy": lambda ty: f"method {_function(ty.func)} of {of(ty.self_ty)}",
    "ClosureTy": lambda ty: f"function {ty.func_hir.desc.name or '<lambda>'}",
    "ModuleTy": lambda ty: f"module {ty.py_mod.__name__}",
    "DTypeSpec": lambda ty: f"dtype {ty.dtype}",
    "DTypeConstructor": lambda ty: f"dtype {ty.dtype}",
    "TypeTy": lambda ty: f"type {_function(ty.ty)}",
    "StringTy": lambda ty: "str",
    "EnumTy": lambda ty: f"enum {type(ty.value).__name__}",
    "InvalidType": lambda ty: "undefined" if getattr(ty.reason, "name", "") == "UNDEFINED" else "invalid",
}
