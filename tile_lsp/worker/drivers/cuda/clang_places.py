"""From clang's positions to places: member, line and column, as the text's `#line` directives have them."""

from __future__ import annotations

import bisect
import ctypes
import re
from typing import Any, NamedTuple

from .clang_library import Location, Range
from .clang_unit import UNIT, Unit, builtins

_DIRECTIVE = re.compile(rb'[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[^\n]*')
_IN_MACRO = 1 << 31
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_GAP = re.compile(rb"\s*")
_BRACKET = re.compile(rb"[()]")
#: What tokens that are written with spaces between them need not have.
_LOOSE = re.compile(
    r"(?<=[\w\])>]) ?(\.|->|::) ?(?=[A-Za-z_~])|(?<=[\w\])]) (?=[\[(])|(?<=[\[(]) | (?=[)\],])|(?<=^-) "
)
_LONGEST = 60


class Spot(NamedTuple):
    """A range of the main file, in bytes."""

    begin: int
    end: int
    expanded: bool
    """It is the use of a macro whose body holds what is meant."""


class Lines:
    """The members of a text with directives, by line."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._starts = [0]
        self._members: list[tuple[str, int] | None] = []
        member, number = "", 1
        for line in text.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
            self._members.append((member, number) if member else None)
            number += 1
            if b"#" in line and (found := _DIRECTIVE.fullmatch(line)):
                number = int(found[1])
                if found[2] is not None:
                    member = re.sub(rb"\\(.)", rb"\1", found[2]).decode("utf-8", "replace")

    def position(self, offset: int) -> tuple[str, int, int] | None:
        """Member, line and column of a byte, None outside of members."""
        row = bisect.bisect_right(self._starts, offset) - 1
        member = self._members[min(row, len(self._members) - 1)]
        return None if member is None else (*member, offset - self._starts[row])

    def start_of_line(self, offset: int) -> int:
        return self._starts[bisect.bisect_right(self._starts, offset) - 1]

    def place(self, begin: int, end: int) -> list[Any] | None:
        """`[member, line, column, end line, end column]`, None where it isn't in one member."""
        first, last = self.position(begin), self.position(end)
        if first is None or last is None or first[0] != last[0] or first[1:] > last[1:]:
            return None
        return [*first, *last[1:]]


class Places:
    """Clang numbers the bytes of a file one by one; that this holds is checked, and asked for where it does not."""

    def __init__(self, unit: Unit) -> None:
        self._clang = clang = unit.clang
        self.lines = Lines(unit.text)
        self.text = unit.text
        self._file = clang.getFile(unit.handle, UNIT.encode())
        self._size = len(unit.text)
        self._base = clang.getLocationForOffset(unit.handle, self._file, 0).raw
        last = clang.getLocationForOffset(unit.handle, self._file, self._size).raw
        self._plain = last - self._base == self._size
        defined = [*_MACRO.findall(unit.text), *_MACRO.findall(builtins())]
        self._macros = frozenset(name for name, _ in defined)
        self._functions = frozenset(name for name, bracket in defined if bracket)
        self._into = (ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint())

    def spot(self, extent: Range) -> Spot | None:
        """Where a range is in the main file; None where it isn't there."""
        begin, end = extent.begin - self._base, extent.end - self._base
        if self._plain and 0 <= begin <= end <= self._size:
            return Spot(begin, end, False)
        if not (extent.begin | extent.end) & _IN_MACRO and self._plain:
            return None
        first, last = self._ask(extent, extent.begin), self._ask(extent, extent.end)
        if first is None or last is None:
            return None
        begin, end = first[0], self._end_of_use(last[0]) if last[1] else last[0]
        if first[1] and end <= (use := self._end_of_use(begin)):
            return Spot(begin, use, True)
        if begin > end:
            return None
        if (
            extent.begin & _IN_MACRO
            and not first[1]
            and self.text.count(b"(", begin, end) != self.text.count(b")", begin, end)
        ):
            # What begins in a macro's argument and ends in its body is nowhere in the text.
            return None
        return Spot(begin, end, False)

    def offset(self, location: Location) -> int | None:
        """Where a name is, in the main file; in a macro's argument too, but not in its body."""
        offset = location.raw - self._base
        if self._plain and 0 <= offset <= self._size:
            return offset
        found = self._ask(location, location.raw) if location.raw & _IN_MACRO or not self._plain else None
        return None if found is None or found[1] else found[0]

    def source(self, spot: Spot) -> str:
        return self.text[spot.begin : spot.end].decode("utf-8", "replace")

    def said(self, spot: Spot) -> str:
        """The source on one line, for people: a member's text has a line for each token."""
        text = " ".join(self.source(spot).split())
        text = _LOOSE.sub(lambda found: found[1] or "", text)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

    def _ask(self, holder: Any, raw: int) -> tuple[int, bool] | None:
        """Offset, and whether that is where a macro is used for what stands in its body."""
        location = Location(holder.a, holder.b, raw)
        file, _, _, offset = self._into
        into = tuple(ctypes.byref(item) for item in self._into)
        self._clang.getFileLocation(location, *into)
        if file.value != self._file:
            return None
        found = offset.value
        if not raw & _IN_MACRO:
            return found, False
        if (word := _WORD.match(self.text, found)) and word[0] in self._macros:
            # In another macro's argument, which is all that libclang tells of it.
            return found, True
        self._clang.getExpansionLocation(location, *into)
        return found, offset.value == found

    def _end_of_use(self, begin: int) -> int:
        """Behind a macro's name, and behind its arguments where it has some."""
        word = _WORD.match(self.text, begin)
        end = word.end() if word is not None else begin
        if word is None or word[0] not in self._functions:
            return end
        opening = _GAP.match(self.text, end).end()  # type: ignore[union-attr]
        if self.text[opening : opening + 1] != b"(":
            return end
        depth = 0
        for found in _BRACKET.finditer(self.text, opening):
            depth += 1 if found[0] == b"(" else -1
            if depth == 0:
                return found.end()
        return end
