"""What each instruction comes from, in the one field that survives from LLVM IR to a cubin's line table: the line.

Places have ranges, and a cubin's own table has lines only. So the debug information that we attach counts places: its
"line" 7 is the seventh place in a table that is kept beside the code. It is attached to the very IR that is compiled
without it, and compiled beside it, so that one can tell whether it changed anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FOLDER, FILE = "/tile-lsp", "places"

_ATTACHED = re.compile(r",? !dbg !\d+")
_METADATA = re.compile(r"!\d+ = (?:distinct )?!DI\w+\(")
_NAMED = re.compile(r"!llvm\.dbg\.cu = .*")
_NUMBER = re.compile(r"!(\d+)")
_PTX_FILE = re.compile(r'(\.file\s+\d+\s+)"[^"]*"(?:\s+"[^"]*")?')
_FLAGS = re.compile(r"!llvm\.module\.flags = ")

_active: Table | None = None


class Table:
    """Places by number, from 1; 0 is no place."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}

    def number(self, location: Any) -> int:
        key = (
            location.filename,
            location.line,
            -1 if location.col is None else location.col,
            getattr(location, "end_line", -1),
            getattr(location, "end_col", -1),
        )
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def places(self) -> list[list[Any]]:
        return [list(key) for key in self._numbers]


def active() -> Table:
    assert _active is not None
    return _active


def is_active() -> bool:
    return _active is not None


@contextmanager
def nothing() -> Iterator[None]:
    """In place of `recorded`, where places are not wanted."""
    yield


@contextmanager
def recorded(table: Table) -> Iterator[None]:
    global _active
    before, _active = _active, table
    try:
        yield
    finally:
        _active = before


def without(text: str) -> str:
    """LLVM IR less the debug information that was attached to it."""
    kept = []
    for line in text.split("\n"):
        if line.startswith("!") and (_METADATA.match(line) or _NAMED.match(line) or _FLAGS.match(line)):
            continue
        kept.append(_ATTACHED.sub("", line) if "!dbg" in line else line)
    return "\n".join(kept)


def together(texts: list[str]) -> str:
    """Modules of LLVM IR as one text, in which each number of metadata is there once."""
    joined = [
        _NUMBER.sub(lambda match, first=first: f"!{first + int(match[1])}", text)
        for first, text in zip(range(0, len(texts) * 1_000_000, 1_000_000), texts, strict=True)
    ]
    return "\n\n".join(joined).replace(f'directory: "{FOLDER}"', 'directory: ""')


def portable(ptx: str) -> str:
    """PTX whose files are named without a folder."""
    return _PTX_FILE.sub(rf'\1"{FILE}"', ptx)
