"""Options of `cuda.jit` that steer code generation: their names and ranges."""

from __future__ import annotations

import re

from tile_lsp.frontends.hints import Hint, check, check_all
from tile_lsp.model.job import Config, Scalar

from .targets import check_target


def _flag(value: Scalar) -> bool:
    return type(value) is bool


_BOUNDS = re.compile(r"\(\d+(, \d+){0,2},?\)")
_FLAG = Hint("True or False", _flag)

HINTS: dict[str, Hint] = {
    "fastmath": _FLAG,
    "opt": _FLAG,
    "lto": _FLAG,
    "lineinfo": _FLAG,
    "max_registers": Hint("a number from 16 to 255", lambda value: type(value) is int and 16 <= value <= 255),
    "launch_bounds": Hint(
        "threads per block, as 256, or (threads, blocks, blocks per cluster), as (256,2)",
        lambda value: _positive(value) or (isinstance(value, str) and _BOUNDS.fullmatch(value) is not None),
    ),
}


def _positive(value: Scalar) -> bool:
    return type(value) is int and 0 < value <= 1024


def parse_hint(text: str) -> Scalar:
    """The value that a comment gives an option."""
    words: dict[str, Scalar] = {"True": True, "False": False}
    if text in words:
        return words[text]
    try:
        return int(text)
    except ValueError:
        # One text for one meaning.
        return re.sub(r"\s*,\s*(?=\d)", ", ", text.strip())


def check_hint(name: str, value: Scalar) -> str | None:
    """A message if there is no such option, or if it can't have that value."""
    return check(name, value, HINTS, "no option of numba-cuda")


def check_config(config: Config) -> str | None:
    """A message for people if target, options or symbol can't be right."""
    if config.target is not None and (message := check_target(config.target)):
        return message
    if message := check_all(config.hints, check_hint):
        return message
    if config.symbol is not None:
        return "numba-cuda makes a kernel's symbol of its name and its types; it can't be chosen"
    return None
