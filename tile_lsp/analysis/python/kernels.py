"""Which functions are kernels, and where."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tile_lsp.analysis.language import CommentLine
from tile_lsp.analysis.tree import walk
from tile_lsp.model.location import Span

from .index import index_of
from .parse import Broken, Placed, PythonFile, asked_of_all, located
from .scope import Chain, Function, bindings_within, chain_of, local_names, parameters
from .text import CELL_MARK, byte_column, shifted, span_of
from .workspace import Workspace

Path = tuple[tuple[str, int], ...]
"""Steps from one node down to another: field and index."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PARTIALS = frozenset({"functools.partial"})
_FIELDS = ("body", "handlers", "cases", "orelse", "finalbody")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel. Lines of its nodes are those of no file: only spans are."""

    name: str
    span: Span
    """The name alone."""
    kind: str
    """`positional` (before `/`), `normal`, `keyword` (after `*`), `vararg`, `kwarg`."""
    annotation: ast.expr | None = None
    default: ast.expr | None = None


class Anchor(NamedTuple):
    """Where a kernel's defining statement is among the statements of its file."""

    index: int
    path: Path
    maker: int = 0
    """Which decorator it is, of a decorated function."""


@dataclasses.dataclass(frozen=True)
class KernelSite:
    """A kernel in the text, whatever its language."""

    path: str
    qualname: str
    """As Python would say it: `"make.<locals>.kernel"`, `"Ops.scale"`; for `k = ct.kernel(fn)` the name that is bound,
    `"k"`."""
    definition: Function | None
    """The function, with lines counted from somewhere in the file; None in broken text, and for a function of another
    file."""
    span: Span
    """The definition, decorators included."""
    name_span: Span
    decorator: ast.expr | None
    """What makes it a kernel: `ct.kernel`, `ct.kernel(occupancy=2)`; None in broken text."""
    decorator_name: str
    """The dotted name it resolved to: `cuda.tile.kernel`."""
    parameters: tuple[Parameter, ...]
    broken: bool
    """Recognised by text in a region that doesn't parse, or by a decorator whose import doesn't."""
    scope: tuple[tuple[str, str], ...]
    """Enclosing definitions, outermost first: `("function", "make")`, `("class", "Ops")`."""
    comment_lines: tuple[CommentLine, ...]
    """The comment lines directly above (no blank line between), and those between decorators and `def`, in order."""
    function: str
    """`__qualname__` of the function: other than `qualname` for `k = ct.kernel(fn)`."""
    anchor: Anchor | None = dataclasses.field(default=None, repr=False, compare=False)
    locate: Callable[[], Function] | None = dataclasses.field(default=None, repr=False, compare=False)

    @functools.cached_property
    def node(self) -> Function | None:
        """The definition with positions of the file as it stands. Costs a parse: most readers have no use for them."""
        return self.locate() if self.locate is not None else self.definition


class _Candidate(NamedTuple):
    """A statement that may make a kernel."""

    path: Path
    name: str | None
    """What the statement binds; None for `return ct.kernel(fn)`."""
    makers: tuple[int, ...]
    """Of a `def`, the decorators to try, as indices; empty for `k = ct.kernel(fn)`."""
    scoped: bool
    """Functions and classes around it bind a name that these start with."""
    caller: Chain | None
    """Of `k = ct.kernel(fn)`, what is called."""


def find_kernels(file: PythonFile, workspace: Workspace, decorators: frozenset[str]) -> tuple[KernelSite, ...]:
    """Kernels of a file in source order. `decorators` are dotted names: `{"cuda.tile.kernel"}`."""
    finder = _KernelFinder(file, workspace, decorators)
    sites = [site for placed in file.statements for site in finder.in_statement(placed)]
    sites.extend(site for region in file.broken for site in finder.in_broken(region))
    return tuple(sorted(sites, key=lambda site: site.span))


def _takes(node: Function, name: str) -> bool:
    arguments = node.args
    return any(one.arg == name for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


class _KernelFinder:
    def __init__(self, file: PythonFile, workspace: Workspace, decorators: frozenset[str]) -> None:
        self.file = file
        self.workspace = workspace
        self.decorators = decorators
        self.last_words = frozenset(name.rpartition(".")[2] for name in decorators)
        self.resolved: dict[tuple[str, ...], str | None] = {}
        self.makers: dict[Chain, tuple[str, bool] | None] = {}

    # -- sound text

    def in_statement(self, placed: Placed) -> Iterator[KernelSite]:
        statement = placed.statement
        for candidate in statement.known("candidates", _candidates):
            if candidate.caller and not candidate.scoped and self._maker_named(candidate.caller) is None:
                continue
            nodes = walk_path(statement.node, candidate.path)
            scopes: list[list[ast.stmt]] = []
            if candidate.scoped:
                scopes = [node.body for node in nodes[:-1] if isinstance(node, (*_FUNCTIONS, ast.ClassDef))][::-1]
            if candidate.makers:
                for index in candidate.makers:
                    if found := self._maker(nodes[-1].decorator_list[index], scopes):  # type: ignore[attr-defined]
                        yield self._decorated(placed, candidate, index, *found)
                        break
            elif found := self._wrapping(nodes[-1].value, scopes):  # type: ignore[attr-defined]
                yield from self._wrapped(placed, candidate, nodes, *found)

    def _maker(self, node: ast.expr, scopes: Sequence[Sequence[ast.stmt]]) -> tuple[str, bool] | None:
        """The dotted name if an expression makes a kernel of a function: `ct.kernel`, `ct.kernel(…)`,
        `partial(ct.kernel, …)`, a name for one of these. True beside it if that is sure only by the look of it, since
        an import is broken."""
        chain = chain_of(node)
        return self._find_maker(node, scopes) if scopes or chain is None else self._maker_named(chain)

    def _maker_named(self, chain: Chain) -> tuple[str, bool] | None:
        if chain not in self.makers:
            self.makers[chain] = self._find_named(chain, ())
        return self.makers[chain]

    def _find_maker(self, node: ast.expr, scopes: Sequence[Sequence[ast.stmt]]) -> tuple[str, bool] | None:
        for _ in range(8):
            if not isinstance(node, ast.Call):
                break
            if node.args and self._resolve(node.func, scopes, _PARTIALS) in _PARTIALS:
                node = node.args[0]
            else:
                node = node.func
        chain = chain_of(node)
        return self._find_named(chain, scopes) if chain is not None else None

    def _find_named(self, chain: Chain, scopes: Sequence[Sequence[ast.stmt]]) -> tuple[str, bool] | None:
        meanings = self.workspace.meanings(self.file, chain, scopes)
        name = next((meaning.dotted for meaning in meanings if meaning.dotted in self.decorators), None)
        if name is not None:
            return name, False
        for meaning in meanings:
            if isinstance(meaning.node, ast.Call) and not meaning.rest and meaning.file is not None:
                inner = meaning.node
                if self._resolve_in(meaning.file, inner.func, _PARTIALS) in _PARTIALS and inner.args:
                    inner_name = self._resolve_in(meaning.file, inner.args[0], self.decorators)
                elif not inner.args:
                    inner_name = self._resolve_in(meaning.file, inner.func, self.decorators)
                else:
                    continue
                if inner_name in self.decorators:
                    return inner_name, False
        if self._may_be_imported_by_broken_text(chain[0]) and chain[-1] in self.last_words:
            return next(n for n in sorted(self.decorators) if n.rpartition(".")[2] == chain[-1]), True
        return None

    def _may_be_imported_by_broken_text(self, name: str) -> bool:
        index = index_of(self.file)
        return name not in index.binders and (
            name in index.broken or any(region.text.startswith(("import", "from")) for region in self.file.broken)
        )

    def _resolve(self, node: ast.expr, scopes: Sequence[Sequence[ast.stmt]], prefer: frozenset[str]) -> str | None:
        chain = chain_of(node)
        if chain is None:
            return None
        if scopes:
            return self.workspace.resolve_in(self.file, scopes, node, prefer)
        key = (*sorted(prefer), "", *chain)
        if key not in self.resolved:
            self.resolved[key] = self.workspace.resolve_name(self.file, node, prefer)
        return self.resolved[key]

    def _resolve_in(self, file: PythonFile, node: ast.expr, prefer: frozenset[str]) -> str | None:
        return self.workspace.resolve_name(file, node, prefer)

    def _wrapping(self, value: ast.expr, scopes: Sequence[Sequence[ast.stmt]]) -> tuple[str, bool, str] | None:
        """For `ct.kernel(fn)` and `ct.kernel(…)(fn)`: the maker, and the function's name."""
        if not (isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.Name)):
            return None
        found = self._maker(value.func, scopes)
        return (*found, value.args[0].id) if found else None

    def _decorated(self, placed: Placed, candidate: _Candidate, index: int, name: str, broken: bool) -> KernelSite:
        nodes = walk_path(placed.statement.node, candidate.path)
        node: Function = nodes[-1]  # type: ignore[assignment]
        qualname, scope = _qualname(nodes[:-1], node.name)
        span = full_span(node, placed.offset)
        return KernelSite(
            self.file.path,
            qualname,
            node,
            span,
            name_span(self.file, node, placed.offset),
            node.decorator_list[index],
            name,
            tuple(_parameters(node, placed.offset)),
            broken,
            scope,
            self._comments(span.line, node.lineno + placed.offset),
            qualname,
            Anchor(placed.index, candidate.path, index),
            functools.partial(_located, placed, candidate.path),
        )

    def _wrapped(
        self, placed: Placed, candidate: _Candidate, nodes: Sequence[ast.AST], name: str, broken: bool, function: str
    ) -> Iterator[KernelSite]:
        located_nodes = _located_path(placed, candidate.path)
        statement = located_nodes[-1]
        qualname, scope = _qualname(located_nodes[:-1], candidate.name or function)
        span = span_of(statement)
        if span is None:
            return
        call: ast.Call = statement.value  # type: ignore[attr-defined]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else call.args[0]
        found = self._function(located_nodes[:-1], function)
        comments = self._comments(span.line, span.line)
        if found is None:
            if any(isinstance(node, _FUNCTIONS) and _takes(node, function) for node in located_nodes[:-1]):
                return  # A decorator of one's own: what it is given stands elsewhere.
            yield KernelSite(
                self.file.path, qualname, None, span, span_of(target) or span, call.func, name, (), broken, scope,
                comments, function, Anchor(placed.index, candidate.path),
            )  # fmt: skip
            return
        outer, node = found
        yield KernelSite(
            self.file.path,
            qualname,
            node,
            full_span(node),
            name_span(self.file, node),
            call.func,
            name,
            tuple(_parameters(node)),
            broken,
            scope,
            comments or self._comments(full_span(node).line, node.lineno),
            _qualname(outer, node.name)[0],
            Anchor(placed.index, candidate.path),
        )

    def _function(self, enclosing: Sequence[ast.AST], name: str) -> tuple[Sequence[ast.AST], Function] | None:
        """The `def` that a name means inside `enclosing` nodes of this file, with the nodes around it."""
        for depth in range(len(enclosing) - 1, -1, -1):
            node = enclosing[depth]
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                for inner in _nested_statements(node.body):
                    if isinstance(inner, _FUNCTIONS) and inner.name == name:
                        return enclosing[: depth + 1], inner
        for placed in reversed(index_of(self.file).binders_of(self.file, name, main=True)):
            tree = _located_path(placed, ())[-1]
            for inner in _nested_statements([tree]):  # type: ignore[list-item]
                if isinstance(inner, _FUNCTIONS) and inner.name == name:
                    return (), inner
        return None

    def _comments(self, first: int, last: int) -> tuple[CommentLine, ...]:
        """Comment lines directly above line `first`, and those from there to line `last` (1-based)."""
        lines = self.file.lines
        row = first - 1
        while row > 0 and lines[row - 1].lstrip().startswith("#") and lines[row - 1] != CELL_MARK:
            row -= 1
        found = []
        for index in range(row, last):
            line = lines[index]
            stripped = line.strip()
            if stripped.startswith("#"):
                start = byte_column(line, len(line) - len(line.lstrip()))
                found.append(CommentLine(stripped, Span(index + 1, start, index + 1, start + len(stripped.encode()))))
        return tuple(found)

    # -- broken text

    def in_broken(self, region: Broken) -> Iterator[KernelSite]:
        """Functions that a broken region seems to define, with a kernel's decorator above them."""
        lines = region.text.split("\n")
        around: list[tuple[int, str, str]] = []
        decorators: list[tuple[int, str]] = []
        for row, line in enumerate(lines):
            indent = len(line) - len(line.lstrip())
            if found := _DECORATOR.match(line):
                if not decorators or indent != len(lines[decorators[0][0]]) - len(lines[decorators[0][0]].lstrip()):
                    decorators = []
                decorators.append((row, found[1]))
                continue
            head = _HEAD.match(line)
            if head is None:
                continue
            while around and around[-1][0] >= indent:
                around.pop()
            kind = "class" if head["kind"] == "class" else "function"
            if kind == "function":
                maker = next((name for _, chain in decorators if (name := self._maker_by_text(chain))), None)
                if maker:
                    yield self._textual(region, lines, decorators[0][0], row, head, maker, around)
            around.append((indent, kind, head["name"]))
            decorators = []

    def _maker_by_text(self, chain: str) -> str | None:
        try:
            node = ast.parse(chain, mode="eval").body
        except (SyntaxError, ValueError):
            return None
        found = self._maker(node, ())
        return found[0] if found else None

    def _textual(
        self,
        region: Broken,
        lines: Sequence[str],
        first: int,
        row: int,
        head: re.Match[str],
        maker: str,
        around: Sequence[tuple[int, str, str]],
    ) -> KernelSite:
        line = lines[row]
        indent = len(line) - len(line.lstrip())
        end = row
        for index in range(row + 1, len(lines)):
            text = lines[index]
            if text.strip() and not text.lstrip().startswith("#"):
                if len(text) - len(text.lstrip()) <= indent and text.lstrip()[:1] not in ")]}":
                    break
                end = index
        offset = region.offset
        start = byte_column(lines[first], len(lines[first]) - len(lines[first].lstrip()))
        span = Span(first + 1 + offset, start, end + 1 + offset, len(lines[end].rstrip().encode()))
        column = byte_column(line, head.start("name"))
        name_at = Span(row + 1 + offset, column, row + 1 + offset, column + len(head["name"].encode()))
        scope = tuple((kind, name) for _, kind, name in around)
        qualname = _join(scope, head["name"])
        comments = self._comments(first + 1 + offset, row + 1 + offset)
        return KernelSite(
            self.file.path, qualname, None, span, name_at, None, maker, (), True, scope, comments, qualname
        )  # fmt: skip


_DECORATOR = re.compile(r"[ \t\f]*@[ \t]*([^\W\d]\w*(?:[ \t]*\.[ \t]*[^\W\d]\w*)*)")
_HEAD = re.compile(r"[ \t\f]*(?:async[ \t]+)?(?P<kind>def|class)[ \t]+(?P<name>[^\W\d]\w*)")


def walk_path(node: ast.AST, path: Path) -> list[ast.AST]:
    """The node and those along a path from it."""
    nodes = [node]
    for field, index in path:
        nodes.append(getattr(nodes[-1], field)[index])
    return nodes


def _located_path(placed: Placed, path: Path) -> list[ast.AST]:
    """The nodes along a path, with positions of the file."""
    tree = located(placed.statement.chunk.text, placed.offset)
    locator = placed.statement.locator
    node: ast.AST = tree.body[locator[0]]
    if len(locator) == 3:
        node = getattr(node, locator[1])[locator[2]]
    return walk_path(node, path)


def _located(placed: Placed, path: Path) -> Function:
    return _located_path(placed, path)[-1]  # type: ignore[return-value]


def full_span(node: ast.AST, offset: int = 0) -> Span:
    """A definition with its decorators, from the `@`'s line on. `offset`: lines of the file before the node's."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(decorator.lineno for decorator in decorators)])  # type: ignore[attr-defined]
    span = Span(line, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return shifted(span, offset)


_NAME = re.compile(r"\s*(?:async\b\s*)?(?:def|class)\b[ \t\f]*(?:\\\n[ \t\f]*)*", re.DOTALL)


def name_span(file: PythonFile, node: Function | ast.ClassDef, offset: int = 0) -> Span:
    """The name in a definition's first line. `offset`: lines of the file before the node's."""
    row = node.lineno + offset - 1
    prefix = file.lines[row].encode()[: node.col_offset].decode("utf-8", "replace")
    line = file.lines[row][len(prefix) :]
    extra = 0
    while line.endswith("\\") and row + extra + 1 < len(file.lines):
        extra += 1
        line += "\n" + file.lines[row + extra]
    found = _NAME.match(line)
    word = re.compile(r"\w+").match(line, found.end() if found else 0)
    if word is None:
        return Span(row + 1, node.col_offset, row + 1, node.col_offset)
    before = line[: word.start()]
    lines_down = before.count("\n")
    column = len(before.rpartition("\n")[2].encode()) + (node.col_offset if not lines_down else 0)
    line_number = row + 1 + lines_down
    return Span(line_number, column, line_number, column + len(word[0].encode()))


def _qualname(nodes: Sequence[ast.AST], name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    scope = tuple(
        ("class" if isinstance(node, ast.ClassDef) else "function", node.name)
        for node in nodes
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef))
    )
    return _join(scope, name), scope


def _join(scope: Sequence[tuple[str, str]], name: str) -> str:
    return "".join(f"{outer}." if kind == "class" else f"{outer}.<locals>." for kind, outer in scope) + name


def _parameters(node: Function, offset: int = 0) -> Iterator[Parameter]:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    by_argument = dict(zip(positional, defaults, strict=True))
    by_argument.update(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    for argument in parameters(arguments):
        if argument in arguments.posonlyargs:
            kind = "positional"
        elif argument in arguments.args:
            kind = "normal"
        elif argument in arguments.kwonlyargs:
            kind = "keyword"
        else:
            kind = "vararg" if argument is arguments.vararg else "kwarg"
        end = argument.col_offset + len(argument.arg.encode())
        line = argument.lineno + offset
        span = Span(line, argument.col_offset, line, end)
        yield Parameter(argument.arg, span, kind, argument.annotation, by_argument.get(argument))


def _nested_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of one scope, those in compound statements included."""
    for node in body:
        yield node
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        for field in _FIELDS:
            for inner in getattr(node, field, ()):
                if isinstance(inner, ast.stmt):
                    yield from _nested_statements([inner])
                else:
                    yield from _nested_statements(getattr(inner, "body", ()))


def _candidates(root: ast.stmt) -> list[_Candidate]:
    """Statements in a statement that may make a kernel, whatever its decorators turn out to mean."""
    found: list[_Candidate] = []
    stack: list[tuple[ast.AST, Path, frozenset[str]]] = [(root, (), frozenset())]
    while stack:
        node, path, hidden = stack.pop()
        name: str | None = None
        makers: tuple[int, ...] = ()
        if isinstance(node, _FUNCTIONS):
            # The one closest to the function first: what stands above it is given the kernel, not the function.
            name, makers = node.name, tuple(reversed(range(len(node.decorator_list))))
            makes = bool(makers)
        elif isinstance(node, ast.Assign):
            makes = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and _may_wrap(node.value)
            name = node.targets[0].id if makes else None  # type: ignore[attr-defined]
        else:
            makes = isinstance(node, ast.Return) and node.value is not None and _may_wrap(node.value)
        if makes:
            scoped = bool(hidden) and not hidden.isdisjoint(_maker_names(node))
            caller = None if isinstance(node, _FUNCTIONS) else chain_of(node.value.func)  # type: ignore[attr-defined]
            found.append(_Candidate(path, name, makers, scoped, caller))
        if isinstance(node, _FUNCTIONS):
            hidden |= local_names(node)
        elif isinstance(node, ast.ClassDef):
            hidden |= frozenset(bindings_within(node).names)
        for field in reversed(_FIELDS):
            children = getattr(node, field, None)
            if isinstance(children, list):
                stack.extend((children[i], (*path, (field, i)), hidden) for i in range(len(children) - 1, -1, -1))
    return found


asked_of_all("candidates", _candidates, ("@", "("))


def _maker_names(node: ast.AST) -> set[str]:
    """First names of what may make a kernel of the candidate."""
    makers = node.decorator_list if isinstance(node, _FUNCTIONS) else [node.value.func]  # type: ignore[attr-defined]
    return {inner.id for maker in makers for inner in walk(maker) if isinstance(inner, ast.Name)}


def _may_wrap(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and len(value.args) >= 1 and isinstance(value.args[0], ast.Name)
