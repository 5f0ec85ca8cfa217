"""Modules that bind names in ways that can't be read from their text."""

from __future__ import annotations

import ast

from .parse import PythonFile


def injects(file: PythonFile) -> bool:
    """True if the module binds names in ways that can't be read from its text."""
    found = file.facts.get("injects")
    if found is None:
        found = file.facts["injects"] = _looks_injecting(file)
    return bool(found)


_INJECTORS = ("globals", "exec", "vars", "locals", "__getattr__", "sys.modules", "__dict__")
_UPDATES = frozenset({"update", "setdefault", "__setitem__"})


def _looks_injecting(file: PythonFile) -> bool:
    if not any(word in file.clean for word in _INJECTORS):
        return False
    for placed in file.statements:
        if not any(word in placed.statement.chunk.text for word in _INJECTORS):
            continue
        root = placed.statement.node
        if isinstance(root, ast.FunctionDef) and root.name == "__getattr__":
            return True
        for node in ast.walk(root):
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _is_namespace(node.value):
                return True
            if isinstance(node, ast.Call):
                function = node.func
                if isinstance(function, ast.Name):
                    if function.id == "exec" or (function.id == "setattr" and node.args and _is_module(node.args[0])):
                        return True
                elif isinstance(function, ast.Attribute) and _is_update(function):
                    return True
    return False


def _is_update(function: ast.Attribute) -> bool:
    """`globals().update`."""
    return function.attr in _UPDATES and _is_namespace(function.value)


def _is_namespace(node: ast.expr) -> bool:
    """`globals()`, `vars()`, `sys.modules[…].__dict__`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("globals", "vars", "locals")
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return _is_module(node.value)
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules"


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) == "sys.modules"
