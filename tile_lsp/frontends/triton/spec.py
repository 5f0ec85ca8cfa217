"""The notation of one argument: Triton's own.

    *fp32:16    *kfp16    i32:16    fp32    1024    1e-5    True    "relu"    None    fp16 (of a constexpr: the dtype)
    tensordesc<fp16[64,64]>    (*fp16:16,i32)    =tl.float16 (evaluated in the kernel's module)    auto

`:16` is what a launch finds out: that 16 divides the address or the number. `auto` is the autotuner's own value, or a
heuristic's. `canonical` turns what people write into the one text that jobs hold: two spellings are one job.
"""

from __future__ import annotations

import ast
import difflib
import functools
import re

from tile_lsp.frontends.given import SpecFault

AUTO = "auto"
DTYPES = (
    "i1", "u1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64",
    "fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16",
)  # fmt: skip
_NAMES = {
    **{name: name for name in DTYPES},
    **{f"int{bits}": f"i{bits}" for bits in (1, 8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    **{f"float{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    "bool": "i1", "half": "fp16", "float": "fp32", "double": "fp64", "bfloat16": "bf16", "int": "i32", "long": "i64",
    "float8e5": "fp8e5", "float8e4nv": "fp8e4nv", "float8_e5m2": "fp8e5", "float8_e4m3fn": "fp8e4nv",
    "f8e5m2": "fp8e5", "f8e4m3fn": "fp8e4nv",
}  # fmt: skip
_TYPE = re.compile(r"(?P<pointer>\*k?)?(?P<name>[A-Za-z]\w*)(?P<rest>:(?P<divisor>\d+))?\Z")
_DESCRIPTOR = re.compile(r"tensordesc<\s*(?P<name>\w+)\s*\[(?P<dims>[\d\s,]+)\](?P<layout>.*)>\Z", re.DOTALL)
_DIVISOR = 16
#: Bits of a number.
_WIDEST = 4096


def dtype(name: str) -> str | None:
    """Triton's short name, or None if there is no such dtype."""
    return _NAMES.get(name.removeprefix("tl.").removeprefix("gl.").removeprefix("torch."))


def canonical(text: str, name: str, constexpr: bool) -> str | SpecFault:
    """The text that jobs hold for a parameter. Never raises."""
    text = text.strip()
    if text == AUTO:
        return AUTO
    if text.startswith("="):
        return _expression(text[1:].strip(), 1, len(text))
    return _constant(text, name) if constexpr else _argument(text, name)


def literal(value: object) -> str | None:
    """The notation of a Python constant; None for what is none, and for numbers that nobody writes out."""
    if isinstance(value, int) and value.bit_length() > _WIDEST:
        return None
    if isinstance(value, (bool, int, float, str)) or value is None:
        return repr(value)
    if isinstance(value, (tuple, list)):
        items = [literal(item) for item in value]
        return f"({','.join(items)}{',' if len(items) == 1 else ''})" if None not in items else None  # type: ignore[arg-type]
    return None


def _expression(source: str, start: int, end: int) -> str | SpecFault:
    if not source:
        return SpecFault("an expression is missing after `=`", 0, max(1, end))
    try:
        return "=" + ast.unparse(ast.parse(source, mode="eval")).replace(", ", ",")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "too deeply nested"
        return SpecFault(f"`{source}` is no Python expression: {reason}", start, end)


def _constant(text: str, name: str) -> str | SpecFault:
    found = _literal(text)
    if found is not None:
        return found
    if (short := dtype(text)) is not None:
        return short
    match = _TYPE.match(text)
    if match is not None and dtype(match["name"]) is not None:
        return SpecFault(f"{name} is a constexpr: give it a value, such as {name}=128, not a type", 0, len(text))
    if text.isidentifier():
        return SpecFault(
            f"`{text}` is no value; write {name}='{text}' for a string, {name}={'=' + text} for a name", 0, len(text)
        )
    return _expression(text, 0, len(text))


def _argument(text: str, name: str) -> str | SpecFault:
    if text.startswith("("):
        return _tuple(text, name)
    if text.startswith("tensordesc"):
        return _descriptor(text)
    found = _literal(text)
    if found is not None:
        return _as_launched(found, text, name)
    match = _TYPE.match(text)
    if match is None:
        return SpecFault(f"`{text}` is no argument: write a type, such as *fp16:16 or i32, or a value", 0, len(text))
    short = dtype(match["name"])
    if short is None:
        start = match.start("name")
        return SpecFault(_unknown(match["name"]), start, match.end("name"))
    pointer, divisor = match["pointer"] or "", match["divisor"]
    if divisor is None:
        return f"{pointer}{short}"
    if divisor == "1" and not pointer and short[0] in "iu":
        return "1"
    if not pointer and short[0] not in "iu":
        return SpecFault(f"only pointers and integers are divisible: write {short}", match.start("rest"), len(text))
    if int(divisor) % _DIVISOR or not int(divisor):
        return SpecFault("a launch looks for divisibility by 16, and for 1; write :16", match.start("rest"), len(text))
    return f"{pointer}{short}:16"


def _as_launched(found: str, text: str, name: str) -> str | SpecFault:
    """What a launch makes of a number: a type, and what it finds out of it."""
    value = ast.literal_eval(found) if found not in ("inf", "-inf", "nan") else float(found)
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "u1"
    if isinstance(value, int):
        if value == 1:
            return "1"
        size = "i32" if -(1 << 31) <= value < 1 << 31 else "u64" if value >= 1 << 63 else "i64"
        return f"{size}:16" if value % _DIVISOR == 0 else size
    if isinstance(value, float):
        return "fp32"
    return SpecFault(f"{name} is no constexpr, so it can't be {text}", 0, len(text))


def _tuple(text: str, name: str) -> str | SpecFault:
    if not text.endswith(")"):
        return SpecFault("the tuple is never closed", 0, len(text))
    items: list[str] = []
    for start, item in _items(text):
        made = _argument(item.strip(), name)
        if isinstance(made, SpecFault):
            return SpecFault(made.message, start + made.start, start + made.end)
        items.append(made)
    return f"({','.join(items)}{',' if len(items) == 1 else ''})"


def _items(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    depth, start = 0, 1
    for position, character in enumerate(text):
        depth += (character in "([<") - (character in ")]>")
        if (character == "," and depth == 1) or (depth == 0 and position == len(text) - 1):
            item = text[start:position]
            if item.strip():
                found.append((start + len(item) - len(item.lstrip()), item.strip()))
            start = position + 1
    return found


def _descriptor(text: str) -> str | SpecFault:
    match = _DESCRIPTOR.match(text)
    if match is None:
        return SpecFault("a tensor descriptor is written tensordesc<fp16[64,64]>", 0, len(text))
    short = dtype(match["name"])
    if short is None:
        return SpecFault(_unknown(match["name"]), match.start("name"), match.end("name"))
    dims = ",".join(part.strip() for part in match["dims"].split(",") if part.strip())
    return f"tensordesc<{short}[{dims}]{match['layout'].strip()}>"


@functools.lru_cache(maxsize=4096)
def _literal(text: str) -> str | None:
    if text.lstrip("+-") in ("inf", "nan"):
        return text.lstrip("+")
    try:
        return literal(ast.literal_eval(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, _NAMES, n=1, cutoff=0.5)
    hint = f"did you mean `{_NAMES[close[0]]}`?" if close else f"there are {', '.join(DTYPES)}"
    return f"`{name}` is not a dtype; {hint}"
