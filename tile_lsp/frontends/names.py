"""What names in a file stand for, in the shape that the readers of kernels and launches ask for it."""

from __future__ import annotations

import ast
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from tile_lsp.analysis.notebook import SUFFIX, cell_position, cell_starts
from tile_lsp.analysis.python import Placed, Workspace, asked_of_all, located

_BUILTINS = frozenset({"len", "range", "min", "max", "int", "float", "bool", "abs", "tuple", "list", "sum", "round"})
_MOST_NEIGHBOURS = 64

T = TypeVar("T")


class Known(NamedTuple):
    """A Python value that the text determines; wrapped, since None is one."""

    value: object


class Names:
    """Names of module level, followed through assignments and imports."""

    def __init__(self, workspace: Workspace) -> None:
        self._reference = weakref.ref(workspace)
        self._facts: dict[tuple[str, ...], Any] = {}
        self._found: dict[tuple[str, tuple[str, ...]], tuple[ast.FunctionDef | ast.Lambda, str] | None] = {}

    @property
    def _workspace(self) -> Workspace:
        workspace = self._reference()
        assert workspace is not None, "outlived by its names"
        return workspace

    @classmethod
    def of(cls, workspace: Workspace) -> Names:
        """The one of a workspace's moment, shared by its kernels."""
        known = _BY_WORKSPACE.get(workspace)
        if known is None:
            known = _BY_WORKSPACE[workspace] = cls(workspace)
        return known

    def cached(self, key: tuple[str, ...], make: Callable[[], T]) -> T:
        """Something that is found out once for a workspace's moment."""
        if key not in self._facts:
            self._facts[key] = make()
        return self._facts[key]

    def text(self, path: str) -> str:
        file = self._workspace.file(path)
        return file.text if file is not None else ""

    def neighbours(self, path: str) -> tuple[str, ...]:
        """Files of its folder and of the one above, the nearest first: those that may use what it defines."""
        workspace = self._workspace
        folder = os.path.dirname(path)
        found = [p for f in (folder, os.path.dirname(folder)) for p in workspace.listing(f) if p != path]
        return tuple(found[:_MOST_NEIGHBOURS])

    def mentions(self, path: str, name: str) -> bool:
        """True if a file's text has the name. What was looked at is noted."""
        return self._workspace.holds(path, name)

    def place(self, path: str, line: int) -> str:
        """For people: `"tune.py:12"`, `"tune.ipynb:cell 3:4"`."""
        name = path.rsplit("/", 1)[-1]
        if not path.endswith(SUFFIX):
            return f"{name}:{line}"
        cell, within = cell_position(cell_starts(self.text(path).split("\n")), line)
        return f"{name}:cell {cell}:{within}"

    def placed(self, path: str) -> Sequence[Placed]:
        """The statements of a file. What is found out about one alone is kept with it: most edits are of others."""
        file = self._workspace.file(path)
        return file.statements if file is not None else ()

    def tree(self, path: str) -> ast.Module | None:
        file = self._workspace.file(path)
        return file.tree if file is not None else None

    def dotted(self, node: ast.expr, path: str) -> str | None:
        """`"cuda.tile.load"` for what comes from outside the workspace; None for what is defined in it."""
        names = chain(node)
        file = self._workspace.file(path)
        if names is None or file is None:
            return None
        found = self._workspace.meanings(file, names)
        if found:
            return found[0].dotted if found[0].file is None else None
        return f"builtins.{names[0]}" if names[0] in _BUILTINS and len(names) == 1 else None

    def function(self, node: ast.expr, path: str) -> tuple[ast.FunctionDef | ast.Lambda, str] | None:
        """The definition of a function of the workspace, and the file that it is in."""
        names = chain(node)
        if names is None:
            return None
        key = (path, names)
        if key not in self._found:
            self._found[key] = self._find_function(names, path)
        return self._found[key]

    def _find_function(self, names: tuple[str, ...], path: str) -> tuple[ast.FunctionDef | ast.Lambda, str] | None:
        file = self._workspace.file(path)
        if file is None:
            return None
        for meaning in self._workspace.meanings(file, names):
            if meaning.file is None or meaning.rest:
                continue
            if isinstance(meaning.node, ast.Lambda):
                return meaning.node, meaning.file.path
            if isinstance(meaning.node, ast.FunctionDef):
                found = self._located(meaning.node.name, meaning.file.path)
                if found is not None:
                    return found, meaning.file.path
        return None

    def _located(self, name: str, path: str) -> ast.FunctionDef | None:
        """The last function of module level of that name, those under `if` and `try` included, with lines of its file;
        one that is decorated before one that is not, which only says that there is no device.
        """
        found: ast.FunctionDef | None = None
        for placed in self.placed(path):
            if name in placed.statement.known("functions", _functions):
                for node in statements(located(placed.statement.chunk.text, placed.offset).body):
                    if isinstance(node, ast.FunctionDef) and node.name == name:
                        found = node if found is None or node.decorator_list or not found.decorator_list else found
        return found

    def expression(self, node: ast.expr, path: str) -> tuple[ast.expr, str]:
        """The expression that a name stands for, and the file that it is in; the node itself where it is no name."""
        file = self._workspace.file(path)
        if file is None:
            return node, path
        home, target = self._workspace.resolve_expression(file, node)
        return target, home.path

    def constant(self, node: ast.expr, path: str) -> Known | None:
        """The value of an expression of literals and of constants of modules."""
        file = self._workspace.file(path)
        if file is None:
            return None
        value = self._workspace.constant_value(file, node)
        return Known(value) if value is not None else None


#: A workspace is a view of one moment, so what is found out of it stays true.
_BY_WORKSPACE: weakref.WeakKeyDictionary[Workspace, Names] = weakref.WeakKeyDictionary()


def chain(node: ast.expr) -> tuple[str, ...] | None:
    """The names of `a.b.c`; None for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else None


def _functions(statement: ast.stmt) -> frozenset[str]:
    return frozenset(node.name for node in statements([statement]) if isinstance(node, ast.FunctionDef))


asked_of_all("functions", _functions, ("def",))


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of module level, with those inside `if` and `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from statements([*node.body, *handlers, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.With):
            yield from statements(node.body)
