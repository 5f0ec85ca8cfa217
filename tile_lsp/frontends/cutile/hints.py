"""cuTile's hints: their names, ranges, and where each takes effect."""

from __future__ import annotations

from collections.abc import Callable

from tile_lsp.frontends import hints
from tile_lsp.frontends.hints import check, check_all
from tile_lsp.model.job import Config, Scalar

from . import versions


class Hint(hints.Hint, frozen=True):
    """A hint, and where it takes effect."""

    in_bytecode: bool
    """False for those that only the assembler's command line, or inference, sees."""


def _integers(*values: int) -> Callable[[Scalar], bool]:
    return lambda value: type(value) is int and value in values


HINTS: dict[str, Hint] = {
    "num_ctas": Hint("a power of two from 1 to 16", _integers(1, 2, 4, 8, 16), True),
    "occupancy": Hint("a number from 1 to 32", _integers(*range(1, 33)), True),
    "num_worker_warps": Hint("a power of two from 1 to 32", _integers(1, 2, 4, 8, 16, 32), True),
    "opt_level": Hint("0, 1, 2 or 3", _integers(0, 1, 2, 3), False),
    "bytecode_version": Hint(
        f"one of {', '.join(versions.BYTECODE_VERSIONS)}", lambda value: value in versions.BYTECODE_VERSIONS, False
    ),
}


def parse_hint(name: str, text: str) -> Scalar:
    """The value that a comment or a command line gives a hint: an integer where the text is one."""
    if name == "bytecode_version":
        return text.strip("'\"")
    try:
        return int(text)
    except ValueError:
        return text


def check_hint(name: str, value: Scalar) -> str | None:
    """A message if there is no such hint, or if it can't have that value."""
    return check(name, value, HINTS, "no hint")


def check_config(config: Config, tileiras: tuple[int, int] | None = None) -> str | None:
    """A message for people if target, hints or symbol can't be right."""
    if config.target is not None and (message := versions.check_target(config.target, tileiras)):
        return message
    if message := check_all(config.hints, check_hint):
        return message
    if config.symbol is not None:
        return check_symbol(config.symbol)
    return None


def check_symbol(symbol: str) -> str | None:
    if symbol.isascii() and symbol.isidentifier():
        return None
    return f"`{symbol}` is no symbol name: letters, digits and `_`, not a digit first"
