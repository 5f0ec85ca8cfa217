"""The `# tile-lsp: A=f16[4096,4096] tm=128 target=sm_90,sm_100` comments above a kernel, as words with exact spans.

Language-neutral: what a name or a value means is the front end's to say. One comment is one job; a line that ends in
`\\` goes on in the next one. A value runs to the next blank outside brackets and quotes; ` #` starts a remark that is
not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from tile_lsp.model.location import Span

_MARK = re.compile(r"[#/]+\s*tile-lsp\s*:")
_NEAR_MARK = re.compile(r"[#/]+\s*(?P<word>tile[-_ ]?lsp)\b(?=\W*@?\w+=\S)", re.IGNORECASE)
_LEADER = re.compile(r"[#/]+")
_NAME = re.compile(r"@?[^\W\d]\w*\Z")
_CLOSERS = {")": "(", "]": "[", "}": "{"}


class CommentItem(msgspec.Struct, frozen=True):
    """One `NAME=VALUE` of a comment."""

    name: str
    value: str
    name_span: Span
    value_span: Span


class CommentProblem(msgspec.Struct, frozen=True):
    """What can't be read, at the exact word."""

    message: str
    span: Span


class JobComment(msgspec.Struct, frozen=True):
    """One comment: the job that it asks for, as far as it could be read."""

    items: tuple[CommentItem, ...]
    span: Span
    """From the first `#` to the end of the last line of the comment."""
    problems: tuple[CommentProblem, ...] = ()


class _Word(msgspec.Struct, frozen=True):
    text: str
    start: int
    """In characters of the line."""
    fault: tuple[str, int, int] | None = None
    """Message, start and end (characters of the line) for brackets and quotes that don't pair up."""


def read_comments(lines: Iterable[tuple[str, Span]]) -> tuple[JobComment, ...]:
    """The job comments among comment lines in file order.

    Each line is given with the span of its text, the comment leader (`#`, `//`) first. Lines that are no job comments
    are passed over.
    """
    found: list[JobComment] = []
    pending: list[tuple[str, Span, int]] = []
    for text, span in lines:
        text = text.rstrip("\r\n")
        body = _body_start(text)
        if pending and span.line == pending[-1][1].line + 1:
            leader = _LEADER.match(text)
            pending.append((text, span, body if body is not None else leader.end() if leader else 0))
        else:
            if pending:
                found.append(_read(pending))
                pending = []
            if body is None:
                near = _near_miss(text, span)
                if near is not None:
                    found.append(near)
                continue
            pending = [(text, span, body)]
        if not _continues(text):
            found.append(_read(pending))
            pending = []
    if pending:
        found.append(_read(pending))
    return tuple(found)


def is_job_comment(text: str) -> bool:
    """True for the text of a line, leader first, that begins a job comment."""
    return _MARK.match(text) is not None


def write_comment(items: Iterable[tuple[str, str]], leader: str = "#") -> str:
    """The comment that `read_comments` reads these names and values from; values without blanks outside brackets."""
    return f"{leader} tile-lsp: " + " ".join(f"{name}={value}" for name, value in items)


def byte_span(text: str, span: Span, start: int, end: int) -> Span:
    """The span of characters `start` to `end` of `text`, a text of one line that stands at `span`."""
    begin = span.column + len(text[:start].encode("utf-8", "surrogatepass"))
    return Span(span.line, begin, span.line, begin + len(text[start:end].encode("utf-8", "surrogatepass")))


def _body_start(text: str) -> int | None:
    mark = _MARK.match(text)
    return mark.end() if mark else None


def _near_miss(text: str, span: Span) -> JobComment | None:
    """A comment that was surely meant to be one: `# tile-lsp tm=128`, `# tile_lsp: tm=128`."""
    near = _NEAR_MARK.match(text)
    if near is None:
        return None
    where = byte_span(text, span, *near.span("word"))
    return JobComment((), span, (CommentProblem("a job comment starts with `tile-lsp:`", where),))


def _continues(text: str) -> bool:
    stripped = text.rstrip()
    return stripped.endswith("\\") and not stripped.endswith("\\\\")


def _read(lines: list[tuple[str, Span, int]]) -> JobComment:
    items: list[CommentItem] = []
    problems: list[CommentProblem] = []
    for text, span, start in lines:
        last = text is lines[-1][0]
        if _continues(text):
            end = len(text.rstrip()) - 1
            if last:
                problems.append(
                    CommentProblem("no comment line follows to go on with", byte_span(text, span, end, end + 1))
                )
            text = text[:end]
        for word in _words(text, start):
            _read_word(word, text, span, items, problems)
    first, last_span = lines[0][1], lines[-1][1]
    whole = Span(first.line, first.column, last_span.end_line, last_span.end_column)
    if not items and not problems:
        text, span, start = lines[0]
        problems.append(
            CommentProblem("a job comment names arguments, a target or hints: `tile-lsp: tm=128 target=sm_90`", whole)
        )
    return JobComment(tuple(items), whole, tuple(problems))


def _read_word(word: _Word, text: str, span: Span, items: list[CommentItem], problems: list[CommentProblem]) -> None:
    def problem(message: str, start: int, end: int) -> None:
        problems.append(CommentProblem(message, byte_span(text, span, start, end)))

    end = word.start + len(word.text)
    if word.fault is not None:
        problem(*word.fault)
        return
    name, equals, value = word.text.partition("=")
    if not equals:
        problem(f"expected NAME=VALUE, found `{word.text}`", word.start, end)
    elif not name:
        problem("a name is missing before `=`; write NAME=VALUE without blanks", word.start, end)
    elif not _NAME.match(name):
        problem(f"`{name}` is not a name", word.start, word.start + len(name))
    elif not value:
        problem(f"a value is missing after `{name}=`; write NAME=VALUE without blanks", word.start, end)
    else:
        value_start = end - len(value)
        items.append(
            CommentItem(
                name,
                value,
                byte_span(text, span, word.start, word.start + len(name)),
                byte_span(text, span, value_start, end),
            )
        )


def _words(text: str, start: int) -> Iterator[_Word]:
    """The words of a line from `start` on: split at blanks outside brackets and quotes."""
    position = start
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        if text[position] == "#":
            return
        end, fault = _word_end(text, position)
        yield _Word(text[position:end], position, fault)
        position = end


def _word_end(text: str, start: int) -> tuple[int, tuple[str, int, int] | None]:
    """Where the word at `start` ends.

    A word whose brackets or quotes never close ends at the first blank, so that the rest is read.
    """
    open_brackets: list[int] = []
    first_blank: int | None = None
    position = start
    while position < len(text):
        character = text[position]
        if character.isspace():
            if not open_brackets:
                return position, None
            first_blank = position if first_blank is None else first_blank
        elif character in "'\"":
            closing = _closing_quote(text, position)
            if closing is None:
                end = first_blank if first_blank is not None else _blank(text, position)
                return end, (f"the quote {character} is never closed", position, max(end, position + 1))
            position = closing
        elif character in "([{":
            open_brackets.append(position)
        elif character in ")]}":
            if not open_brackets or text[open_brackets[-1]] != _CLOSERS[character]:
                end = first_blank if first_blank is not None else _blank(text, position)
                return end, (f"`{character}` closes nothing", position, position + 1)
            open_brackets.pop()
        position += 1
    if open_brackets:
        at = open_brackets[-1]
        end = first_blank if first_blank is not None else len(text)
        return end, (f"`{text[at]}` is never closed", at, at + 1)
    return position, None


def _closing_quote(text: str, start: int) -> int | None:
    position = start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == text[start]:
            return position
        position += 1
    return None


def _blank(text: str, start: int) -> int:
    while start < len(text) and not text[start].isspace():
        start += 1
    return start
