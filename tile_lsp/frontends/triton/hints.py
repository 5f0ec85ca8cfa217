"""Triton's options: their names and ranges. What is not here is asked of the installed version when it compiles."""

from __future__ import annotations

from collections.abc import Callable

from tile_lsp.frontends import hints
from tile_lsp.frontends.hints import check, check_all
from tile_lsp.model.job import Config, Scalar

from . import targets


class Hint(hints.Hint, frozen=True):
    """A hint, and where it takes effect."""

    typed: bool = False
    """True where the option reaches TTIR."""


def _power(last: int) -> Callable[[Scalar], bool]:
    return lambda value: type(value) is int and 0 < value <= last and not value & (value - 1)


def _flag(value: Scalar) -> bool:
    return type(value) is bool


_FLAG = Hint("True or False", _flag)

HINTS: dict[str, Hint] = {
    "num_warps": Hint("a power of two from 1 to 32 (a block has 1024 threads at most)", _power(32)),
    "num_stages": Hint("a number from 0 to 16", lambda value: type(value) is int and 0 <= value <= 16),
    "num_ctas": Hint("a power of two from 1 to 16", _power(16)),
    "maxnreg": Hint("a number from 16 to 255", lambda value: type(value) is int and 16 <= value <= 255),
    "enable_fp_fusion": _FLAG,
    "launch_pdl": _FLAG,
    "launch_cooperative_grid": _FLAG,
    "debug": Hint("True or False", _flag, typed=True),
    "sanitize_overflow": Hint("True or False", _flag, typed=True),
    "default_dot_input_precision": Hint("tf32, tf32x3 or ieee", lambda v: v in ("tf32", "tf32x3", "ieee"), typed=True),
    "ptx_version": Hint("a number such as 87", lambda value: type(value) is int and 60 <= value <= 99),
    "ptx_options": Hint("options of ptxas", lambda value: isinstance(value, str)),
    "waves_per_eu": Hint("a number from 0 to 16", lambda value: type(value) is int and 0 <= value <= 16),
    "matrix_instr_nonkdim": Hint("0, 16 or 32", lambda value: value in (0, 16, 32) and type(value) is int),
    "kpack": Hint("1 or 2", lambda value: value in (1, 2) and type(value) is int),
    "schedule_hint": Hint("a schedule's name", lambda value: isinstance(value, str)),
}


def parse_hint(text: str) -> Scalar:
    """The value that a comment gives an option."""
    words: dict[str, Scalar] = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    try:
        return int(text)
    except ValueError:
        return text.strip("'\"")


def check_hint(name: str, value: Scalar) -> str | None:
    """A message if there is no such option, or if it can't have that value."""
    return check(name, value, HINTS, "no option of triton")


def check_config(config: Config) -> str | None:
    """A message for people if target, options or symbol can't be right."""
    if config.target is not None and (message := targets.check_target(config.target)):
        return message
    if message := check_all(config.hints, check_hint):
        return message
    if config.symbol is not None:
        return "triton names a kernel's symbol after its function; it can't be chosen"
    return None
