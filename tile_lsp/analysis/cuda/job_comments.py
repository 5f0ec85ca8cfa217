"""The lines of a file that are job comments, whether or not a kernel stands below them."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from tile_lsp.analysis.comments import is_job_comment
from tile_lsp.analysis.language import CommentLine

from .lexer import is_comment
from .split import BROKEN
from .workspace import CudaFile

_WORD = "tile-lsp"


def job_comments(file: CudaFile) -> tuple[CommentLine, ...]:
    """Those that begin one, in order; none of a file that can't be read as a whole. What looks like a comment in a
    string, in another comment or in a macro is none.
    """
    if any(piece.kind == BROKEN for piece in file.pieces):
        return ()
    return tuple(_candidates(file))


def _candidates(file: CudaFile) -> Iterator[CommentLine]:
    position = file.text.find(_WORD)
    while position >= 0:
        row, _ = file.point(position)
        line = file.line(row)
        text = line.strip()
        begin = file.starts[row - 1] + len(line) - len(line.lstrip())
        if text.startswith("//") and is_job_comment(text) and _is_free(file, begin):
            yield CommentLine(text, file.span(begin, begin + len(text)))
        end = file.text.find("\n", position)
        position = file.text.find(_WORD, end) if end >= 0 else -1


def _is_free(file: CudaFile, position: int) -> bool:
    """True if a comment begins at a place: what is before it ends before it."""
    number = bisect.bisect_right(file.pieces, position, key=lambda piece: piece.start) - 1
    before = 0
    if number >= 0:
        piece = file.pieces[number]
        tokens = piece.tokens
        at = bisect.bisect_right(tokens, position - piece.start, key=lambda token: token.start) - 1
        before = piece.start + tokens[at].end
    return before <= position and is_comment(file.text, before, position)
