"""What a job may say of how it is compiled: names, ranges, and the option of NVRTC that each stands for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

import msgspec

from tile_lsp.model.job import Config, Scalar

from .targets import check_target


class Hint(msgspec.Struct, frozen=True):
    """An option, and what it may be."""

    allowed: str
    """For people."""
    valid: Callable[[Scalar], bool]
    inferred: bool = False
    """It may change what diagnostics say: `__FAST_MATH__` is a macro."""


_FLAG = Hint("true or false", lambda value: type(value) is bool)
_STANDARDS = ("c++11", "c++14", "c++17", "c++20", "c++23")

HINTS: dict[str, Hint] = {
    "fastmath": Hint("true or false", lambda value: type(value) is bool, inferred=True),
    "maxrregcount": Hint("a number from 16 to 255", lambda value: type(value) is int and 16 <= value <= 255),
    "opt": Hint("0, 1, 2 or 3, for the assembler", lambda value: type(value) is int and 0 <= value <= 3),
    "fmad": _FLAG,
    "ftz": _FLAG,
    "prec_div": _FLAG,
    "prec_sqrt": _FLAG,
    "restrict": _FLAG,
    "std": Hint(f"one of {', '.join(_STANDARDS)}", lambda value: value in _STANDARDS, inferred=True),
    "options": Hint(
        "options of NVRTC, with commas between them",
        lambda value: isinstance(value, str) and bool(value),
        inferred=True,
    ),
}


def parse_hint(text: str) -> Scalar:
    """The value that a comment gives an option."""
    words: dict[str, Scalar] = {"true": True, "True": True, "false": False, "False": False}
    if text in words:
        return words[text]
    return int(text) if re.fullmatch(r"\d+", text) else text


def check_hint(name: str, value: Scalar) -> str | None:
    """A message if there is no such option, or if it can't have that value."""
    hint = HINTS.get(name)
    if hint is None:
        close = difflib.get_close_matches(name, HINTS, n=1)
        advice = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(HINTS)}"
        return f"`{name}` is no option of CUDA C++; {advice}"
    return None if hint.valid(value) else f"{name} is {hint.allowed}, not {value}"


def check_config(config: Config) -> str | None:
    """A message for people if target, options or symbol can't be right."""
    if config.target is not None and (message := check_target(config.target)):
        return message
    seen: set[str] = set()
    for name, value in config.hints:
        if name in seen:
            return f"{name} is given twice"
        seen.add(name)
        if message := check_hint(name, value):
            return message
    if config.symbol is not None:
        return "a kernel of CUDA C++ has the symbol that its name and its types make; it can't be chosen"
    return None
