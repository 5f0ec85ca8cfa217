"""Where something is: spans of a text, and places that outlive edits.

Lines are 1-based; columns are 0-based and count UTF-8 bytes, as `ast` and the compilers report them. Ends are
exclusive. Only `server/` knows other encodings.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Span(NamedTuple):
    """A range of one text."""

    line: int
    column: int
    end_line: int
    end_column: int

    def contains(self, line: int, column: int) -> bool:
        """True if the position is inside, or at the end, where a cursor still touches the span."""
        return (self.line, self.column) <= (line, column) <= (self.end_line, self.end_column)


class Place(NamedTuple):
    """A range of the *normalised* text of one closure member (see `analysis.closure`), so independent of edits.

    `member` is a member's id, such as `"pkg.helpers/gelu"`. `column` is -1 where the compiler gave a line only,
    `end_line` and `end_column` are -1 where it gave no end.
    """

    member: str
    line: int
    column: int = -1
    end_line: int = -1
    end_column: int = -1


#: Innermost place first, then the call site that it was inlined at, then that one's call site, and so on.
Chain = tuple[Place, ...]


class SourceRange(msgspec.Struct, frozen=True):
    """A span of a file as it stands now. `path` is absolute."""

    path: str
    span: Span
