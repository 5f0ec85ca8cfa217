"""TOML with the place of each key, so that a problem can be shown where it is written."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import msgspec

from .location import Span

Path = tuple[str, ...]


class TomlSection(msgspec.Struct, frozen=True):
    """One table of a TOML text."""

    values: Mapping[str, Any]
    """Empty where the text has no such table, or can't be read."""
    spans: Mapping[Path, Span]
    """Of keys, by path from the table on; the table itself has the empty path."""
    error: tuple[str, Span] | None = None
    """Why the text can't be read."""

    def locate(self, path: Path) -> Span:
        """Where a key is written, or the nearest key around it that is."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.spans:
                return self.spans[path[:length]]
        return Span(1, 0, 1, 0)


def read_toml(text: str, table: Path = ()) -> TomlSection:
    """A table of a TOML text with the places of its keys. Never raises."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        values: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return TomlSection({}, {}, _error(text, str(error)))
    for key in table:
        values = values.get(key) if isinstance(values, Mapping) else None
    if not isinstance(values, Mapping):
        return TomlSection({}, {})
    spans = _Scanner(text).scan()
    depth = len(table)
    return TomlSection(values, {path[depth:]: span for path, span in spans.items() if path[:depth] == table})


def _error(text: str, message: str) -> tuple[str, Span]:
    found = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)\s*$", message)
    lines = text.split("\n")
    line = int(found[1]) if found and found[1] else len(lines)
    shown = message[: found.start()] if found else message
    content = lines[line - 1] if line <= len(lines) else ""
    column = int(found[2]) - 1 if found and found[2] else len(content)
    start = len(content[:column].encode())
    return shown, Span(line, start, line, max(start, len(content.rstrip().encode())))


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL)
_SPACE = re.compile(r"[ \t]*")
_EMPTY = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}\n#]+")


class _Scanner:
    """Walks a text that is known to be TOML, noting where keys are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.spans: dict[Path, Span] = {}
        self.starts = [0]
        self.starts += [match.end() for match in re.finditer("\n", text)]
        self.tables: dict[Path, int] = {}

    def scan(self) -> dict[Path, Span]:
        prefix: Path = ()
        while True:
            self.take(_EMPTY)
            if self.position >= len(self.text):
                return self.spans
            if self.text[self.position] == "[":
                double = self.text.startswith("[[", self.position)
                self.position += 2 if double else 1
                prefix = self.key(())
                self.position += 2 if double else 1
                if double:
                    index = self.tables[prefix] = self.tables.get(prefix, -1) + 1
                    prefix = (*prefix, str(index))
            else:
                path = self.key(prefix)
                self.position += 1
                self.value(path)

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.position)
        if found is None:
            # Never so in a valid text; going on is what matters.
            self.position += 1
            return ""
        self.position = found.end()
        return found.group()

    def key(self, prefix: Path) -> Path:
        """A dotted key with the blanks around it."""
        path = prefix
        while True:
            self.take(_SPACE)
            start = self.position
            quote = self.text[start : start + 1]
            raw = self.take(_BASIC if quote == '"' else _LITERAL if quote == "'" else _BARE)
            path = (*path, _unquoted(raw))
            self.spans.setdefault(path, self.span(start, self.position))
            self.take(_SPACE)
            if self.text[self.position : self.position + 1] != ".":
                return path
            self.position += 1

    def value(self, path: Path) -> None:
        self.take(_SPACE)
        rest = self.text[self.position : self.position + 3]
        if rest == '"""':
            self.take(_LONG_BASIC)
        elif rest == "'''":
            self.take(_LONG_LITERAL)
        elif rest[:1] == '"':
            self.take(_BASIC)
        elif rest[:1] == "'":
            self.take(_LITERAL)
        elif rest[:1] in ("[", "{"):
            self.collection(path, "]" if rest[0] == "[" else "}")
        else:
            self.take(_SCALAR)

    def collection(self, path: Path, closer: str) -> None:
        self.position += 1
        index = 0
        while self.position < len(self.text):
            self.take(_EMPTY)
            here = self.text[self.position : self.position + 1]
            if here == closer:
                self.position += 1
                return
            if here == ",":
                self.position += 1
            elif closer == "}":
                inner = self.key(path)
                self.position += 1
                self.value(inner)
            else:
                self.value((*path, str(index)))
                index += 1

    def span(self, start: int, end: int) -> Span:
        line = bisect.bisect_right(self.starts, start)
        first = self.starts[line - 1]
        column = len(self.text[first:start].encode())
        return Span(line, column, line, column + len(self.text[start:end].encode()))


def _unquoted(raw: str) -> str:
    if raw[:1] == '"':
        return next(iter(tomllib.loads(f"{raw} = 0")))
    return raw[1:-1] if raw[:1] == "'" else raw
