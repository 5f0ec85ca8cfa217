"""Lines and columns of source text, and text in the form that the parser takes."""

from __future__ import annotations

import re

from tile_lsp.model.location import Span

CELL_MARK = "#\x1f"
"""The line between two cells of a notebook (see `analysis.notebook`): a comment that nobody types."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` as `ast.parse` accepts it, every character still at its line and UTF-8 byte column.

    Lines end as LSP and Python have it: `\\n`, `\\r\\n`, `\\r`. A byte-order mark becomes form feeds, which Python
    skips at the start of a line; what can't be encoded or is refused everywhere becomes another character of the same
    number of bytes.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith("\ufeff"):
        text = "\f\f\f" + text[1:]
    if "\0" in text:
        text = text.replace("\0", "\x01")
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    return text


def byte_column(line: str, column: int) -> int:
    """UTF-8 column of a character column, both 0-based; a column past the end is the end."""
    column = max(0, column)
    return min(column, len(line)) if line.isascii() else len(line[:column].encode("utf-8", "surrogatepass"))


def span_of(node: object) -> Span | None:
    """Range of an `ast` node, decorators not included; None for a node that was made, not parsed."""
    line = getattr(node, "lineno", None)
    end_line = getattr(node, "end_lineno", None)
    if line is None or end_line is None:
        return None
    return Span(line, node.col_offset, end_line, node.end_col_offset)  # type: ignore[attr-defined]


def shifted(span: Span, lines: int) -> Span:
    """The span moved down."""
    return Span(span.line + lines, span.column, span.end_line + lines, span.end_column)
