"""Places of an earlier text, looked up in a later one that can't be parsed: what stands on unchanged lines is still
found.
"""

from __future__ import annotations

import difflib
from functools import cached_property

from tile_lsp.model.location import Chain, Place, SourceRange, Span

from .language import PositionMap

_MAX_COMPARISONS = 1 << 20
"""Lines × lines. What is typed between two good texts is small; a larger rewrite has no places worth keeping."""


class StalePositions:
    """The positions of the last good text, carried over to today's by the lines that both have. A `PositionMap`
    to its users.
    """

    def __init__(self, path: str, good: PositionMap, good_lines: tuple[str, ...], lines: tuple[str, ...]) -> None:
        self._path = path
        self._good = good
        self._good_lines = good_lines
        self._lines = lines

    @cached_property
    def _moved(self) -> dict[int, int]:
        """Line of the good text → line of today's (1-based), for lines that both have."""
        good, today = self._good_lines, self._lines
        shorter = min(len(good), len(today))
        head = next((i for i in range(shorter) if good[i] != today[i]), shorter)
        tail = next((i for i in range(shorter - head) if good[-1 - i] != today[-1 - i]), shorter - head)
        moved = {line: line for line in range(1, head + 1)}
        moved |= {len(good) - i: len(today) - i for i in range(tail)}
        between = good[head : len(good) - tail], today[head : len(today) - tail]
        if len(between[0]) * len(between[1]) <= _MAX_COMPARISONS:
            matcher = difflib.SequenceMatcher(None, *between, autojunk=False)
            for a, b, size in matcher.get_matching_blocks():
                moved |= {head + a + i + 1: head + b + i + 1 for i in range(size)}
        return moved

    def resolve(self, place: Place) -> SourceRange | None:
        found = self._good.resolve(place)
        if found is None or found.path != self._path:
            return found
        first = self._moved.get(found.span.line)
        last = self._moved.get(found.span.end_line)
        if first is None or last is None:
            return None
        return SourceRange(found.path, Span(first, found.span.column, last, found.span.end_column))

    def chain(self, chain: Chain) -> tuple[SourceRange, ...]:
        """Innermost first; places that are gone are left out, and nothing is left if the first one is gone."""
        ranges = [self.resolve(place) for place in chain]
        if not ranges or ranges[0] is None:
            return ()
        return tuple(found for found in ranges if found is not None)

    def places_at(self, path: str, line: int, column: int | None = None) -> tuple[Place, ...]:
        if path != self._path:
            return self._good.places_at(path, line, column)
        for good, today in self._moved.items():
            if today == line:
                return self._good.places_at(path, good, column)
        return ()

    def prepare(self) -> None:
        """Nothing is worked out ahead."""


class NoPositions:
    """Of a kernel that could never be read."""

    def resolve(self, place: Place) -> SourceRange | None:
        return None

    def chain(self, chain: Chain) -> tuple[SourceRange, ...]:
        return ()

    def places_at(self, path: str, line: int, column: int | None = None) -> tuple[Place, ...]:
        return ()

    def prepare(self) -> None:
        """Nothing is worked out ahead."""
