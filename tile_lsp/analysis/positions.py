"""From places in normalised members to today's source ranges, and back.

A member's normalised text and the source it was made from have trees of equal shape, so each node's range in the one
belongs to a node's range in the other. The correspondence is worked out once for a statement's text and kept while
the statement moves about.
"""

from __future__ import annotations

import ast
import bisect
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from tile_lsp.analysis.tree import fields
from tile_lsp.model.location import Chain, Place, SourceRange, Span

Point = tuple[int, int]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)\s+")
_SOURCE_DEFINED = re.compile(rb"\s*(?:async\b(?:\s|\\\n)*)?(?:def|class)\b(?:\s|\\\n)*")
_WORD = re.compile(r"\w+")
_OPERATOR = re.compile(rb"[^\s()\\#]+")


class Part:
    """Whole statements of a member that come from one chunk of a file."""

    def __init__(self, text: str, statements: Sequence[ast.stmt], path: str, chunk: str, offset: int) -> None:
        self.text = text
        """Normalised, a whole number of lines."""
        self.statements = statements
        """What it was made from. Lines count from the chunk's; nodes that were made have no position."""
        self.path = path
        self.chunk = chunk
        self.offset = offset
        """Lines of the file before the chunk."""

    @property
    def line_count(self) -> int:
        return self.text.count("\n") + 1


class _Pair:
    """A range of the normalised text, and the range of the chunk that it came from."""

    __slots__ = ("after", "before", "depth")

    def __init__(self, before: Span, after: Span, depth: int) -> None:
        self.before = before
        self.after = after
        self.depth = depth


class Correspondence:
    """The ranges of one part, normalised to chunk."""

    def __init__(self, part: Part) -> None:
        self.exact: dict[Span, Span] = {}
        self.pairs: list[_Pair] = []
        self.starts: dict[Point, Span] = {}
        """Range of the innermost node that starts at a point."""
        self.lines: dict[int, Span] = {}
        """What a normalised line came from."""
        self._lines = part.text.split("\n")
        self._encoded = [line.encode() for line in self._lines]
        self._chunk = [line.encode() for line in part.chunk.split("\n")]
        try:
            tree = ast.parse(part.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        try:
            for before, after in zip(tree.body, part.statements, strict=False):
                self._statement(before, after, 0)
        except RecursionError:
            pass  # what was reached so far is right; deeper places fall back to what is around them
        self._fill_lines()

    # -- the parallel walk

    def _add(self, before: Span | None, after: Span | None, depth: int) -> None:
        if before is None or after is None:
            return
        self.exact[before] = after
        self.starts[before[:2]] = after
        self.pairs.append(_Pair(before, after, depth))

    def _statement(self, before: ast.AST, after: ast.AST, depth: int) -> None:
        if type(before) is not type(after):
            return
        span_before, span_after = _span(before), _span(after)
        if span_before is None or span_after is None:
            self._children(before, after, depth)
            return
        if isinstance(before, _DEFINITIONS):
            self._definition(before, after, span_before, span_after, depth)
            return
        header_before, header_after = self._header(before, span_before), self._header(after, span_after)
        self._add(span_before, span_after, depth)
        if header_before != span_before:
            self._add(header_before, header_after, depth + 1)
        self._take_lines(header_before, header_after)
        self._children(before, after, depth + 1)

    def _definition(self, before: ast.AST, after: ast.AST, span_before: Span, span_after: Span, depth: int) -> None:
        """A `def` or `class`: its lines stand for its name."""
        name_before = self._name(self._lines, span_before, before.name)  # type: ignore[attr-defined]
        name_after = self._source_name(span_after)
        header = self._header(before, span_before)
        self._add(span_before, span_after, depth)
        # Within the header, what is no node itself is the definition's name.
        self._add(header, name_after, depth + 1)
        self._add(name_before, name_after, depth + 2)
        self._take_lines(header, name_after)
        self._children(before, after, depth + 2)
        for mine, other in zip(before.decorator_list, after.decorator_list, strict=False):  # type: ignore[attr-defined]
            span, current = _span(mine), _span(other)
            if span and current:
                self.lines[span.line] = current

    def _children(self, before: ast.AST, after: ast.AST, depth: int) -> None:
        for field in fields(type(before)):
            mine, other = getattr(before, field, None), getattr(after, field, None)
            if mine is None or other is None:
                continue
            if isinstance(mine, list):
                for one, two in zip(mine, other, strict=False):
                    if one is not None and two is not None:
                        self._visit(one, two, depth)
            else:
                self._visit(mine, other, depth)

    def _visit(self, before: ast.AST, after: ast.AST, depth: int) -> None:
        if isinstance(before, (ast.stmt, ast.ExceptHandler)):
            self._statement(before, after, depth)
            return
        if type(before) is not type(after):
            return
        span_before, span_after = _span(before), _span(after)
        if isinstance(before, ast.JoinedStr):
            # Columns inside f-strings can't be relied on before Python 3.12: the whole string stands for its parts.
            self._add(span_before, span_after, depth)
            return
        if isinstance(before, ast.match_case):
            self._take_case(before, after)
        self._add(span_before, span_after, depth)
        if span_before is not None and span_after is not None:
            self._words(before, span_before, span_after, after, depth + 1)
        self._children(before, after, depth + 1)

    def _words(self, before: ast.AST, span_before: Span, span_after: Span, after: ast.AST, depth: int) -> None:
        """Parts of expressions that are no nodes: attribute names, names of keywords and parameters, operators."""
        if isinstance(before, ast.Attribute):
            start = span_before.end_column - len(before.attr.encode())
            mine = Span(span_before.end_line, start, span_before.end_line, span_before.end_column)
            self._add(mine, self._last_word(span_after), depth)
        elif isinstance(before, (ast.keyword, ast.arg)):
            text = before.arg
            if text:
                size = len(text.encode())
                mine = Span(span_before.line, span_before.column, span_before.line, span_before.column + size)
                self._add(mine, self._first_word(span_after), depth)
        elif isinstance(before, ast.BinOp):
            self._between(before.left, before.right, after.left, after.right, depth)  # type: ignore[attr-defined]
        elif isinstance(before, ast.BoolOp):
            mine, theirs = before.values, after.values  # type: ignore[attr-defined]
            for index in range(len(mine) - 1):
                self._between(mine[index], mine[index + 1], theirs[index], theirs[index + 1], depth)
        elif isinstance(before, ast.Compare):
            mine = [before.left, *before.comparators]
            theirs = [after.left, *after.comparators]  # type: ignore[attr-defined]
            for index in range(len(mine) - 1):
                self._between(mine[index], mine[index + 1], theirs[index], theirs[index + 1], depth)

    def _between(self, left: ast.AST, right: ast.AST, left_after: ast.AST, right_after: ast.AST, depth: int) -> None:
        """The operator between two operands."""
        spans = [_span(node) for node in (left, right, left_after, right_after)]
        if any(span is None for span in spans):
            return
        a, b, c, d = spans
        mine = _operator(self._encoded, a, b)  # type: ignore[arg-type]
        self._add(mine, _operator(self._chunk, c, d), depth)  # type: ignore[arg-type]

    # -- pieces of text

    def _header(self, node: ast.AST, span: Span) -> Span:
        """A compound statement up to its first block; any other statement whole."""
        first = next(iter(getattr(node, "body", None) or ()), None)
        if not isinstance(node, (ast.stmt, ast.ExceptHandler)) or first is None:
            return span
        end: Point = (span.line, span.column)
        for child in _heading(node):
            inner = _span(child)
            if inner is not None:
                end = max(end, (inner.end_line, inner.end_column))
        if end == (span.line, span.column):
            # `try:`, `else:`: the keyword alone.
            return Span(span.line, span.column, span.line, span.column + len(_KEYWORDS.get(type(node).__name__, "try")))
        return Span(span.line, span.column, *end)

    @staticmethod
    def _name(lines: Sequence[str], span: Span, name: str) -> Span | None:
        line = lines[span.line - 1].encode()[span.column :].decode("utf-8", "replace")
        found = _DEFINED.match(line)
        if found is None:
            return None
        start = span.column + len(found[0].encode())
        return Span(span.line, start, span.line, start + len(name.encode()))

    def _source_name(self, span: Span) -> Span:
        text = b"\n".join([self._chunk[span.line - 1][span.column :], *self._chunk[span.line : span.line + 3]])
        found = _SOURCE_DEFINED.match(text)
        if found is None:
            return Span(span.line, span.column, span.line, span.column)
        word = _WORD.match(text[found.end() :].decode("utf-8", "replace"))
        size = len(word[0].encode()) if word else 0
        before = text[: found.end()]
        line = span.line + before.count(b"\n")
        column = len(before.rpartition(b"\n")[2]) + (span.column if line == span.line else 0)
        return Span(line, column, line, column + size)

    def _first_word(self, span: Span) -> Span:
        line = self._chunk[span.line - 1][span.column :].decode("utf-8", "replace")
        found = _WORD.match(line)
        return Span(span.line, span.column, span.line, span.column + (len(found[0].encode()) if found else 0))

    def _last_word(self, span: Span) -> Span:
        line = self._chunk[span.end_line - 1][: span.end_column].decode("utf-8", "replace")
        start = len(line)
        while start and (line[start - 1].isalnum() or line[start - 1] == "_"):
            start -= 1
        return Span(span.end_line, len(line[:start].encode()), span.end_line, span.end_column)

    # -- lines

    def _take_lines(self, before: Span, after: Span) -> None:
        for line in range(before.line, before.end_line + 1):
            self.lines[line] = after

    def _take_case(self, before: ast.AST, after: ast.AST) -> None:
        span, current = _span(before.pattern), _span(after.pattern)  # type: ignore[attr-defined]
        if span and current:
            self.lines[span.line] = current

    def _fill_lines(self) -> None:
        """Lines that hold no statement (`else:`, a decorator's bracket): what the innermost statement around them
        came from."""
        for number in range(1, len(self._lines) + 1):
            if number not in self.lines and self._lines[number - 1].strip():
                found = self.around((number, 0), (number, len(self._lines[number - 1].encode())))
                if found is not None:
                    after = found
                    self.lines[number] = Span(after.line, after.column, after.line, len(self._chunk[after.line - 1]))

    # -- questions

    def around(self, start: Point, end: Point) -> Span | None:
        """Source range of the innermost range that holds all of the given one."""
        best: _Pair | None = None
        for pair in self.pairs:
            before = pair.before
            if before[:2] <= start and end <= before[2:] and (best is None or pair.depth >= best.depth):
                best = pair
        return best.after if best else None

    @functools.cached_property
    def by_source(self) -> list[_Pair]:
        return sorted(self.pairs, key=lambda pair: (pair.after[:2], -pair.depth))


_KEYWORDS = {"Try": "try", "TryStar": "try", "While": "while", "If": "if", "ExceptHandler": "except", "With": "with"}


def _heading(node: ast.AST) -> Iterator[ast.AST]:
    """Children of a compound statement that stand before its first block."""
    for field, value in ast.iter_fields(node):
        if field in ("body", "orelse", "finalbody", "handlers", "cases", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.arguments):
                yield from ast.walk(child)
            elif isinstance(child, ast.withitem):
                yield child.context_expr
                if child.optional_vars is not None:
                    yield child.optional_vars
            elif isinstance(child, ast.AST):
                yield child


def _operator(lines: Sequence[bytes], left: Span, right: Span) -> Span | None:
    """The first word or sign between two operands, parentheses and comments passed over."""
    for row in range(left.end_line, right.line + 1):
        start = left.end_column if row == left.end_line else 0
        end = right.column if row == right.line else len(lines[row - 1])
        text = lines[row - 1][start:end].partition(b"#")[0]
        if found := _OPERATOR.search(text):
            return Span(row, start + found.start(), row, start + found.end())
    return None


def _span(node: ast.AST) -> Span | None:
    """None of a node that has no place, or was made."""
    try:
        span = Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    except AttributeError:
        return None
    return span if span.end_line is not None else None


class Positions:
    """The map for one closure. Immutable; built lazily, member by member."""

    def __init__(self, members: Mapping[str, Sequence[Part]] = MappingProxyType({})) -> None:
        """`members`: by id, the parts that follow each other in a member's text."""
        self._members = members
        self._starts = {
            member: [1, *_running(part.line_count for part in parts)][: len(parts)] for member, parts in members.items()
        }
        self._built: dict[tuple[str, int], Correspondence] = {}

    def resolve(self, place: Place) -> SourceRange | None:
        """Today's range of a place, or None for a member that isn't of this closure.

        A place that is no node's range gives the nearest sensible range around it, at worst the whole member.
        """
        parts = self._members.get(place.member)
        if not parts:
            return None
        if len(parts) == 1:
            known = self._correspondence(place.member, 0).exact.get(place[1:])  # type: ignore[call-overload]
            if known is not None:
                return SourceRange(parts[0].path, _moved(known, parts[0].offset))
        starts = self._starts[place.member]
        index = max(0, bisect.bisect_right(starts, max(1, place.line)) - 1)
        part, base = parts[index], starts[index] - 1
        found = self._correspondence(place.member, index)
        span = _resolve(found, place.line - base, place.column, place.end_line, place.end_column, base)
        if span is None:
            span = _whole(part)
        return SourceRange(part.path, _moved(span, part.offset))

    def chain(self, chain: Chain) -> tuple[SourceRange, ...]:
        """Each place of a chain, those that can't be resolved left out."""
        return tuple(found for place in chain if (found := self.resolve(place)) is not None)

    def places_at(self, path: str, line: int, column: int | None = None) -> tuple[Place, ...]:
        """Places of a source position, innermost first.

        With a column, the expressions and statements around it; without, the normalised lines (no columns) that came
        from the line.
        """
        result: dict[Place, None] = {}
        for member, parts in self._members.items():
            for index, part in enumerate(parts):
                row = line - part.offset
                if part.path != path or not _touches(part, row):
                    continue
                found = self._correspondence(member, index)
                base = self._starts[member][index] - 1
                if column is None:
                    numbers = [n for n, span in found.lines.items() if span.line <= row <= span.end_line]
                    result.update((Place(member, number + base), None) for number in sorted(numbers))
                else:
                    pairs = [p for p in found.pairs if p.after.contains(row, column)]
                    for pair in sorted(pairs, key=lambda pair: -pair.depth):
                        span = _moved(pair.before, base)
                        result[Place(member, *span)] = None
        return tuple(result)

    def prepare(self) -> None:
        """Work out what the first question would have to wait for. Any thread may do that."""
        for member, parts in self._members.items():
            for index in range(len(parts)):
                self._correspondence(member, index)

    def _correspondence(self, member: str, index: int) -> Correspondence:
        key = (member, index)
        if key not in self._built:
            self._built[key] = _correspondence(self._members[member][index])
        return self._built[key]


_KEPT: dict[tuple[str, str, int], tuple[Sequence[ast.stmt], Correspondence]] = {}
_MOST_KEPT = 1024


def _correspondence(part: Part) -> Correspondence:
    """Kept by the normalised text and the chunk it came from: a statement that only moved has the same."""
    key = (part.text, part.chunk, id(part.statements))
    kept = _KEPT.get(key)
    if kept is not None and kept[0] is part.statements:
        return kept[1]
    found = Correspondence(part)
    if len(_KEPT) >= _MOST_KEPT:
        for old in list(_KEPT)[: _MOST_KEPT // 8]:  # a copy: documents are made in threads
            _KEPT.pop(old, None)
    _KEPT[key] = (part.statements, found)
    return found


def _resolve(found: Correspondence, line: int, column: int, end_line: int, end_column: int, base: int) -> Span | None:
    if column < 0:
        return found.lines.get(line)
    if end_line < 0 or end_column < 0:
        if (line, column) in found.starts:
            return found.starts[line, column]
        return found.around((line, column), (line, column)) or found.lines.get(line)
    span = Span(line, column, end_line - base, end_column)
    if span in found.exact:
        return found.exact[span]
    return found.around(span[:2], span[2:]) or found.lines.get(line)


def _whole(part: Part) -> Span:
    spans = [span for node in part.statements if (span := _span(node)) is not None]
    if not spans:
        return Span(1, 0, 1, 0)
    first, last = spans[0], spans[-1]
    return Span(first.line, first.column, last.end_line, last.end_column)


def _touches(part: Part, row: int) -> bool:
    if row < 1:
        return False
    spans = [span for node in part.statements for span in _all_spans(node)]
    return any(span.line <= row <= span.end_line for span in spans)


def _all_spans(node: ast.AST) -> Iterator[Span]:
    """A statement's range, and its decorators'."""
    for part in (node, *getattr(node, "decorator_list", ())):
        if (span := _span(part)) is not None:
            yield span


def _moved(span: Span, lines: int) -> Span:
    line, column, end_line, end_column = span
    return Span(line + lines, column, end_line + lines, end_column)


def _running(counts: Iterable[int]) -> Iterator[int]:
    """1-based first lines after each count."""
    total = 1
    for count in counts:
        total += count
        yield total
