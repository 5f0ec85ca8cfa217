"""Dtypes of arrays: the short names that specs use, the long names that people write, and their widths."""

from __future__ import annotations

import difflib

#: Short name → (name in `cuda.tile`, bits).
DTYPES: dict[str, tuple[str, int]] = {
    "bool": ("bool_", 8),
    "i8": ("int8", 8),
    "i16": ("int16", 16),
    "i32": ("int32", 32),
    "i64": ("int64", 64),
    "u8": ("uint8", 8),
    "u16": ("uint16", 16),
    "u32": ("uint32", 32),
    "u64": ("uint64", 64),
    "f16": ("float16", 16),
    "bf16": ("bfloat16", 16),
    "f32": ("float32", 32),
    "f64": ("float64", 64),
    "tf32": ("tfloat32", 32),
    "f8e4m3fn": ("float8_e4m3fn", 8),
    "f8e5m2": ("float8_e5m2", 8),
    "f8e8m0fnu": ("float8_e8m0fnu", 8),
    "f8e5m3fnu": ("float8_e5m3fnu", 8),
    "f4e2m1fn": ("float4_e2m1fn", 4),
}

#: Every name that is understood → short name. Array libraries' names included, since launch sites use them.
NAMES: dict[str, str] = {
    **{short: short for short in DTYPES},
    **{long: short for short, (long, _) in DTYPES.items()},
    "bool8": "bool",
    "half": "f16",
    "float": "f32",
    "single": "f32",
    "double": "f64",
    "short": "i16",
    "int": "i32",
    "long": "i64",
    "fp16": "f16",
    "fp32": "f32",
    "fp64": "f64",
    "f8e4m3": "f8e4m3fn",
    "f8e8m0": "f8e8m0fnu",
    "f4e2m1": "f4e2m1fn",
    "float4_e2m1fn_x2": "f4e2m1fn",
}

FLOATS = frozenset(name for name in DTYPES if name.startswith(("f", "bf", "tf")))
INTEGERS = frozenset(name for name in DTYPES if name[0] in "iu")


def canonical(name: str) -> str | None:
    """The short name of a dtype, or None if there is no such dtype."""
    return NAMES.get(name)


def unknown_dtype(name: str) -> str:
    """A message for people about a name that is no dtype."""
    close = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.5)
    hint = f"; did you mean `{NAMES[close[0]]}`?" if close else f"; there are {', '.join(DTYPES)}"
    return f"`{name}` is not a dtype{hint}"
