"""Normalised text of statements: the same for every formatting, comment and docstring, and parsed to the same tree."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
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


def normalised(statements: Sequence[ast.stmt], source: Source | None = None) -> str:
    """Text of the statements, without a newline at the end. Raises `UnfaithfulError`.

    `source`: the text that statements within these come from. Those that stand in it unchanged are normalised once for
    their text: of a function that is edited, one statement is another than before.
    """
    try:
        return "\n".join(
            (_by_parts(statement, source) if source is not None else None) or _whole([statement])
            for statement in statements
        )
    except (ValueError, SyntaxError, RecursionError, MemoryError, AttributeError) as error:
        raise UnfaithfulError(str(error)) from error


def _whole(statements: list[ast.stmt]) -> str:
    text = "\n".join(ast.unparse(_completed(statement)) for statement in statements)
    if not same(ast.parse(text).body, statements):
        raise UnfaithfulError("not the same tree")
    return text


class Source:
    """A text, and the tree that it was parsed to."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._lines = [line.encode() for line in text.split("\n")]
        self._tree = tree
        self._own = {id(node) for node in _statements(tree)}

    def segment(self, node: ast.stmt | ast.expr) -> tuple[str, str] | None:
        """What stands before a statement or a decorator in its first line, and its text; None where it is not of this
        tree.
        """
        if id(node) not in self._own or node.end_lineno is None:
            return None
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        lines = self._lines[first - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        before, lines[0] = lines[0][: node.col_offset], lines[0][node.col_offset :]
        return before.decode(), b"\n".join(lines).decode()


def _statements(node: ast.AST) -> Iterator[ast.stmt | ast.expr]:
    """With their decorators."""
    yield from getattr(node, "decorator_list", ())
    for field in _BLOCKS:
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from _statements(child)


def _by_parts(node: ast.stmt, source: Source) -> str | None:
    """A definition, its body statement by statement; None for what can't be done so."""
    if not isinstance(node, _DEFINITIONS) or is_string(node.body[0]):
        return None
    head = _whole([rebuilt(node, body=[ast.Pass()], decorator_list=[])]).split("\n")[:-1]
    decorators = [_part(decorator, source) for decorator in node.decorator_list]
    body = [_part(child, source) for child in node.body]
    if None in decorators or None in body:
        return None
    lines = [*(f"@{text}" for text in decorators), *head]
    for child, text in zip(node.body, body, strict=True):
        if isinstance(child, _DEFINITIONS):
            lines.append("")  # as `ast.unparse` has it
        lines += [f"    {line}" if line else "" for line in text.split("\n")]
    return "\n".join(lines)


def _part(node: ast.stmt | ast.expr, source: Source) -> str | None:
    segment = source.segment(node)
    return _normalised_segment(*segment) if segment is not None else None


@functools.lru_cache(maxsize=8192)
def _normalised_segment(before: str, text: str) -> str | None:
    """Of one statement's text; None where it may have strings of several lines, which can't be indented."""
    body = ast.parse(f"if 1:\n{before}{text}" if before and before.isspace() else text).body
    statements = body[0].body if before and before.isspace() else body  # type: ignore[attr-defined]
    made = _whole(statements)
    return None if _MULTILINE.search(made) else made


_MULTILINE = re.compile(r"'''|\"\"\"")


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
