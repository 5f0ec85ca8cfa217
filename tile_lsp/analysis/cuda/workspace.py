"""A view of the workspace's CUDA files at one moment: their pieces, and the translation unit that a file heads."""

from __future__ import annotations

import bisect
import functools
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tile_lsp.model.location import Span
from tile_lsp.model.outcome import Severity
from tile_lsp.model.settings import Cuda

from .facts import KEYWORDS, MACRO, NOTHING, OPERATOR, USING, Facts, facts_of, parameters, specifier_macros
from .headers import is_toolkit
from .lexer import DIRECTIVE, WORD
from .options import Options, options_for
from .split import BROKEN, CLOSE, DECLARATION, DEFINE, ELSE, ENDIF, IF, INCLUDE, OPEN, Piece, kind_of, name_of, split

_PASTED = re.compile(r"\w+(?:\s*##\s*\w+)+")
_HOST_SOURCES = (".cpp", ".cc", ".cxx")
_HEADERS = (".cuh", ".h", ".hpp", ".inl")
_DEEPEST = 64
"""Headers inside of headers."""


class TextProblem(NamedTuple):
    message: str
    span: Span
    severity: Severity = Severity.ERROR
    code: str = "syntax"


class CudaFile:
    def __init__(self, path: str, text: str, pieces: Sequence[Piece]) -> None:
        self.path = path
        self.text = text
        self.pieces = pieces

    @functools.cached_property
    def starts(self) -> list[int]:
        """First character of each line."""
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def span(self, start: int, end: int) -> Span:
        return Span(*self.point(start), *self.point(end))

    def point(self, position: int) -> tuple[int, int]:
        """Line from 1 and column in bytes."""
        row = bisect.bisect_right(self.starts, position) - 1
        return row + 1, len(self.text[self.starts[row] : position].encode("utf-8", "surrogatepass"))

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its end."""
        start = self.starts[number - 1]
        end = self.starts[number] - 1 if number < len(self.starts) else len(self.text)
        return self.text[start:end].removesuffix("\r")

    def problems(self) -> list[TextProblem]:
        found = []
        for piece in self.pieces:
            if piece.kind == BROKEN:
                first = piece.tokens[0]
                message = "this } closes nothing" if first.text == "}" else "a bracket or a ; is missing here"
                found.append(TextProblem(message, self.span(piece.start, piece.start + first.end)))
        return found


_FILES: OrderedDict[str, CudaFile] = OrderedDict()
_MOST = 256


def parse(path: str, text: str) -> CudaFile:
    """The file, with the pieces of its last text where that is the same."""
    known = _FILES.get(path)
    if known is not None and known.text == text:
        return known
    pieces = _again(known, text) if known is not None else None
    file = CudaFile(path, text, split(text) if pieces is None else pieces)
    _FILES[path] = file
    _FILES.move_to_end(path)
    while len(_FILES) > _MOST:
        _FILES.popitem(last=False)
    return file


def _again(known: CudaFile, text: str) -> list[Piece] | None:
    """The pieces of a text that differs from a known one in one place; None where all is to be split anew."""
    old = known.text
    same = _common(old, text)
    head = known.pieces[: bisect.bisect_left(known.pieces, same, key=lambda piece: piece.end)]
    # The last one may go on in the new text; a directive goes on to the end of its line.
    head = head[:-1]
    start, around = 0, ()
    if head:
        last, around = head[-1], _after(head[-1])
        start = last.end if last.tokens[-1].kind != DIRECTIVE else text.find("\n", last.end) + 1
    shorter = min(len(old), len(text)) - start
    tail_length = _common(old[::-1][:shorter], text[::-1][:shorter])
    first = bisect.bisect_right(known.pieces, len(old) - tail_length, key=lambda piece: piece.start)
    moved = len(text) - len(old)
    for index in range(first, min(first + 2, len(known.pieces))):
        piece = known.pieces[index]
        end = piece.start + moved
        # Some words after a function's last brace go on with it.
        going_on = piece.tokens[0].text in ("{", ",", "catch")
        if end <= start or piece.kind == BROKEN or going_on or _goes_on(text[start:end]) or not _starts_line(text, end):
            continue
        between = split(text, start, end, around)
        open_there = _after(between[-1]) if between else around
        if any(one.kind == BROKEN for one in between) or not _follows(open_there, piece):
            continue
        return [*head, *between, *(one._replace(start=one.start + moved) for one in known.pieces[index:])]
    return None


def _goes_on(between: str) -> bool:
    """True if a comment, a string or a line that begins in a part of a text may end after it."""
    comment = between.rfind("/*")
    if comment >= 0 and "*/" not in between[comment + 2 :]:
        return True
    return 'R"' in between or between.rstrip(" \t\r\n").endswith("\\")


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common from their starts on."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _starts_line(text: str, at: int) -> bool:
    """True unless what is before on its line could make something else of what stands there."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _after(piece: Piece) -> tuple[str, ...]:
    """What is open after a piece."""
    if piece.kind == OPEN:
        return (*piece.around, name_of(piece.tokens[:-1]))
    return piece.around


def _follows(after: tuple[str, ...], piece: Piece) -> bool:
    """True if what is open is what was open before a piece."""
    if piece.kind == CLOSE:
        return after[:-1] == piece.around and len(after) > len(piece.around)
    return after == piece.around


def _ends(piece: Piece) -> int:
    """How many conditions end in a declaration that do not begin in it."""
    depth = ends = 0
    for token in piece.tokens if piece.kind == DECLARATION else ():
        if token.kind == DIRECTIVE:
            kind = kind_of(token.text)
            if kind == IF:
                depth += 1
            elif kind == ENDIF:
                depth -= 1
                ends += depth < 0
                depth = max(depth, 0)
    return ends


class Entry(NamedTuple):
    """A piece where it stands in a translation unit."""

    file: CudaFile
    label: str
    """The file, as members name it."""
    piece: Piece
    facts: Facts
    groups: tuple[int, ...]
    """Conditions and namespaces around it, as keys of `Unit.groups`."""


class Unit:
    """A file with all that it includes of the workspace, in the order in which a compiler would read it."""

    def __init__(self, workspace: Workspace, path: str) -> None:
        self.workspace = workspace
        self.path = path
        self.entries: list[Entry] = []
        self.groups: dict[int, list[int]] = {}
        """The entries that begin, part and end a group."""
        self.files: set[str] = set()
        self.unknown: list[tuple[str, str, Span, bool]] = []
        """Headers in quotes that are nowhere: how they are written, in which file, where, and if in a condition."""
        self.labels: dict[str, str] = {}
        self._stack: list[tuple[int, str]] = []
        pieces = workspace.pieces(path)
        self.macros = specifier_macros([p for p in pieces if p.kind == DEFINE])
        self._add(path, os.path.basename(path), 0)

    def _add(self, path: str, label: str, depth: int) -> None:
        if path in self.files or depth > _DEEPEST:
            return
        file = self.workspace.file(path)
        if file is None:
            return
        self.files.add(path)
        while self.labels.setdefault(label, path) != path:
            label += "~"
        base = len(self._stack)
        for piece in file.pieces:
            facts = facts_of(piece, self.macros)
            if piece.kind in (ELSE, ENDIF, CLOSE):
                wanted = OPEN if piece.kind == CLOSE else IF
                at = self._innermost(wanted, base)
                if at is None:
                    continue
                self.groups[self._stack[at][0]].append(len(self.entries))
                if piece.kind != ELSE:
                    del self._stack[at]
            groups = tuple(number for number, _ in self._stack)
            if piece.kind == INCLUDE:
                found = self._include(file, piece)
                if found is not None:
                    self._add(found[0], found[1], depth + 1)
                    continue
            number = len(self.entries)
            self.entries.append(Entry(file, label, piece, facts, groups))
            if piece.kind in (IF, OPEN):
                self.groups[number] = [number]
                self._stack.append((number, piece.kind))
            for _ in range(_ends(piece)):
                # A declaration that holds the end of a condition around its start: the two go together.
                at = self._innermost(IF, base)
                if at is not None:
                    self.groups[self._stack.pop(at)[0]].append(number)
        if any(piece.kind == BROKEN for piece in file.pieces):
            # Their ends are in what can't be read: what is in them stands without them.
            self.groups.update((number, []) for number, kind in self._stack[base:] if kind == IF)
        del self._stack[base:]

    def _innermost(self, kind: str, base: int) -> int | None:
        """Where the last condition, or brace, stands that is open in a file: the two may overlap, as they do where
        `extern "C" {` is for C++ alone.
        """
        return next((at for at in range(len(self._stack) - 1, base - 1, -1) if self._stack[at][1] == kind), None)

    def _include(self, file: CudaFile, piece: Piece) -> tuple[str, str] | None:
        spec = _spec(piece)
        name = spec[1:-1]
        path = self.workspace.resolve(spec, file.path)
        if path is not None:
            parts = [part for part in name.split("/") if part not in ("..", ".", "")]
            return path, "/".join(parts)
        if spec.startswith('"') and not is_toolkit(name):
            self.unknown.append((name, file.path, file.span(piece.start, piece.end), self._in_condition()))
        return None

    def _in_condition(self) -> bool:
        """True where a compiler may never come by; the condition that keeps a header from being read twice is none."""
        around = [self.entries[number] for number, kind in self._stack if kind == IF]
        return any(
            entry.piece is not entry.file.pieces[0] or not entry.piece.tokens[0].text.startswith(("#ifndef", "#if !"))
            for entry in around
        )

    @functools.cached_property
    def declared(self) -> dict[str, list[int]]:
        """Word → the entries that declare it, macros left out."""
        found: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            if entry.facts.role not in (MACRO, NOTHING, OPERATOR):
                for name in (*entry.facts.names, *self._put_together(entry)):
                    found.setdefault(name, []).append(number)
        return found

    def _put_together(self, entry: Entry) -> set[str]:
        """Names that a macro makes of parts where it is called at the top: `Do##NAME` in `IMPL(Add)`."""
        run = entry.piece.tokens
        if run[-1].text != ")" or run[0].text not in self.defined:
            return set()
        found: set[str] = set()
        for number in self.defined[run[0].text]:
            line = self.entries[number].piece.tokens[0].text
            if "##" not in line:
                continue
            names, _, body = line.partition(f"{run[0].text}(")[2].partition(")")
            values = ["".join(token.text for token in value) for value in parameters(run[2:-1])]
            given = dict(zip((name.strip() for name in names.split(",")), values, strict=False))
            for pasted in _PASTED.findall(body):
                found.add("".join(given.get(part.strip(), part.strip()) for part in pasted.split("##")))
        return found

    @functools.cached_property
    def defined(self) -> dict[str, list[int]]:
        """Macro → the entries that define it, and those that undo that."""
        found: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            if entry.facts.role == MACRO:
                found.setdefault(entry.facts.name, []).append(number)
        return found

    @functools.cached_property
    def namespaces(self) -> dict[str, list[int]]:
        """Each word of a namespace's name → the entries that open and close it."""
        found: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            if entry.piece.kind == OPEN and len(entry.piece.tokens) > 1:
                for token in entry.piece.tokens[:-1]:
                    if token.kind == WORD and token.text not in KEYWORDS:
                        found.setdefault(token.text, []).extend(self.groups[number])
        return found

    @functools.cached_property
    def opened(self) -> frozenset[str]:
        """Words that may be a namespace's name: of one, of an alias, or in a macro, which may open one."""
        found: set[str] = set()
        for entry in self.entries:
            if entry.piece.kind in (OPEN, DEFINE):
                found |= entry.facts.macros
            elif entry.facts.role == USING:
                found |= entry.facts.names
        return frozenset(found)

    @functools.cached_property
    def includes(self) -> list[int]:
        """Of headers that are not the workspace's."""
        return [number for number, entry in enumerate(self.entries) if entry.piece.kind == INCLUDE]

    @functools.cached_property
    def operators(self) -> list[int]:
        return [number for number, entry in enumerate(self.entries) if entry.facts.role == OPERATOR]


def _lost_header(name: str) -> str:
    return (
        f'"{name}" was not found: what it declares is missing. Name its folder in the setting '
        "tile-lsp.cuda.include-paths."
    )


def _spec(piece: Piece) -> str:
    return piece.tokens[0].text.removeprefix("#include ").strip()


class Workspace:
    """Files by path. Cheap to make: what is known of a text is kept by the text."""

    def __init__(self, path: str, read: Callable[[str], str | None], roots: Sequence[str], settings: Cuda) -> None:
        self._read = read
        self._texts: dict[str, str | None] = {}
        self.roots = tuple(os.path.normpath(root) for root in roots)
        self.path = path
        self.options: Options = options_for(path, read, self.roots, settings)
        self.refusal: Callable[[str], str | None] = lambda path: None
        self._units: dict[str, Unit] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}

    def file(self, path: str) -> CudaFile | None:
        text = self._text(path)
        return None if text is None else parse(path, text)

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    @property
    def missing(self) -> frozenset[str]:
        """Paths that were looked for in vain so far."""
        return frozenset(path for path, text in self._texts.items() if text is None)

    def problems(self, path: str) -> list[TextProblem]:
        """What can't be read in a file, and the headers that it names and that are nowhere."""
        file = self.file(path)
        if file is None:
            return []
        unit = self.unit(path)
        lost = [(name, span) for name, where, span, maybe in unit.unknown if where == path and not maybe]
        return [
            *file.problems(),
            *(TextProblem(self.lost(name), span, Severity.WARNING, "include") for name, span in lost),
        ]

    def lost(self, name: str) -> str:
        """Why there is nothing of a header."""
        tried = (path for path in self.missing if path.endswith(f"/{name}"))
        why = next((f"{path} {said}" for path in sorted(tried) if (said := self.refusal(path))), None)
        return f"{why}. What it declares is missing." if why else _lost_header(name)

    def unit(self, path: str) -> Unit:
        """What a file is compiled in: the first source beside it that includes it, if there is one."""
        if path not in self._units:
            head = self._head(path)
            self._units[path] = self._units[head] if head in self._units else Unit(self, head)
        return self._units[path]

    def _head(self, path: str, inner: tuple[str, ...] = ()) -> str:
        folder, name = os.path.split(path)
        try:
            found = sorted(os.listdir(folder))
        except OSError:
            return path
        others = [other for other in found if other.endswith(".cu")]
        # Of those a source of CUDA C++ may be made of, too.
        suffixes = _HOST_SOURCES if path.endswith(".cu") else (*_HOST_SOURCES, *_HEADERS)
        others += [other for other in found if other.endswith(suffixes)]
        for other in others:
            source = os.path.join(folder, other)
            # Most files of a folder don't so much as mention it: those are not split for that.
            if source in (path, *inner) or name not in (self._text(source) or ""):
                continue
            file = self.file(source)
            for piece in file.pieces if file is not None else ():
                if piece.kind == INCLUDE and self.resolve(_spec(piece), source) == path:
                    return self._head(source, (path, *inner))
        return path

    def pieces(self, path: str, seen: set[str] | None = None) -> list[Piece]:
        """Of a file and all that it includes."""
        seen = set() if seen is None else seen
        file = self.file(path)
        if path in seen or file is None:
            return []
        seen.add(path)
        found: list[Piece] = []
        for piece in file.pieces:
            found.append(piece)
            if piece.kind == INCLUDE:
                inner = self.resolve(_spec(piece), path)
                if inner is not None:
                    found += self.pieces(inner, seen)
        return found

    def resolve(self, spec: str, importer: str) -> str | None:
        """The workspace's file that `"name"` or `<name>` means; None for the toolkit's, and for what is nowhere."""
        name = spec[1:-1]
        if not name or (spec[0] == "<" and is_toolkit(name)):
            return None
        key = (spec, os.path.dirname(importer))
        if key not in self._resolved:
            self._resolved[key] = self._find(name, spec[0] == '"', importer)
        return self._resolved[key]

    def _around(self, folder: str) -> Iterator[str]:
        """The folders around one, as far as they are the workspace's: those of a project in it may be any of them."""
        while any(folder.startswith(root + os.sep) for root in self.roots):
            folder = os.path.dirname(folder)
            yield folder

    def _find(self, name: str, quoted: bool, importer: str) -> str | None:
        folders = [os.path.dirname(importer)] if quoted else []
        if is_toolkit(name):
            # Ours, or that of the toolkit which compiles: never another one's, though a command names its folder.
            return path if self.file(path := os.path.normpath(os.path.join(folders[0], name))) is not None else None
        folders += self.options.includes
        own = os.path.dirname(self.path)
        for around in (own, *self._around(own), *self.roots):
            folders += [os.path.join(around, folder) for folder in ("", "include", "src")]
        for folder in dict.fromkeys(folders):
            path = os.path.normpath(os.path.join(folder, name))
            if self.file(path) is not None:
                return path
        return None
