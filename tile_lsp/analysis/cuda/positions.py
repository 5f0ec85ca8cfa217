"""From places in normalised members to today's source ranges, and back: line for token.

A member's normalised text has one token a line, so a compiler's line is a token, whatever it says of columns.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from tile_lsp.model.location import Chain, Place, SourceRange, Span

from .lexer import Token
from .workspace import CudaFile


class Part(NamedTuple):
    """What a member was made of."""

    file: CudaFile
    start: int
    """Of the piece, in characters of the file."""
    tokens: Sequence[Token]
    """Those that were kept."""
    lines: Sequence[int]
    """The first line (from 1) of each in the member's text."""

    def span(self, index: int) -> Span:
        token = self.tokens[index]
        return self.file.span(self.start + token.start, self.start + token.end)


class Positions:
    """The map for one closure; satisfies `analysis.language.PositionMap`."""

    def __init__(self, members: Mapping[str, Part] = MappingProxyType({})) -> None:
        self._members = members

    def resolve(self, place: Place) -> SourceRange | None:
        """Today's range of a place, or None for a member that isn't of this closure."""
        part = self._members.get(place.member)
        if part is None or not part.tokens:
            return None
        first = _at(part, place.line)
        span = part.span(first)
        last = first
        if place.end_line > 0:
            # A range that ends before a line's first column ends with the token before.
            last = _at(part, place.end_line - (place.end_column == 0))
        if last > first:
            end = part.span(last)
            span = Span(span.line, span.column, end.end_line, end.end_column)
        return SourceRange(part.file.path, span)

    def chain(self, chain: Chain) -> tuple[SourceRange, ...]:
        """Each place of a chain, those that can't be resolved left out."""
        return tuple(found for place in chain if (found := self.resolve(place)) is not None)

    def prepare(self) -> None:
        """Nothing is worked out ahead."""

    def places_at(self, path: str, line: int, column: int | None = None) -> tuple[Place, ...]:
        """The tokens that a position touches, or all those of a line (without columns)."""
        found: list[Place] = []
        for member, part in self._members.items():
            if part.file.path != path or not part.tokens:
                continue
            first = part.file.point(part.start + part.tokens[0].start)[0]
            last = part.file.point(part.start + part.tokens[-1].end)[0]
            if not first <= line <= last:
                continue
            for index in range(len(part.tokens)):
                span = part.span(index)
                if span.line > line:
                    break
                if span.end_line < line:
                    continue
                row = part.lines[index]
                if column is None:
                    found.append(Place(member, row))
                elif span.contains(line, column):
                    text = part.tokens[index].text
                    found.append(Place(member, row, 0, row + text.count("\n"), len(text.rpartition("\n")[2].encode())))
        return tuple(found)


def _at(part: Part, line: int) -> int:
    return min(max(bisect.bisect_right(part.lines, line) - 1, 0), len(part.tokens) - 1)
