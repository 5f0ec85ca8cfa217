"""CUDA C++ text to preprocessing tokens: comments and blanks dropped, a directive one token. Never raises."""

from __future__ import annotations

import re
from typing import NamedTuple

WORD, NUMBER, STRING, CHAR, PUNCT, DIRECTIVE = range(6)


class Token(NamedTuple):
    kind: int
    text: str
    """As it is written; a directive without comments, in one line, its words a blank apart."""
    start: int
    """In characters of the text, as is `end`."""
    end: int


_SPLICE = r"\\[ \t]*\r?\n"
_COMMENT = r"//(?:[^\\\n]|\\\r?\n|\\.)*|/\*.*?(?:\*/|\Z)"
_STRING = r'(?:u8|[uUL])?"(?:[^"\\\n]|\\(?:\r\n|.))*"?\w*'
_CHAR = r"(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'"
_NUMBER = r"\.?\d(?:[eEpP][+-]|'?[\w.])*"
_PUNCT = r"<<<|>>>|<=>|\.\.\.|->\*|<<=|>>=|::|->|\+\+|--|<<|>>|&&|\|\||[-+*/%&|^<>=!]=|##|[^\s\w]"
_TOKEN = re.compile(
    rf"(?P<skip>(?:[^\S\n]|{_SPLICE})+|{_COMMENT})"
    r"|(?P<end>\n)"
    r'|(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)"\w*)'
    rf"|(?P<string>{_STRING})|(?P<char>{_CHAR})|(?P<number>{_NUMBER})|(?P<word>\w+)|(?P<punct>{_PUNCT})",
    re.DOTALL,
)
#: The rest of a directive's line, which a comment of several lines goes on with.
_LINE = re.compile(rf'(?:{_COMMENT}|{_SPLICE}|{_STRING}|[^\n/"\\]|[/"\\])*', re.DOTALL)
_INSIDE = re.compile(
    rf"(?P<skip>(?:\s|{_SPLICE})+|{_COMMENT})|(?P<text>{_STRING}|{_CHAR}|{_NUMBER}|\w+|{_PUNCT})", re.DOTALL
)
_KINDS = {"raw": STRING, "string": STRING, "char": CHAR, "number": NUMBER, "word": WORD, "punct": PUNCT}
_INCLUDE = re.compile(r'#\s*include(?:_next)?\s*(<[^>\n]*>|"[^"\n]*")')


def tokens(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of a text, or of the part of it from `start`, which begins a line, to `end`."""
    found: list[Token] = []
    stop = len(text) if end is None else end
    position = start
    match_at = _TOKEN.match
    line_start = True
    while position < stop:
        match = match_at(text, position, stop)
        if match is None:  # nothing that the patterns leave out is left
            position += 1
            continue
        kind = match.lastgroup
        position = match.end()
        if kind == "end":
            line_start = True
        elif kind == "punct" and line_start and match[0] == "#":
            line = _LINE.match(text, match.start(), stop)
            assert line is not None
            position = line.end()
            found.append(Token(DIRECTIVE, directive(line[0]), match.start(), position))
        elif kind != "skip":
            line_start = False
            found.append(Token(_KINDS[kind or "punct"], match[0], match.start(), position))
    return found


def is_comment(text: str, start: int, position: int) -> bool:
    """True if a comment begins at `position`, where from `start` on there are but comments and blanks."""
    while start < position:
        match = _TOKEN.match(text, start)
        if match is None or match.lastgroup not in ("skip", "end"):
            return False
        start = match.end()
    return start == position


def directive(line: str) -> str:
    """A directive in one line: comments dropped, words a blank apart where a blank was.

    Where there was none there is none: `#define F (x)` and `#define F(x)` are two things.
    """
    include = _INCLUDE.match(line)
    if include is not None:
        return f"#include {include[1]}"
    parts: list[str] = []
    blank = False
    for match in _INSIDE.finditer(line):
        if match["skip"] is not None:
            blank = bool(parts) and parts[-1] != "#"
        else:
            if blank:
                parts.append(" ")
            parts.append(match["text"])
            blank = False
    return "".join(parts)


def words(line: str) -> list[str]:
    """The names in a directive, its own left out."""
    return re.findall(r"[^\W\d]\w*", re.sub(r'"(?:[^"\\]|\\.)*"', "", line.partition(" ")[2]))
