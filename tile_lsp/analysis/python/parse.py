"""Python text to statements, whatever the text."""

from __future__ import annotations

import dataclasses

from tile_lsp.model.location import Span


@dataclasses.dataclass(frozen=True)
class SyntaxProblem:
    """A region that doesn't parse."""

    message: str
    span: Span


class PythonFile:
    """A parsed file. Never changes; parts are computed when asked for."""

    path: str
    text: str
    problems: tuple[SyntaxProblem, ...]


def parse(path: str, text: str) -> PythonFile:
    """Never raises."""
    raise NotImplementedError
