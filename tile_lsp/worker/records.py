"""Type records as they are sent: lists, since there are hundreds of them to an inference."""

from __future__ import annotations

from typing import Any


def record(
    chain: list[Any],
    kind: str,
    type_: str,
    name: str | None = None,
    constant: str | None = None,
    facts: Any = (),
    scope: Any = None,
) -> list[Any]:
    """The server's `TypeRecord`, up to the last of its fields that says something."""
    made = [chain, kind, type_, name, constant, facts, scope]
    while not made[-1]:
        made.pop()
    return made
