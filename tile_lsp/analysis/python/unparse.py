"""Normalised text of statements: the same for every formatting, comment and docstring, and parsed to the same tree."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
#: Says nothing about meaning: the `u` of `u"…"`, type comments, what a name is used for (its place says it).
_IGNORED = frozenset({"kind", "type_comment", "type_ignores", "ctx"})


class UnfaithfulError(ValueError):
    """The statements have no normalised text that is parsed to the same tree."""


def rebuilt(node: Node, **fields: object) -> Node:
    """A copy with some fields replaced and the position kept. Children are shared."""
    values = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    values.update(fields)
    return ast.copy_location(type(node)(**values), node)


def without_docstrings(node: Node) -> Node:
    """The tree without docstrings, sharing what is unchanged.

    In a class, and at module level, every bare string goes, since a string below an attribute documents it. In a
    function only those at its start: a compiler of kernels may have something to say on others.
    """
    changed: dict[str, object] = {}
    for field in _BLOCKS:
        children = getattr(node, field, None)
        if not isinstance(children, list):
            continue
        new = [without_docstrings(child) for child in children]
        if field == "body" and isinstance(node, _DEFINITIONS):
            new = _documentation_removed(new, everywhere=isinstance(node, ast.ClassDef)) or [ast.Pass()]
        if len(new) != len(children) or any(a is not b for a, b in zip(new, children, strict=True)):
            changed[field] = new
    return rebuilt(node, **changed) if changed else node


def _documentation_removed(body: list, everywhere: bool) -> list:
    if everywhere:
        return [statement for statement in body if not is_string(statement)]
    start = 0
    while start < len(body) and is_string(body[start]):
        start += 1
    return body[start:]


def is_string(node: ast.AST) -> bool:
    """True for a statement that is only a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def normalised(statements: Sequence[ast.stmt]) -> str:
    """Text of the statements, without a newline at the end. Raises `UnfaithfulError`."""
    try:
        text = "\n".join(ast.unparse(_completed(statement)) for statement in statements)
        parsed = parsed_text(text).body
    except (ValueError, SyntaxError, RecursionError, MemoryError, AttributeError) as error:
        raise UnfaithfulError(str(error)) from error
    if not same(parsed, statements):
        raise UnfaithfulError("not the same tree")
    return text


@functools.lru_cache(maxsize=512)
def parsed_text(text: str) -> ast.Module:
    """The tree of a normalised text. Must not be changed."""
    return ast.parse(text)


def _completed(node: Node) -> Node:
    """`ast.unparse` looks at `lineno` of some nodes: give those that were made one."""
    return ast.fix_missing_locations(node) if not hasattr(node, "lineno") else node


def same(left: object, right: object) -> bool:
    """Equal trees, positions aside."""
    waiting = [(left, right)]
    while waiting:
        left, right = waiting.pop()
        kind = type(left)
        if isinstance(left, (list, tuple)):
            if not isinstance(right, (list, tuple)) or len(left) != len(right):
                return False
            waiting += zip(left, right, strict=True)
        elif kind is not type(right):
            return False
        elif isinstance(left, ast.AST):
            waiting += [(getattr(left, name, None), getattr(right, name, None)) for name in _meaningful(kind)]
        elif kind is float or kind is complex:
            if repr(left) != repr(right):  # tells 0.0 from -0.0, and one NaN is as good as another
                return False
        elif left != right:
            return False
    return True


@functools.cache
def _meaningful(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _IGNORED)
