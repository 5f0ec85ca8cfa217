"""Walks over syntax trees, in the order of the text. The standard library's do the same by generators of generators,
which is most of what an edit would cost.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

#: Fields that hold text, numbers, or nodes that say nothing (`ctx`, `ops`).
_BARE = frozenset(
    """
    arg asname attr conversion ctx id is_async kind kwd_attrs level module name op ops rest simple str type_comment
    """.split()  # noqa: SIM905 - a list of words reads better than a column of quotes
)
#: Kinds without any below them, whatever their fields hold.
_LEAVES = frozenset({ast.Constant, ast.Global, ast.MatchSingleton, ast.Nonlocal})

#: Lists with holes in them.
_GAPPED = frozenset({"keys", "kw_defaults"})


@functools.cache
def fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Where a kind of node has others below it."""
    if kind in _LEAVES:
        return ()
    # `type X = …` is the one whose name is a node.
    bare = _BARE - {"name"} if kind.__name__ == "TypeAlias" else _BARE
    return tuple(name for name in kind._fields if name not in bare)


def children(node: ast.AST) -> list[ast.AST]:
    """Nodes right below a node, without those for operators and contexts."""
    found: list[ast.AST] = []
    for name in fields(type(node)):
        value = getattr(node, name, None)
        if value is None:
            continue
        if not isinstance(value, list):
            found.append(value)
        elif name in _GAPPED:
            found += [item for item in value if item is not None]
        else:
            found += value
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
