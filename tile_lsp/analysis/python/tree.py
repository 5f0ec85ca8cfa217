"""Walks over syntax trees, in the order of the text. The standard library's do the same by generators of generators,
which is most of what an edit would cost.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

#: Fields that hold text, numbers, or nodes that say nothing (`ctx`, `ops`).
_BARE = frozenset(
    "arg asname attr conversion ctx id is_async kind level module name op ops rest simple type_comment".split()  # noqa: SIM905
)


@functools.cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Where a kind of node has others below it."""
    if kind is ast.Constant:
        return ()
    # `type X = …` is the one whose name is a node.
    bare = _BARE - {"name"} if kind.__name__ == "TypeAlias" else _BARE
    return tuple(name for name in kind._fields if name not in bare)


def children(node: ast.AST) -> list[ast.AST]:
    """Nodes right below a node, without those for operators and contexts."""
    found: list[ast.AST] = []
    for name in _fields(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        below = children(node)
        below.reverse()
        waiting += below
