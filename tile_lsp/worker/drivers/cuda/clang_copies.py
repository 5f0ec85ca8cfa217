"""Copies of templates whose instantiation has errors, in which the parameters are declared as what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Position = tuple[str, int, int]
COPY = "tile_lsp_copy_"
"""Begins the name of the namespace that a copy is in."""


class Broken(NamedTuple):
    """A template in the text, in bytes from its start."""

    begin: int
    parameters_end: int
    """Where its last parameter ends: the bracket follows."""
    end: int
    position: Position
    declared: tuple[str, ...]
    """`using T = float;`, `constexpr int N = 128;`"""


def with_copies(text: bytes, broken: Sequence[Broken]) -> tuple[bytes, frozenset[Position]]:
    """The text with a copy behind each of the templates, at the same places of the same members; and where they are."""
    from .clang_places import Lines

    lines = Lines(text)
    pieces: list[bytes] = []
    written = 0
    for number, one in enumerate(sorted(broken, key=lambda one: one.end)):
        bracket = text.find(b">", one.parameters_end, one.end)
        behind = lines.position(one.end)
        inside = lines.position(bracket + 1)
        if bracket < 0 or behind is None or inside is None or one.end < written:
            continue
        declared = " ".join(one.declared).encode()
        pieces += [
            text[written : one.end],
            b'\n#line 1 ""\nnamespace %s%d { %s\n' % (COPY.encode(), number, declared),
            _directive(inside),
            text[bracket + 1 : one.end],
            b"\n}\n",
            _directive(behind),
        ]
        written = one.end
    pieces.append(text[written:])
    return b"".join(pieces), frozenset(one.position for one in broken)


def _directive(position: Position) -> bytes:
    """What makes the text behind it stand where it stood."""
    member, line, column = position
    escaped = member.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{escaped}"\n'.encode() + b" " * column
