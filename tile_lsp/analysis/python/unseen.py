"""What a slice does not follow: an object of a module that is changed under another name, or by a function that has it.

To follow that soundly would be to run whatever the module runs. It is told instead, where the kernel's author looks.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .index import bindings_of, index_of
from .parse import Placed, PythonFile, Statement, asked_of_all
from .scope import bindings, root_name

_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)
#: Builtins that look at what they are given.
_READERS = frozenset({"print", "len", "sorted", "repr", "str", "min", "max", "sum", "any", "all", "isinstance", "id"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def unseen_changes(file: PythonFile, names: Collection[str], taken: Collection[int]) -> Iterator[tuple[str, str]]:
    """Names whose object may be changed by statements that are not `taken`, with the code that may change it."""
    index = index_of(file)
    for name in names:
        if not any(_is_object(placed.statement, name) for placed in index.binders_of(file, name, main=False)):
            continue
        for placed in file.statements:
            if placed.index in taken or placed.statement.main or not placed.statement.known("may change", _may_change):
                continue
            if code := _change(file, placed, name):
                yield name, code
                break


def _is_object(statement: Statement, name: str) -> bool:
    """True if a statement binds a name to something that can be changed in place."""
    node = statement.node
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(node.value, _DISPLAYS):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _may_change(node: ast.stmt) -> bool:
    """False for what `_change` would have nothing to say of."""
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Name)
    return isinstance(node, ast.Expr) or bool(getattr(node, "decorator_list", ()))


asked_of_all("may change", _may_change)


def _change(file: PythonFile, placed: Placed, name: str) -> str | None:
    node = placed.statement.node
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
        index = index_of(file)
        aliases = [target.id for target in node.targets if isinstance(target, ast.Name)]
        changing = [i for alias in aliases for i in (*index.calls.get(alias, ()), *index.stores.get(alias, ()))]
        return ast.unparse(file.statements[changing[0]].statement.node).split("\n")[0] if changing else None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        given = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
        reader = isinstance(node.value.func, ast.Name) and node.value.func.id in _READERS
        if not reader and any(isinstance(value, ast.Name) and value.id == name for value in given):
            return ast.unparse(node)
        return ast.unparse(node) if _changes(file, node.value.func, name) else None
    for decorator in getattr(node, "decorator_list", ()):
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _changes(file, function, name):
            return f"@{ast.unparse(decorator)}"
    return None


def _changes(file: PythonFile, function: ast.expr, name: str) -> bool:
    """True for a function of the file whose body changes the object in place."""
    called = root_name(function) if isinstance(function, ast.Name) else None
    for index in index_of(file).binders.get(called or "", ()):
        statement = file.statements[index].statement
        if isinstance(statement.node, _FUNCTIONS) and name in _changed_in(statement):
            return True
    return False


def _changed_in(statement: Statement) -> frozenset[str]:
    """Names of objects that a function, or a function in it, changes in place; its own names left out."""
    found = statement.facts.get("changed in place")
    if found is None:
        changed: set[str] = set()
        own: set[str] = set(bindings_of(statement).names)
        for node in ast.walk(statement.node):
            if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
                arguments = node.args
                own |= {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
            if isinstance(node, _FUNCTIONS):
                inside = bindings(node.body)
                changed |= inside.stores | inside.calls
                own |= inside.plain
        found = statement.facts["changed in place"] = frozenset(changed - own)
    return found  # type: ignore[return-value]
