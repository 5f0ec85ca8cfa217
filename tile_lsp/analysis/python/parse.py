"""Python text to top-level statements, whatever the text.

A file is cut into *chunks* at lines that start a top-level statement, and each chunk is parsed by itself and cached
by its text. So a keystroke parses the statement it is in, and a statement that doesn't parse leaves its neighbours
alive. Syntax trees count lines from the start of their chunk (`Placed.offset` leads back to the file), and are
dropped when they haven't been used for a while: what is known of a statement is small, its tree isn't.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import re
import sys
import unicodedata
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import TypeVar

from tile_lsp.model.location import Span
from tile_lsp.model.outcome import Severity

from .embedded import unwrapped
from .text import CELL_MARK, byte_column, clean
from .unparse import Source

#: A line that may start a top-level statement: not indented, no comment, no closing bracket.
_START = re.compile(r"^\f*[^ \t\n\f#)\]}]", re.MULTILINE)
#: A start that belongs to the statement before it.
_CONTINUED = re.compile(r"\f*(?:else|elif|except|finally)\b")
_DECORATOR = re.compile(r"\f*@")
_TOKEN = re.compile(
    r"""
      \#[^\n]*
    | \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}
    | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
    | (?P<unclosed>\"{3}|'{3})
    | "(?:[^"\\\n]|\\.)*"
    | '(?:[^'\\\n]|\\.)*'
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | \\\n
    | (?P<start>\n(?=\f*[^ \t\n\f#)\]}]))
    """,
    re.VERBOSE | re.DOTALL,
)
#: A file of more chunks is parsed as a whole: they would take each other's place in the cache.
_FEW = 128
#: Trees that are kept. Of a file of more statements, what is asked of all is found out while the tree of each is there.
_TREES = 1024
#: Characters of a text whose older versions soon go. What is known of a statement stays while any version has it.
_LARGE = 1 << 19
_LARGE_VERSIONS = 4
#: Text that is broken over and over is most likely one unclosed string: don't report each of its lines.
_MOST_PROBLEMS = 100

T = TypeVar("T")

_PARSE_FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@dataclasses.dataclass(frozen=True)
class SyntaxProblem:
    """A region that doesn't parse. `span` is what the parser points at."""

    message: str
    span: Span
    severity: Severity = Severity.ERROR
    code: str = "syntax"


@dataclasses.dataclass(frozen=True)
class Broken:
    """A chunk that doesn't parse."""

    text: str
    offset: int
    """Lines of the file before it."""
    names: frozenset[str]
    """What it seems to bind at module level."""
    problem: SyntaxProblem

    @property
    def span(self) -> Span:
        lines = self.text.split("\n")
        return Span(self.offset + 1, 0, self.offset + len(lines), len(lines[-1].encode()))


class Statement:
    """One top-level statement of a chunk; of an `if __name__ == "__main__"`, one of the statements in it.

    Knows its place in the chunk only. What others compute about it may be kept in `facts`.
    """

    __slots__ = ("chunk", "facts", "locator", "main")

    def __init__(self, chunk: Chunk, locator: tuple[int, str, int] | tuple[int], main: bool) -> None:
        self.chunk = chunk
        self.locator = locator
        self.main = main
        """True in the body of `if __name__ == "__main__"`."""
        self.facts: dict[object, object] = {}

    def known(self, key: object, find_out: Callable[[ast.stmt], T]) -> T:
        """What the statement's tree alone tells; found out once."""
        if key not in self.facts:
            self.facts[key] = find_out(self.node)
        return self.facts[key]  # type: ignore[return-value]

    def survey(self) -> None:
        """Find out what is asked of every statement of a file."""
        with contextlib.suppress(RecursionError):  # which is told of the kernel that asks
            text = self.chunk.text
            for key, (find_out, signs) in _ASKED_OF_ALL.items():
                if signs and key not in self.facts and not any(sign in text for sign in signs):
                    self.facts[key] = find_out(_NOTHING)
                self.known(key, find_out)

    @property
    def node(self) -> ast.stmt:
        """The tree, with lines counted from the chunk's. Must not be changed."""
        body = _tree(self.chunk.text).body
        if len(self.locator) == 1:
            return body[self.locator[0]]
        index, field, inner = self.locator
        return getattr(body[index], field)[inner]


class Chunk:
    """Whole top-level statements and the comments between them."""

    __slots__ = ("__weakref__", "error", "statements", "surveyed", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.surveyed = False
        self.error: SyntaxProblem | None = None
        """Positions relative to the chunk."""
        self.statements: tuple[Statement, ...] = ()
        try:
            tree = _tree(text)
        except _PARSE_FAULTS as fault:
            self.error = _problem(fault, text)
        else:
            self.statements = tuple(self._statements(tree))

    def survey(self) -> None:
        if not self.surveyed:
            self.surveyed = True
            for statement in self.statements:
                statement.survey()

    def _statements(self, tree: ast.Module) -> Iterator[Statement]:
        for index, node in enumerate(tree.body):
            if isinstance(node, ast.If) and is_main_guard(node.test):
                for inner in range(len(node.body)):
                    yield Statement(self, (index, "body", inner), True)
                for inner in range(len(node.orelse)):
                    yield Statement(self, (index, "orelse", inner), False)
            else:
                yield Statement(self, (index,), False)


_ASKED_OF_ALL: dict[object, tuple[Callable[[ast.stmt], object], tuple[str, ...]]] = {}
_NOTHING = ast.Pass()


def asked_of_all(key: object, find_out: Callable[[ast.stmt], object], signs: tuple[str, ...] = ()) -> None:
    """Say that this is asked of every statement of the files with kernels, under this key of `Statement.known`. Text
    with none of the `signs` has no more of it than `pass`.
    """
    _ASKED_OF_ALL[key] = find_out, signs


@dataclasses.dataclass(frozen=True, slots=True)
class Placed:
    """A statement in a file."""

    statement: Statement
    offset: int
    """Lines of the file before its chunk."""
    index: int
    """In the order of the file."""


class PythonFile:
    """A parsed file. Never changes."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.clean = unwrapped(clean(text))
        """The text that was parsed: lines and columns as in `text`."""
        statements: list[Placed] = []
        broken: list[Broken] = []
        for offset, chunk in _chunks(self.clean):
            if chunk.error is None:
                for statement in chunk.statements:
                    statements.append(Placed(statement, offset, len(statements)))
            elif len(broken) < _MOST_PROBLEMS:
                span = chunk.error.span
                span = Span(span.line + offset, span.column, span.end_line + offset, span.end_column)
                problem = SyntaxProblem(chunk.error.message, span)
                broken.append(Broken(chunk.text, offset, frozenset(_bound_by_text(chunk.text)), problem))
        self.statements = tuple(statements)
        self.broken = tuple(broken)
        self.problems = tuple(region.problem for region in broken)
        self.facts: dict[object, object] = {}
        """Kept here by those who compute something about this text alone."""

    @functools.cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.clean.split("\n"))

    @functools.cached_property
    def futures(self) -> tuple[str, ...]:
        """`__future__` features that the file turns on."""
        if "__future__" not in self.clean:
            return ()
        return tuple(
            sorted(
                {
                    alias.name
                    for placed in self.statements
                    if isinstance(node := placed.statement.node, ast.ImportFrom) and node.module == "__future__"
                    for alias in node.names
                }
            )
        )

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The whole file with positions of the file; of broken text, the statements that parse. Must not be changed."""
        chunks = {(p.offset, p.statement.chunk.text): None for p in self.statements}
        if len(chunks) > _FEW and CELL_MARK not in self.clean:
            try:
                return _parse(self.clean)
            except _PARSE_FAULTS:
                pass
        return ast.Module([node for offset, text in chunks for node in located(text, offset).body], [])


def parse(path: str, text: str) -> PythonFile:
    """The file's statements and problems. Never raises; equal text is parsed once."""
    return _file(path, text) if len(text) < _LARGE else _large_file(path, text)


@functools.lru_cache(maxsize=1024)
def _file(path: str, text: str) -> PythonFile:
    return PythonFile(path, text)


@functools.lru_cache(maxsize=_LARGE_VERSIONS)
def _large_file(path: str, text: str) -> PythonFile:
    return PythonFile(path, text)


@functools.lru_cache(maxsize=1024)
def located(text: str, offset: int) -> ast.Module:
    """The tree of a chunk that parses, with lines counted from the start of the file. Must not be changed."""
    return _parse("\n" * offset + text)


def is_main_guard(test: ast.expr) -> bool:
    """True for `__name__ == "__main__"`, either way round."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides) and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


@functools.lru_cache(maxsize=_TREES)
def _tree(text: str) -> ast.Module:
    return _parse(text)


@functools.lru_cache(maxsize=64)
def source_of(text: str) -> Source:
    """The text of a chunk that parses, and its tree."""
    return Source(text, _tree(text))


#: Those of the files that are known, be they more than the cache holds.
_CHUNKS: weakref.WeakValueDictionary[str, Chunk] = weakref.WeakValueDictionary()


@functools.lru_cache(maxsize=16384)
def _chunk(text: str) -> Chunk:
    chunk = _CHUNKS.get(text)
    if chunk is None:
        chunk = _CHUNKS[text] = Chunk(text)
    return chunk


def _chunks(text: str) -> list[tuple[int, Chunk]]:
    """Chunks of a text with the number of lines before each. None reaches over a mark between two cells."""
    if CELL_MARK not in text:
        return _chunks_of_cell(text)
    chunks: list[tuple[int, Chunk]] = []
    before = 0
    for cell in text.split(f"\n{CELL_MARK}\n"):
        chunks += [(before + line, chunk) for line, chunk in _chunks_of_cell(cell)]
        before += cell.count("\n") + 2
    return chunks


def _chunks_of_cell(text: str) -> list[tuple[int, Chunk]]:
    pieces = _pieces(text)
    chunks: list[tuple[int, Chunk]] = []
    many = len(pieces) > _TREES
    sound = True
    line = index = 0
    while index < len(pieces):
        begin, end = pieces[index]
        chunk = _chunk(_trimmed(text, begin, end))
        if chunk.error is not None:
            stop = _logical_end(text, begin)
            whole = _chunk(_trimmed(text, begin, stop)) if stop > end else chunk
            if whole.error is None:
                chunk, end = whole, stop
                while index + 1 < len(pieces) and pieces[index + 1][1] <= stop:
                    index += 1
                if index + 1 < len(pieces) and pieces[index + 1][0] < stop:
                    pieces[index + 1] = (stop, pieces[index + 1][1])
            else:
                sound = False
        if many:
            chunk.survey()
        chunks.append((line, chunk))
        line += text.count("\n", begin, end)
        index += 1
    if not sound and ("\f" in text or sys.version_info >= (3, 12)):
        # Broken, or cut at the wrong places: a form feed makes an indented line start at column 0, and from 3.12 on
        # f-strings nest the quotes that they are in. The parser has the last word.
        whole = _chunk(text)
        if whole.error is None:
            return [(0, whole)]
    return chunks


def _trimmed(text: str, begin: int, end: int) -> str:
    """A stretch of text without the blank lines and comments at its end, which say nothing about its statements."""
    while (newline := text.rfind("\n", begin, end)) >= 0:
        line = text[newline + 1 : end].strip(" \t\f")
        if line and not line.startswith("#"):
            break
        end = newline
    return text[begin:end]


def _pieces(text: str) -> list[tuple[int, int]]:
    """Start and end of each stretch of text between lines that may start a statement."""
    starts = []
    decorated = False
    for match in _START.finditer(text):
        start = match.start()
        if decorated or (starts and _CONTINUED.match(text, start)):
            decorated = decorated and text[match.end() - 1] == "@"
            continue
        decorated = text[match.end() - 1] == "@"
        starts.append(start)
    if not starts or starts[0] != 0:
        starts.insert(0, 0)
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _logical_end(text: str, begin: int) -> int:
    """Where the statement that begins at `begin` ends by its brackets and strings: the start of a line, or the end of
    the text.

    Of a bracket or string that is left open: `begin` itself.
    """
    depth = 0
    decorated = _DECORATOR.match(text, begin) is not None
    position = begin
    while match := _TOKEN.search(text, position):
        kind = match.lastgroup
        position = match.end()
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "unclosed":
            return begin
        elif kind == "start":
            if depth or _CONTINUED.match(text, position):
                continue
            if not decorated:
                return position
            decorated = _DECORATOR.match(text, position) is not None
    return begin if depth else len(text)


def _problem(fault: BaseException, text: str) -> SyntaxProblem:
    """What the parser says, with characters turned into bytes and lines kept inside the text."""
    lines = text.split("\n")
    if not isinstance(fault, SyntaxError) or not fault.lineno:
        if isinstance(fault, (RecursionError, MemoryError)):
            message = "nested too deeply to be parsed"
        else:
            message = str(fault) or type(fault).__name__
        return SyntaxProblem(message, _content(lines, 0))
    row = min(fault.lineno, len(lines))
    end_row = min(max(fault.end_lineno or row, row), len(lines))
    column = byte_column(lines[row - 1], (fault.offset or 1) - 1)
    if fault.end_offset is not None and fault.end_offset > 0:
        end_column = byte_column(lines[end_row - 1], fault.end_offset - 1)
    else:
        end_row, end_column = row, column
    if (end_row, end_column) <= (row, column):
        # The parser names a point: show the rest of the line, or the end of the line before where there is none.
        end_row, end_column = row, len(lines[row - 1].rstrip().encode())
        if end_column <= column:
            while row > 1 and not lines[row - 1].strip():
                row -= 1
            end_row, end_column = row, len(lines[row - 1].encode())
            column = max(0, min(column, end_column - len(lines[row - 1][-1:].encode())))
    return SyntaxProblem(fault.msg, Span(row, column, end_row, end_column))


def _content(lines: list[str], row: int) -> Span:
    """The text of one line (0-based), without what surrounds it."""
    line = lines[row]
    start = len(line) - len(line.lstrip())
    return Span(row + 1, byte_column(line, start), row + 1, len(line.rstrip().encode()))


_HEAD = re.compile(r"(?P<indent>[ \t\f]*)(?:async[ \t]+)?(?P<kind>def|class)[ \t]+(?P<name>\w+)")
_TARGETS = re.compile(r"[ \t\f]*(?P<names>[\w \t,*()]+?)[ \t]*(?::[^=\n]*)?(?:[-+*/%@&|^]|//|\*\*|<<|>>)?=(?!=)")
_IMPORT = re.compile(r"[ \t\f]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?P<names>.*)")
_ALIAS = re.compile(r"[ \t(]*(?P<module>[\w.]+)(?:[ \t]+as[ \t]+(?P<name>\w+))?")
_BLOCK = re.compile(r"[ \t\f]*(?:if|elif|else|try|except|finally|with|for|while|async|match|case)\b")


def _bound_by_text(text: str) -> Iterator[str]:
    """Names that broken text seems to bind: by the look of its lines, definitions' bodies left out."""
    text = unicodedata.normalize("NFKC", text)  # as Python does with identifiers
    inside: int | None = None
    block = False
    for line in text.split("\n"):
        line = line.lstrip("\f")
        stripped = line.lstrip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(line) - len(stripped)
        if inside is not None and indent > inside:
            continue
        inside = None
        if indent and not block:
            continue
        if head := _HEAD.match(line):
            inside = indent
            yield head["name"]
        elif found := _IMPORT.match(line):
            names = found["names"]
            if names.lstrip().startswith("("):
                names = text[text.index(line) :].partition("(")[2].replace("\n", " ")
            for part in names.split(","):
                if alias := _ALIAS.match(part):
                    yield alias["name"] or alias["module"].partition(".")[0]
        elif _BLOCK.match(line):
            block = True
        elif found := _TARGETS.match(line):
            yield from re.findall(r"[^\W\d]\w*", found["names"])
