"""Statements that tell Numba something when they are executed, and that no kernel names: overloads, typing and lowering
of types of one's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tile_lsp.analysis.python import PythonFile, Workspace
from tile_lsp.frontends.names import Names

#: Decorators and functions of Numba's extension interface, by the last part of their names.
_NAMES = frozenset(
    {
        "builtin_wraps",
        "infer",
        "infer_getattr",
        "infer_global",
        "lower",
        "lower_attr",
        "lower_builtin",
        "lower_cast",
        "lower_constant",
        "lower_getattr",
        "lower_getattr_generic",
        "lower_setattr",
        "make_attribute_wrapper",
        "overload",
        "overload_attribute",
        "overload_classmethod",
        "overload_method",
        "register",
        "register_default",
        "register_model",
        "register_attr",
        "register_global",
        "type_callable",
    }
)
_BY_FUNCTION = frozenset({"overload", "lower_builtin", "lower", "infer_global", "register_global", "type_callable"})
"""Those whose first argument is what a kernel names."""


def registers(workspace: Workspace, file: PythonFile, needed: frozenset[str]) -> Iterator[int]:
    """Indices of a module's statements of that kind, less those about functions of the module that are not needed."""
    if "numba" not in file.text:
        return
    names = Names.of(workspace)
    for index, about in names.cached(("registrations", file.path), lambda: tuple(_all(workspace, file))):
        if about is None or about in needed:
            yield index


def _all(workspace: Workspace, file: PythonFile) -> Iterator[tuple[int, str | None]]:
    """Each with the function of the module that it is about, if it is about one."""
    own = {
        placed.statement.node.name
        for placed in file.statements
        if isinstance(placed.statement.node, (ast.FunctionDef, ast.ClassDef))
    }
    for index, placed in enumerate(file.statements):
        node = placed.statement.node
        for call in _calls(node):
            name = _registration(workspace, file, call)
            if name is None:
                continue
            first = call.args[0] if isinstance(call, ast.Call) and call.args else None
            simple = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Expr))
            of_own = simple and isinstance(first, ast.Name) and name in _BY_FUNCTION and first.id in own
            yield index, first.id if of_own and isinstance(first, ast.Name) else None
            break


def _calls(node: ast.stmt) -> Iterator[ast.expr]:
    """The decorators of what a statement defines, and what it calls for effect; under an `if` and the like too."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield from node.decorator_list
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node.value
    else:
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.stmt):
                yield from _calls(inner)
            elif isinstance(inner, ast.ExceptHandler):
                for statement in inner.body:
                    yield from _calls(statement)


def _registration(workspace: Workspace, file: PythonFile, node: ast.expr) -> str | None:
    """The last part of the name of what is called, if it is Numba's, or a registry that is made of Numba's."""
    while isinstance(node, ast.Call):
        node = node.func
    dotted = workspace.resolve_in(file, (), node)
    if dotted is None:
        return None
    last = dotted.rpartition(".")[2]
    if last not in _NAMES:
        return None
    if dotted.startswith("numba."):
        return last
    # `registry = Registry()`, `lower = registry.lower`
    root, _ = workspace.resolve_expression(file, node.value if isinstance(node, ast.Attribute) else node)
    while isinstance(root, (ast.Call, ast.Attribute)):
        root = root.func if isinstance(root, ast.Call) else root.value
    made_of = workspace.resolve_in(file, (), root) if isinstance(root, ast.Name) else None
    return last if made_of is not None and made_of.startswith("numba.") else None
