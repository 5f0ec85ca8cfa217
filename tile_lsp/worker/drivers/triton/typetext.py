"""Types and constants in Triton's own notation."""

from __future__ import annotations

import enum
import re
from typing import Any

from triton.language import core

#: Bits of a number that is written in decimals.
_WIDEST = 4096
_MAX_CONSTANT = 120
#: Layouts within layouts are what a reader of Gluon looks for: they are cut where they are no text any more.
_MAX_TYPE = 2000


def of(value: Any) -> tuple[str, str | None] | None:
    """Type and, where the compiler knows it, value; None for what means nothing to a reader."""
    if isinstance(value, core.constexpr):
        inner = value.value
        if isinstance(inner, core.dtype):
            return f"dtype {dtype(inner)}", None
        if callable(inner):
            return _callable(inner)
        text = _text(inner)
        return (f"constexpr[{text}]", text) if text is not None else ("constexpr", None)
    if isinstance(value, core.tensor):
        return dtype(value.type), None
    if isinstance(value, core.tuple):
        items = [of(item) for item in value.values]
        return f"({', '.join(item[0] if item else '?' for item in items)}{',' if len(items) == 1 else ''})", None
    if isinstance(value, core.dtype):
        return f"dtype {dtype(value)}", None
    if isinstance(value, core.base_value):
        ty = getattr(value, "type", None)
        return (dtype(ty) if ty is not None else type(value).__name__), None
    if callable(value):
        return _callable(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        text = _text(value)
        return f"constexpr[{text}]", text
    return None


def dtype(ty: Any) -> str:
    if isinstance(ty, core.block_type):
        return f"tensor<{'x'.join(str(_plain(length)) for length in ty.shape)}x{ty.scalar}{_layout(ty)}>"
    shape = getattr(ty, "shape", None)
    if type(ty).__name__ == "shared_memory_descriptor_type" and shape is not None:
        dims = "x".join(str(_plain(length)) for length in shape)
        return f"shared<{dims}x{ty.element_ty}, {layout(ty.layout)}>"
    block = getattr(ty, "block_type", None)
    if isinstance(block, core.block_type) and "tensor_descriptor" in type(ty).__name__:
        dims = ",".join(str(_plain(length)) for length in block.shape)
        return f"tensordesc<{block.scalar}[{dims}]{_layout(ty)}>"
    if isinstance(ty, core.tuple_type):
        return f"({', '.join(dtype(item) for item in ty.types)}{',' if len(ty.types) == 1 else ''})"
    if type(ty).__name__ == "_aggregate_type":
        return f"{ty.base_cls.__name__}({', '.join(f'{name}: {_field(field)}' for name, field in ty.fields)})"
    if isinstance(ty, core.constexpr_type):
        return of(core.constexpr(ty.value))[0]  # type: ignore[index]
    return _short(str(ty), _MAX_TYPE)


def _field(ty: Any) -> str:
    """Of an aggregate: of one within it just the name."""
    return ty.base_cls.__name__ if type(ty).__name__ == "_aggregate_type" else dtype(ty)


def layout(value: Any) -> str:
    text = str(_plain(value)).replace("cga_layout=[]", "").replace(", )", ")")
    # Lists are kept as tuples, one of which may look like a number.
    return _short(re.sub(r"=\((\d[\d, ]*?),?\)", r"=[\1]", text), _MAX_TYPE)


def _layout(ty: Any) -> str:
    found = getattr(ty, "layout", None)
    return f", {layout(found)}" if found is not None else ""


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, core.constexpr) else value


def _callable(value: Any) -> tuple[str, str | None]:
    function = getattr(value, "fn", value)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", type(value).__name__)
    module = getattr(function, "__module__", None)
    what = "class" if isinstance(function, type) else "function"
    return f"{what} {module}.{name}" if module and module != "builtins" else f"{what} {name}", None


def _text(value: Any) -> str | None:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, int) and value.bit_length() > _WIDEST:
        # Python writes no more than 4300 digits of another base.
        return _short(hex(value))
    if value is None or isinstance(value, (bool, int, float, str, complex)):
        return _short(repr(value))
    if isinstance(value, (tuple, list, core.tuple)):
        items = [_text(_plain(item)) for item in value]
        if any(item is None for item in items):
            return None
        return _short(f"({', '.join(items)}{',' if len(items) == 1 else ''})")  # type: ignore[arg-type]
    if isinstance(value, core.dtype):
        return str(value)
    if type(value).__name__.endswith("Layout"):
        return layout(value)
    return None


def _short(text: str, most: int = _MAX_CONSTANT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
