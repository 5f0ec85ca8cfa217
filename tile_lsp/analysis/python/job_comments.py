"""The lines of a file that are job comments, whether or not a kernel stands below them."""

from __future__ import annotations

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
    if file.broken or not any(is_job_comment(line.lstrip()) for line in file.lines):
        return ()
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(file.clean).readline):
            if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
                text, (line, column) = token.string.rstrip(), token.start
                if is_job_comment(text):
                    start = byte_column(token.line, column)
                    found.append(CommentLine(text, Span(line, start, line, start + len(text.encode()))))
    except (tokenize.TokenError, SyntaxError):  # magics of a notebook
        return ()
    return tuple(found)
