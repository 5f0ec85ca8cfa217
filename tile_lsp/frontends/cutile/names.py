"""What names in a file stand for, in the shape that the readers of kernels and launches ask for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tile_lsp.analysis.python import Workspace

_BUILTINS = frozenset({"len", "range", "min", "max", "int", "float", "bool", "abs", "tuple", "list", "sum", "round"})


class Known(NamedTuple):
    """A Python value that the text determines; wrapped, since None is one."""

    value: object


class Names:
    """Names of module level, followed through assignments and imports."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._functions: dict[str, dict[str, ast.FunctionDef]] = {}

    def tree(self, path: str) -> ast.Module | None:
        file = self._workspace.file(path)
        return file.tree if file is not None else None

    def dotted(self, node: ast.expr, path: str) -> str | None:
        """`"cuda.tile.load"` for what comes from outside the workspace; None for what is defined in it."""
        if isinstance(node, ast.Name) and node.id in _BUILTINS and self.function(node, path) is None:
            return f"builtins.{node.id}"
        file = self._workspace.file(path)
        if file is None:
            return None
        name = self._workspace.resolve_name(file, node)
        if name is None or self.function(node, path) is not None:
            return None
        if isinstance(node, ast.Name) and name == node.id and not _imports(file.tree, node.id):
            return None
        return name

    def function(self, node: ast.expr, path: str) -> tuple[ast.FunctionDef | ast.Lambda, str] | None:
        """The definition of a function of the workspace, and the file that it is in."""
        if isinstance(node, ast.Name) and (own := self.functions(path).get(node.id)) is not None:
            return own, path
        file = self._workspace.file(path)
        if file is None:
            return None
        home, target = self._workspace.resolve_expression(file, node)
        if isinstance(target, ast.Lambda):
            return target, home.path
        if isinstance(target, ast.Name) and (found := self.functions(home.path).get(target.id)) is not None:
            return found, home.path
        return None

    def functions(self, path: str) -> dict[str, ast.FunctionDef]:
        """Functions of module level by name, those under `if` and `try` included."""
        known = self._functions.get(path)
        if known is None:
            tree = self.tree(path)
            body = tree.body if tree is not None else []
            known = self._functions[path] = {
                node.name: node for node in statements(body) if isinstance(node, ast.FunctionDef)
            }
        return known

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


def _imports(tree: ast.Module, name: str) -> bool:
    return any(
        (alias.asname or alias.name.partition(".")[0]) == name
        for node in statements(tree.body)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    )
