"""From columns of the protocol, in the negotiated encoding, to ours, in UTF-8 bytes, and back; edits to open texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"

_LINE_END = re.compile(r"\r\n|\r|\n")


class Change(NamedTuple):
    """A replacement of a range: 0-based lines, characters in the negotiated encoding. No range: the whole text."""

    text: str
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None

    @classmethod
    def of(cls, event: Any) -> Change:
        """`event`: one of the protocol's two kinds of `TextDocumentContentChangeEvent`."""
        if getattr(event, "range", None) is None:
            return cls(event.text)
        start, end = event.range.start, event.range.end
        return cls(event.text, (start.line, start.character), (end.line, end.character))


def split_lines(text: str) -> list[str]:
    """Lines as the protocol counts them, without their ends; form feeds and the like end no line."""
    return _LINE_END.split(text)


def to_byte_column(line: str, character: int, encoding: str) -> int:
    """The UTF-8 column of a character offset; past the end it is the end, inside a character its beginning."""
    if line.isascii():
        return min(character, len(line))
    return _byte_length(line[: _index_of(line, character, encoding)])


def from_byte_column(line: str, column: int, encoding: str) -> int:
    """The character offset of a UTF-8 column; past the end it is the end."""
    if line.isascii():
        return min(column, len(line))
    prefix = line.encode("utf-8", "surrogatepass")[:column]
    if encoding == UTF8:
        return len(prefix)
    text = prefix.decode("utf-8", "ignore")
    return len(text) if encoding == UTF32 else _utf16_length(text)


def apply_changes(text: str, changes: Iterable[Change], encoding: str) -> str:
    """The text after edits, each of which is in terms of the text that the one before it left."""
    for change in changes:
        if change.start is None or change.end is None:
            text = change.text
            continue
        starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        begin = _offset(text, starts, change.start, encoding)
        end = max(begin, _offset(text, starts, change.end, encoding))
        text = text[:begin] + change.text + text[end:]
    return text


def sound(text: str) -> str:
    """The text with halves of surrogate pairs replaced: they can be typed, but neither encoded nor compiled."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def _offset(text: str, starts: Sequence[int], position: tuple[int, int], encoding: str) -> int:
    line, character = position
    if line >= len(starts):
        return len(text)
    end = starts[line + 1] if line + 1 < len(starts) else len(text)
    row = text[starts[line] : end].rstrip("\r\n")
    return starts[line] + _index_of(row, character, encoding)


def _index_of(line: str, character: int, encoding: str) -> int:
    """Index into `line` of an offset that counts code units of the encoding."""
    if encoding == UTF32 or line.isascii():
        return min(character, len(line))
    width = _utf8_width if encoding == UTF8 else _utf16_width
    for index, symbol in enumerate(line):
        if character < (size := width(symbol)):
            return index
        character -= size
    return len(line)


def _utf8_width(symbol: str) -> int:
    code = ord(symbol)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _utf16_width(symbol: str) -> int:
    return 2 if ord(symbol) > 0xFFFF else 1


def _utf16_length(text: str) -> int:
    return sum(map(_utf16_width, text))


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
