"""Where single precision meets what makes it double."""

from __future__ import annotations

from typing import Any

from .clang_records import Records
from .clang_tree import BINARY, CALL, COMPOUND, FLOATING, PARENTHESES, UNARY, UNEXPOSED, Known, Node, Tree

Site = list[Any]
_MIXING = frozenset(
    {"atan2", "copysign", "fdim", "fma", "fmax", "fmin", "fmod", "hypot", "max", "min", "pow", "remainder"}
)


class Doubles:
    def __init__(self, tree: Tree, records: Records) -> None:
        self._tree = tree
        self._records = records

    def look(self, node: Node, sites: list[Site]) -> None:
        """If this operation takes a float and is computed in double: a remark."""
        cause = self._cause(node)
        if cause is None or node.spot is None or cause.spot is None:
            return
        bare = _bare(cause)
        if self._cause(bare) is not None:
            # Said where it begins.
            return
        text = self._tree.places.said(cause.spot)
        said = f"`{text}` is a double"
        if _is_literal(bare) and text[-1:] in "0123456789.":
            said += f"; `{text}f` stays in float"
        self._records.remark(node.spot, sites, f"computed in double: {said}", "double")

    def _cause(self, node: Node) -> Node | None:
        """The operand that is double by itself, where another is a float."""
        if node.kind in (BINARY, COMPOUND):
            operands = node.children[:2]
            if len(operands) != 2:
                return None
        elif node.kind == CALL:
            if self._tree.name(node.cursor) not in _MIXING:
                return None
            ty = self._tree.type_of(node.cursor)
            if ty is None or not ty.is_double:
                return None
            operands = node.children[1:]
        else:
            return None
        types = [self._own(operand) for operand in operands]
        if not any(ty is not None and ty.is_float for ty in types):
            return None
        doubles = [operand for operand, ty in zip(operands, types, strict=True) if ty is not None and ty.is_double]
        if not doubles or node.kind == CALL:
            return doubles[0] if doubles else None
        if node.kind == BINARY:
            if self._is_assignment(operands):
                return None
            outer = [self._tree.type_of(operand.cursor) for operand in operands]
            if not all(ty is not None and ty.is_double for ty in outer):
                return None
        elif types[1] is None or not types[1].is_double:
            return None
        return doubles[0]

    def _is_assignment(self, operands: list[Node]) -> bool:
        """True for a conversion alone, which computes nothing."""
        first, second = operands[0].spot, operands[1].spot
        if first is None or second is None:
            return True
        return self._tree.places.text[first.end : second.begin].strip() == b"="

    def _own(self, node: Node) -> Known | None:
        return self._tree.type_of(_bare(node).cursor)


def _bare(node: Node) -> Node:
    """Without conversions and brackets."""
    while node.kind in (UNEXPOSED, PARENTHESES) and len(node.children) == 1:
        node = node.children[0]
    return node


def _is_literal(node: Node) -> bool:
    while node.kind == UNARY and len(node.children) == 1:
        node = node.children[0]
    return node.kind == FLOATING
