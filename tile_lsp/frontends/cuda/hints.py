"""What a job may say of how it is compiled: names, ranges, and the option of NVRTC that each stands for."""

from __future__ import annotations

import re

from tile_lsp.frontends import hints
from tile_lsp.frontends.hints import check, check_all
from tile_lsp.model.job import Config, Scalar

from .targets import check_target


class Hint(hints.Hint, frozen=True):
    """A hint, and where it takes effect."""

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
    return check(name, value, HINTS, "no option of CUDA C++")


def check_config(config: Config) -> str | None:
    """A message for people if target, options or symbol can't be right."""
    if config.target is not None and (message := check_target(config.target)):
        return message
    if message := check_all(config.hints, check_hint):
        return message
    if config.symbol is not None:
        return "a kernel of CUDA C++ has the symbol that its name and its types make; it can't be chosen"
    return None
