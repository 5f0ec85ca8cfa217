"""What front ends share of hints: the names of a config that steer a compiler, with what each may be."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping

import msgspec

from tile_lsp.model.job import Scalar


class Hint(msgspec.Struct, frozen=True):
    """A hint, and what it may be."""

    allowed: str
    """For people."""
    valid: Callable[[Scalar], bool]


def check(name: str, value: Scalar, hints: Mapping[str, Hint], none: str) -> str | None:
    """A message if there is no such hint, or if it can't have that value. `none`: `"no option of triton"`."""
    hint = hints.get(name)
    if hint is None:
        close = difflib.get_close_matches(name, hints, n=1)
        advice = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(hints)}"
        return f"`{name}` is {none}; {advice}"
    return None if hint.valid(value) else f"{name} is {hint.allowed}, not {value}"


def check_all(given: Iterable[tuple[str, Scalar]], one: Callable[[str, Scalar], str | None]) -> str | None:
    """The first message about a config's hints, each of which may be there once."""
    seen: set[str] = set()
    for name, value in given:
        if name in seen:
            return f"{name} is given twice"
        seen.add(name)
        if message := one(name, value):
            return message
    return None
