"""Bytes of a Python file to text: byte-order mark, PEP 263 cookie, never an exception."""

from __future__ import annotations

import codecs
import re
import warnings

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
_LINE = re.compile(rb"\r\n|\r|\n")


def decode(data: bytes) -> str:
    """Text of a file as an editor would show it, without its byte-order mark. Undecodable bytes become U+FFFD."""
    return decode_with_problem(data)[0]


def decode_with_problem(data: bytes) -> tuple[str, str | None]:
    """Like `decode`, with a message for people if something had to be replaced."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding)
    return _decode(data, _cookie(data) or "utf-8")


def _cookie(data: bytes) -> str | None:
    """The encoding that one of the first two lines declares."""
    for line in _LINE.split(data[:2000], maxsplit=2)[:2]:
        if found := _COOKIE.match(line):
            return found[1].decode("ascii", "replace")
        if not _BLANK.match(line):
            return None
    return None


def _decode(data: bytes, encoding: str) -> tuple[str, str | None]:
    try:
        info = codecs.lookup(encoding)
        if not getattr(info, "_is_text_encoding", True):  # `rot13`, `zlib`: bytes to bytes, or text to text
            raise LookupError(encoding)
        name = info.name
    except (LookupError, ValueError, OSError):
        return data.decode("utf-8", "replace"), f"unknown encoding {encoding!r}, read as UTF-8"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `unicode_escape` warns of the text's escapes
        try:
            return data.decode(name), None
        except (UnicodeError, ValueError) as error:
            problem = f"not valid {name}: {error}"
        try:
            return data.decode(name, "replace"), problem
        except (UnicodeError, ValueError):  # codecs that can't replace
            return data.decode("latin-1"), problem
