"""The lines of a file that are job comments, whether or not a kernel stands below them."""

from __future__ import annotations

import functools
import io
import tokenize

from tile_lsp.analysis.comments import is_job_comment
from tile_lsp.analysis.language import CommentLine
from tile_lsp.model.location import Span

from .parse import PythonFile
from .text import byte_column


def job_comments(file: PythonFile) -> tuple[CommentLine, ...]:
    """Those that begin one, in order; none of a file that can't be read as a whole. What looks like a comment in a
    string is none.
    """
    rows = {row: line for row, line in enumerate(file.lines) if is_job_comment(line.strip())}
    if file.broken or not rows:
        return ()
    # Between two chunks there is no string to be in.
    for offset, text in {(placed.offset, placed.statement.chunk.text): None for placed in file.statements}:
        inside = [row for row in rows if offset <= row <= offset + text.count("\n")]
        if inside:
            real = _comment_rows(text)
            for row in inside:
                if row - offset not in real:
                    del rows[row]
    return tuple(_comment(row, line) for row, line in rows.items())


def _comment(row: int, line: str) -> CommentLine:
    text = line.strip()
    start = byte_column(line, len(line) - len(line.lstrip()))
    return CommentLine(text, Span(row + 1, start, row + 1, start + len(text.encode())))


@functools.lru_cache(maxsize=512)
def _comment_rows(text: str) -> frozenset[int]:
    """Lines (0-based) that are nothing but a comment; none of what can't be read, as magics of a notebook."""
    try:
        return frozenset(
            token.start[0] - 1
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
        )
    except (tokenize.TokenError, SyntaxError):
        return frozenset()
