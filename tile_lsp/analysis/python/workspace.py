"""A view of the workspace's files at one moment, and what names in them mean."""

from __future__ import annotations

import ast
import dataclasses
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from .imports import Finder, ModuleRef
from .index import index_of
from .parse import PythonFile, Statement, parse
from .scope import Chain, Target, chain_of, import_targets, parse_expression

Constant = int | float | bool | str | tuple

#: Names are followed through at most so many assignments and imports.
_DEEPEST = 60


@dataclasses.dataclass(frozen=True)
class Meaning:
    """What a chain of names leads to, where following it ends."""

    dotted: str
    """`cuda.tile.Constant`; for workspace code the defining module's name and the rest."""
    file: PythonFile | None = None
    """None for something external."""
    node: ast.AST | None = None
    """The definition or the assigned expression, with positions of its chunk, not of the file."""
    rest: Chain = ()
    """Attributes taken of it."""


class Workspace:
    """Files by path, modules by name. Cheap to make: what is known of a text is cached by the text."""

    def __init__(
        self,
        read: Callable[[str], str | None],
        roots: Sequence[str],
        *,
        editable: Mapping[str, str] = MappingProxyType({}),
        stdlib: frozenset[str] | None = None,
        whole: bool = False,
    ) -> None:
        """`read` gives the text of an absolute path (unsaved text first), None where there is no such file. `roots` are
        import roots, `editable` maps import names to the folders that hold them, `stdlib` names modules that are
        never the workspace's. `whole`: kernels are had by importing their modules, not from slices of them.
        """
        self.whole = whole
        self._read = read
        self.roots = tuple(os.path.normpath(root) for root in roots)
        self._texts: dict[str, str | None] = {}
        self._meanings: dict[tuple[str, Chain], tuple[Meaning, ...]] = {}
        self.listing: Callable[[str], Sequence[str]] = lambda folder: ()
        self.refusal: Callable[[str], str | None] = lambda path: None
        self.consulted: set[str] = set()
        self.finder = Finder(self.exists, roots, editable, stdlib)

    def exists(self, path: str) -> bool:
        return self._text(path) is not None

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    @property
    def missing(self) -> frozenset[str]:
        """Paths that were looked for in vain so far."""
        return frozenset(path for path, text in self._texts.items() if text is None)

    def refused(self, target: Target) -> str | None:
        """Why there is no module of the workspace that an import names, though its file is there."""
        if not (refused := self.all_refused):
            return None
        parts = [part for part in (*(target.loads or target.module).split("."), target.member) if part]
        ends = tuple("/" + "/".join(parts[:count]) for count in range(1, len(parts) + 1))
        for path, why in refused:
            if path.removesuffix(".py").removesuffix("/__init__").endswith(ends):
                return f"{path} {why}"
        return None

    @property
    def all_refused(self) -> list[tuple[str, str]]:
        """Files that were looked for, are there, and are not read, each with the reason."""
        refusal = self.refusal
        found = [(path, why) for path, text in self._texts.items() if text is None and (why := refusal(path))]
        return sorted(found) if found else found

    def holds(self, path: str, words: str) -> bool:
        """True if a file's text has the words; the file is not parsed for it. That it was looked at is noted."""
        self.consulted.add(path)
        return words in (self._text(path) or "")

    def file(self, path: str) -> PythonFile | None:
        """The parsed file, or None where there is none."""
        text = self._text(path)
        return None if text is None else parse(path, text)

    def own_module(self, path: str) -> ModuleRef:
        """The module that a file is, by the name it would have."""
        file = self.file(path)
        return self.finder.own(path, index_of(file).relative if file is not None else 0)

    def modules(self, target: Target, importer: ModuleRef) -> tuple[ModuleRef, ...]:
        """The module that an import names (not its member) and the packages around it, outermost first; empty if
        external."""
        if target.level:
            return self.finder.relative(importer, target.level, target.module)
        if target.loads and (found := self.finder.absolute(target.loads, importer.path)):
            return found[:1]  # `import a.b` binds `a`, which may be a folder without `__init__.py`
        return self.finder.absolute(target.module, importer.path)

    # -- what names mean

    def resolve_name(
        self, file: PythonFile, expression: ast.expr | str, prefer: frozenset[str] = frozenset()
    ) -> str | None:
        """Dotted name of what an expression stands for at module level, or None.

        Of a subscript, of what is subscripted: with `ConstInt = ct.Constant[int]`, `ConstInt` is
        `"cuda.tile.Constant"`. Annotations in quotes are read. Where several definitions compete (`try: … except
        ImportError: …`), one of `prefer` wins, then the last.
        """
        return self.resolve_in(file, (), expression, prefer)

    def resolve_in(
        self,
        file: PythonFile,
        scopes: Sequence[Sequence[ast.stmt]],
        expression: ast.expr | str,
        prefer: frozenset[str] = frozenset(),
    ) -> str | None:
        """Like `resolve_name`, from inside functions or classes: `scopes` are their bodies, innermost first."""
        chain = _chain(expression)
        if chain is None:
            return None
        found = [meaning.dotted for meaning in self.meanings(file, chain, scopes)]
        return next((name for name in found if name in prefer), found[0] if found else None)

    def resolve_expression(self, file: PythonFile, expression: ast.expr) -> tuple[PythonFile, ast.expr]:
        """The expression that a name stands for, through assignments and imports, and the file it is in.

        What can't be followed (an external name, a function, a parameter) is given back as it is. Positions in the
        result mean nothing.
        """
        for _ in range(_DEEPEST):
            chain = _chain(expression) if not isinstance(expression, ast.Subscript) else None
            if chain is None:
                break
            found = [m for m in self._steps(file, chain, ()) if isinstance(m.node, ast.expr) and not m.rest]
            if not found or found[0].file is None:
                break
            file, expression = found[0].file, found[0].node  # type: ignore[assignment]
        return file, expression

    def meanings(
        self, file: PythonFile, chain: Chain, scopes: Sequence[Sequence[ast.stmt]] = ()
    ) -> tuple[Meaning, ...]:
        """All that a chain of names may stand for, likeliest first, followed to the end."""
        key = (file.path, chain)
        if not scopes and key in self._meanings:
            return self._meanings[key]
        found: dict[tuple[str, Chain], Meaning] = {}
        self._follow(file, chain, scopes, set(), found)
        # `ct = None` in a fallback says nothing about what `ct` is.
        result = tuple(sorted(found.values(), key=lambda meaning: isinstance(meaning.node, ast.Constant)))
        if not scopes:
            self._meanings[key] = result
        return result

    def _follow(
        self,
        file: PythonFile,
        chain: Chain,
        scopes: Sequence[Sequence[ast.stmt]],
        seen: set[tuple[str, Chain]],
        found: dict[tuple[str, Chain], Meaning],
    ) -> None:
        if (file.path, chain) in seen or len(seen) > _DEEPEST:
            return
        seen.add((file.path, chain))
        for step in self._steps(file, chain, scopes):
            if step.file is None:
                found.setdefault((step.dotted, step.rest), step)
                continue
            further = _chain(step.node) if isinstance(step.node, ast.expr) else None
            if further is None:
                found.setdefault((step.dotted, step.rest), step)
            else:
                inner = scopes if step.file is file and scopes else ()
                self._follow(step.file, further + step.rest, inner, seen, found)

    def _steps(self, file: PythonFile, chain: Chain, scopes: Sequence[Sequence[ast.stmt]]) -> Iterator[Meaning]:
        """One step from a name: to the expression assigned to it, to its definition, or through an import to an end."""
        yield from self._steps_seen(file, chain, scopes, set())

    def _steps_seen(
        self, file: PythonFile, chain: Chain, scopes: Sequence[Sequence[ast.stmt]], seen: set[tuple[str, Chain]]
    ) -> Iterator[Meaning]:
        if (file.path, chain) in seen:
            return
        seen.add((file.path, chain))
        name, rest = chain[0], chain[1:]
        ref = self.own_module(file.path)
        for body in scopes:
            definitions = list(_definitions(body, name))
            if definitions:
                for definition in reversed(definitions):
                    yield from self._meaning(file, ref, definition, name, rest, seen)
                return
        index = index_of(file)
        placed = index.binders_of(file, name, main=bool(scopes))
        if placed and not scopes and all(one.statement.main for one in placed):
            star = self.star_source(file, name)
            if star is not None:
                yield from self._steps_seen(star[1], chain, (), seen)
                return
        for one in reversed(placed):
            for definition in reversed(_definitions_in(one.statement, name)):
                yield from self._meaning(file, ref, definition, name, rest, seen)
        if placed:
            return
        star = self.star_source(file, name)
        if star is not None:
            yield from self._steps_seen(star[1], chain, (), seen)
            return
        for _, target in reversed(index.stars):
            if not target.level and not self.modules(target, ref):
                yield Meaning(".".join((target.module, *chain)))

    def star_source(self, file: PythonFile, name: str) -> tuple[Target, PythonFile] | None:
        """The star import of a workspace module that gives a name, the last one that does, and that module's file."""
        ref = self.own_module(file.path)
        for _, target in reversed(index_of(file).stars):
            refs = self.modules(target, ref)
            if refs and refs[-1].path and (inner := self.file(refs[-1].path)) and self.exports(inner, name):
                return target, inner
        return None

    def _meaning(
        self,
        file: PythonFile,
        ref: ModuleRef,
        definition: ast.AST | Target,
        name: str,
        rest: Chain,
        seen: set[tuple[str, Chain]],
    ) -> Iterator[Meaning]:
        if not isinstance(definition, Target):
            yield Meaning(".".join((ref.name, name, *rest)), file, definition, rest)
            return
        target = definition
        refs = self.modules(target, ref)
        if not refs:
            member = (target.member,) if target.member else ()
            if not target.level:
                yield Meaning(".".join((target.module, *member, *rest)))
            return
        module = refs[-1]
        if target.member:
            rest = (target.member, *rest)
        # Down through submodules, as far as names are modules rather than members.
        while rest:
            inner = self.file(module.path) if module.path else None
            if inner is not None and self.binds(inner, rest[0]) and not self.binds_submodule(inner, rest[0]):
                yield from self._steps_seen(inner, rest, (), seen)
                return
            below = self.finder.submodule(module, rest[0])
            if below is None:
                break
            module, rest = below, rest[1:]
        yield Meaning(".".join((module.name, *rest)))

    def binds(self, file: PythonFile, name: str) -> bool:
        """True if the module has that name at top level, stars included."""
        return self._binds(file, name, set())

    def binds_submodule(self, file: PythonFile, name: str) -> bool:
        """True if a package binds the name to a module of its own: `from . import name` in its `__init__.py`."""
        ref = self.own_module(file.path)
        placed = index_of(file).binders_of(file, name, main=False)
        found = [definition for one in placed for definition in _definitions_in(one.statement, name)]
        return bool(found) and all(isinstance(each, Target) and self._is_within(ref, each, name) for each in found)

    def _is_within(self, ref: ModuleRef, target: Target, name: str) -> bool:
        refs = self.modules(target, ref) if target.member == name else ()
        return bool(refs) and refs[-1].name == ref.name and self.finder.submodule(ref, name) is not None

    def _binds(self, file: PythonFile, name: str, seen: set[str]) -> bool:
        if file.path in seen:
            return False
        seen.add(file.path)
        index = index_of(file)
        if name in index.binders or name in index.broken:
            return True
        ref = self.own_module(file.path)
        for _, target in index.stars:
            refs = self.modules(target, ref)
            if refs and refs[-1].path and (inner := self.file(refs[-1].path)):
                exported = self.exported(inner)
                if (name in exported if exported is not None else not name.startswith("_")) and self._binds(
                    inner, name, seen
                ):
                    return True
        return False

    def exports(self, file: PythonFile, name: str) -> bool:
        """True if `from module import *` gives that name."""
        exported = self.exported(file)
        return (name in exported if exported is not None else not name.startswith("_")) and self.binds(file, name)

    def exported(self, file: PythonFile) -> frozenset[str] | None:
        """The module's `__all__`, as far as it is literal; None where it has none."""
        if "exported" not in file.facts:
            file.facts["exported"] = _all_names(file)
        return file.facts["exported"]  # type: ignore[return-value]

    # -- values

    def constant_value(self, file: PythonFile, expression: ast.expr) -> Constant | None:
        """Value of literals, of arithmetic on and tuples of them, and of names and class attributes bound once to such.

        None for anything else.
        """
        try:
            return self._value(file, expression, 0)
        except (ArithmeticError, ValueError, TypeError, RecursionError, IndexError):
            return None

    def _value(self, file: PythonFile, node: ast.AST, depth: int) -> Constant | None:
        if depth > _DEEPEST:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, (int, float, str)) else None
        if isinstance(node, ast.Tuple):
            values = [self._value(file, element, depth + 1) for element in node.elts]
            return None if any(value is None for value in values) else tuple(values)
        if isinstance(node, ast.UnaryOp):
            value = self._value(file, node.operand, depth + 1)
            unary = _UNARY.get(type(node.op))
            return None if value is None or unary is None else unary(value)
        if isinstance(node, ast.BinOp):
            left, right = self._value(file, node.left, depth + 1), self._value(file, node.right, depth + 1)
            return None if left is None or right is None else _binary(node.op, left, right)
        if isinstance(node, ast.Subscript):
            value, index = self._value(file, node.value, depth + 1), self._value(file, node.slice, depth + 1)
            if isinstance(value, tuple) and isinstance(index, int):
                return value[index]
            return None
        chain = chain_of(node)
        if chain is None:
            return None
        steps = list(self._steps(file, chain, ()))
        if len(steps) != 1 or steps[0].file is None or steps[0].node is None:
            return None
        step = steps[0]
        if isinstance(step.node, ast.ClassDef):
            if len(step.rest) != 1:
                return None
            members = list(_definitions(step.node.body, step.rest[0]))
            if len(members) == 1 and isinstance(members[0], ast.expr):
                return self._value(step.file, members[0], depth + 1)
            return None
        if step.rest or not isinstance(step.node, ast.expr):
            return None
        return self._value(step.file, step.node, depth + 1)


def _chain(expression: ast.AST | str) -> Chain | None:
    """The names of an expression, through subscripts and quotes."""
    if isinstance(expression, str):
        node = parse_expression(expression)
        return None if node is None else _chain(node)
    if isinstance(expression, ast.Constant):
        return _chain(expression.value) if isinstance(expression.value, str) else None
    if isinstance(expression, ast.Subscript):
        return _chain(expression.value)
    return chain_of(expression)


def _definitions_in(statement: Statement, name: str) -> tuple[ast.AST | Target, ...]:
    """`_definitions` of one statement, kept with it."""
    key = ("definitions", name)
    if key not in statement.facts:
        statement.facts[key] = tuple(_definitions([statement.node], name))
    return statement.facts[key]  # type: ignore[return-value]


def _definitions(body: Iterable[ast.stmt], name: str) -> Iterator[ast.AST | Target]:
    """What statements bind a name to: an import's target, a definition, an assigned expression, else the statement."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for _, bound, target in import_targets(node):
                if bound == name:
                    yield target
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name:
                yield node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    if target.id == name:
                        yield node.value
                elif any(isinstance(inner, ast.Name) and inner.id == name for inner in _targets(target)):
                    yield node
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name) and node.target.id == name and node.value is not None:
                yield node.value
        elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor)):
            if any(isinstance(inner, ast.Name) and inner.id == name for inner in _targets(node.target)):
                yield node
            yield from _definitions([*getattr(node, "body", ()), *getattr(node, "orelse", ())], name)
        elif isinstance(node, (ast.Delete, ast.Expr)):
            continue
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, field, ()), name)
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from _definitions(part.body, name)


def _targets(node: ast.expr) -> Iterator[ast.expr]:
    """The names among assignment targets, tuples unpacked."""
    if isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from _targets(element)
    elif isinstance(node, ast.Starred):
        yield from _targets(node.value)
    else:
        yield node


def _all_names(file: PythonFile) -> frozenset[str] | None:
    index = index_of(file)
    indices = sorted({*index.binders.get("__all__", ()), *index.calls.get("__all__", ())})
    if not indices:
        return None
    names: set[str] = set()
    for i in indices:
        for node in ast.walk(file.statements[i].statement.node):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return frozenset(names)


_UNARY: dict[type, Callable] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_BINARY: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_BIGGEST = 1 << 256


def _binary(kind: ast.operator, left: Constant, right: Constant) -> Constant | None:
    function = _BINARY.get(type(kind))
    if function is None:
        return None
    if isinstance(kind, ast.Add) and isinstance(left, (tuple, str)) and type(left) is type(right):
        return left + right  # type: ignore[operator]
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        return None  # no string formatting, no repetition: `"x" * 10**9`
    if abs(left) > _BIGGEST or abs(right) > _BIGGEST or (isinstance(kind, (ast.Pow, ast.LShift)) and abs(right) > 256):
        return None
    value = function(left, right)
    return value if isinstance(value, (int, float)) else None
