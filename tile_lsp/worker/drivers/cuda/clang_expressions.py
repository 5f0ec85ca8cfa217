"""The records of one function's body, or of a declaration: names, expressions, and what is converted on the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .clang_doubles import Doubles
from .clang_library import Cursor
from .clang_records import Records
from .clang_tree import (
    ANNOTATION,
    BINARY,
    CALL,
    COMPOUND,
    CONSTANT_ATTRIBUTE,
    CONSTRUCTOR,
    DEVICE_ATTRIBUTE,
    ENUM_CONSTANT,
    FIELD,
    FUNCTIONS,
    INITIALIZERS,
    LITERALS,
    MEMBER,
    NAME,
    PARAMETER,
    PARENTHESES,
    SIZE_OF,
    SUBSCRIPT,
    TEMPLATE_REFERENCE,
    TYPE_REFERENCE,
    UNARY,
    UNEXPOSED,
    UNEXPOSED_DECLARATION,
    VALUE_PARAMETER,
    VARIABLE,
    Known,
    Node,
    Tree,
    declaration,
)

Site = list[Any]
Reach = Callable[[Cursor, Site | None, list[Site]], None]
_MEMORIES = {CONSTANT_ATTRIBUTE: "__constant__", DEVICE_ATTRIBUTE: "__device__"}
_DECLARED = {VARIABLE: "store", PARAMETER: "param", FIELD: "store", ENUM_CONSTANT: "store"}
_QUALIFIERS = frozenset({"const", "volatile", "__restrict", "__restrict__", "struct", "enum", "class", "union"})
_WORDS = re.compile(r"[^\W\d]\w*")
_SPELLED = {"__shared__": "shared", "__constant__": "constant", "__device__": "global"}


class Expressions:
    def __init__(self, tree: Tree, records: Records, reach: Reach, opaque: frozenset[str]) -> None:
        self._opaque = opaque
        self._tree = tree
        self._clang = tree.clang
        self._records = records
        self._reach = reach
        self._doubles = Doubles(tree, records)
        self._memories: dict[int, str | None] = {}
        self._sites: list[Site] = []
        self._dependent = False

    def read(self, node: Node, sites: list[Site], *, dependent: bool) -> None:
        """`dependent`: the types are those of a template, nothing is evaluated."""
        self._sites, self._dependent = sites, dependent
        # The type that a parent makes of a node's value, and whether it is assigned to.
        stack: list[tuple[Node, Known | None, bool]] = [(node, None, False)]
        while stack:
            node, converted, stored = stack.pop()
            kind = node.kind
            if kind >= 400:
                continue
            following: Known | None = None
            if kind in _DECLARED:
                self._declared(node)
            elif kind == TYPE_REFERENCE:
                self._type_reference(node, node.cursor)
            elif kind == TEMPLATE_REFERENCE and node.parent is not None and node.parent.kind in _DECLARED:
                self._type_reference(node, node.parent.cursor)
            elif 100 <= kind < 200 or kind == 280:
                if _is_wrapper(node):
                    following = converted or self._tree.type_of(node.cursor)
                    stack.append((node.children[0], following, stored))
                    self._called(node)
                    continue
                if node.spot is not None and not _inside_macro(node):
                    self._expression(node, converted, stored)
                if not dependent:
                    self._doubles.look(node, sites)
            assigned = self._assigned(node)
            stack.extend((child, None, child is assigned) for child in reversed(node.children))

    # -- declarations --------------------------------------------------------------------------------------------------

    def _declared(self, node: Node) -> None:
        cursor = node.cursor
        ty = self._tree.type_of(cursor)
        if ty is None or self._clang.isInvalidDeclaration(cursor):
            return
        name = self._tree.name(cursor)
        memory = self._memory_of(cursor, node)
        constant = None
        if node.kind == ENUM_CONSTANT:
            constant = str(self._clang.getEnumConstantDeclValue(cursor))
        elif node.kind == VARIABLE and ty.is_constant and not self._dependent:
            constant = self._records.value(cursor, ty)
        text = f"{memory} {ty.text}" if memory else ty.text
        facts = [*self._meaning(ty), *self._size(ty)]
        kind = _DECLARED[node.kind]
        if kind == "store" and (node.kind == ENUM_CONSTANT or self._is_written(node, ty)):
            kind = "declared"
        self._records.name(cursor, self._sites, kind, text, name, constant, facts)

    def _is_written(self, node: Node, ty: Known) -> bool:
        """True if the text before a name says its type in the words that we would."""
        name = self._tree.places.offset(self._clang.getCursorLocation(node.cursor))
        if node.spot is None or node.spot.expanded or name is None:
            return False
        text, begin = self._tree.places.text, node.spot.begin
        if begin == name:
            # Of `int i, j;` the second has its name's extent alone.
            begin = max(text.rfind(mark, 0, name) for mark in (b";", b"{", b"}")) + 1
        said = set(_WORDS.findall(text[begin:name].decode("utf-8", "replace")))
        implied = {"int"} if said & {"unsigned", "signed", "long", "short"} else set()
        return "auto" not in said and set(_WORDS.findall(ty.text)) - _QUALIFIERS - implied <= said

    def _meaning(self, ty: Known) -> list[list[str]]:
        """What a type's name stands for."""
        if ty.canonical == ty.text or ty.is_function or ty.is_dependent or len(ty.canonical) > 80:
            return []
        if ty.is_record and re.split(r"::|\s", ty.plain)[-1] == re.split(r"::|\s", ty.text)[-1]:
            return []
        return [["is", ty.canonical]]

    def _size(self, ty: Known) -> list[list[str]]:
        if self._dependent or not (ty.is_record or ty.canonical.endswith("]")) or ty.plain in self._opaque:
            return []
        size, alignment = self._clang.Type_getSizeOf(ty.raw), self._clang.Type_getAlignOf(ty.raw)
        return [["size", f"{size} bytes"], ["alignment", f"{alignment} bytes"]] if size > 0 < alignment else []

    def _memory_of(self, cursor: Cursor, node: Node | None = None) -> str | None:
        """The qualifier that says where a variable lives."""
        if cursor.kind != VARIABLE:
            return None
        number = declaration(cursor)
        if number not in self._memories:
            attributes = self._tree.children(cursor) if node is None else [child.cursor for child in node.children]
            found = [_MEMORIES[one.kind] for one in attributes if one.kind in _MEMORIES]
            found += [
                name for one in attributes if one.kind == ANNOTATION and (name := self._tree.name(one)) in _SPELLED
            ]
            # The built-in variables are no memory, though declared as if they were.
            self._memories[number] = found[0] if found and not self._is_foreign(cursor) else None
        return self._memories[number]

    def _is_foreign(self, cursor: Cursor) -> bool:
        """True for what a header declares."""
        return self._tree.places.spot(self._clang.getCursorExtent(cursor)) is None

    def _type_reference(self, node: Node, typed: Cursor) -> None:
        """A name that stands for a type, that of `typed`: what it stands for, or how large it is."""
        if node.spot is None or node.spot.expanded:
            return
        ty = self._tree.type_of(typed)
        if ty is None or ty.is_dependent:
            return
        name = self._tree.places.source(node.spot)
        if ty.is_record or ty.canonical.split("::")[-1] != name:
            self._records.add(node.spot, self._sites, "load", f"type {ty.canonical}", name, None, self._size(ty))

    # -- expressions ---------------------------------------------------------------------------------------------------

    def _expression(self, node: Node, converted: Known | None, stored: bool) -> None:
        ty = self._tree.type_of(node.cursor)
        spot = node.spot
        if spot is None or self._is_sequence(_bare(node)) or _is_made_up(node):
            return
        if node.kind == CALL:
            self._called(node)
        if node.kind == CALL and not spot.expanded:
            self._call(node, ty, converted)
        elif node.kind in (NAME, MEMBER):
            self._name(node, ty, converted, stored)
        elif node.kind in LITERALS:
            if spot.expanded and ty is not None and node.kind != INITIALIZERS:
                name = self._tree.places.source(spot)
                if name.isidentifier():
                    constant = None if self._dependent else self._records.value(node.cursor, ty)
                    self._records.add(spot, self._sites, "load", ty.text, name, constant)
        elif ty is not None and not (node.literal and not spot.expanded) and node.kind != INITIALIZERS:
            constant = self._constant(node, ty)
            facts = [*self._conversion(ty, converted), *self._lives(node)]
            if not ty.is_function:
                name = self._tree.places.source(spot) if spot.expanded else None
                name = name if name is not None and name.isidentifier() else None
                # A value is never const, whatever it was taken from.
                shown = ty.text.removeprefix("const ") if ty.is_number and node.kind != SUBSCRIPT else ty.text
                self._records.add(spot, self._sites, "load" if name else "expr", shown, name, constant, facts)

    def _name(self, node: Node, ty: Known | None, converted: Known | None, stored: bool) -> None:
        meant = self._clang.getCursorReferenced(node.cursor)
        spot = node.spot
        if spot is None:
            return
        name = self._tree.name(node.cursor)
        if meant.kind in FUNCTIONS:
            self._reach(meant, self._site(node), self._sites)
            own = self._tree.type_of(meant)
            if own is not None and not _is_implicit(node, name, self._tree):
                self._records.add(spot, self._sites, "load", f"function {own.text}", name)
            return
        if meant.kind in (VARIABLE, PARAMETER):
            # As it is declared: an expression is never of a reference's type.
            ty = self._tree.type_of(meant) or ty
            if self._clang.isInvalidDeclaration(meant):
                return
        if ty is None or (name and _is_implicit(node, name, self._tree) and not spot.expanded):
            return
        if not meant.a and not name:
            # What a template's parameter stands for has the parameter's place and no name.
            name = self._tree.places.source(spot)
        if meant.kind == UNEXPOSED_DECLARATION:
            # A structured binding: libclang shows where it is used, and not where it is declared.
            self._records.name(meant, self._sites, "store", ty.text, name)
        memory = self._memory_of(meant)
        constant = None
        shown = ty.text
        if node.kind == MEMBER or (meant.kind == VARIABLE and self._is_foreign(meant)):
            # That `threadIdx` is const goes without saying.
            shown = shown.removeprefix("const ") if not ty.is_pointer else shown
        if meant.kind == ENUM_CONSTANT:
            constant = str(self._clang.getEnumConstantDeclValue(meant))
        elif not self._dependent and (ty.is_constant or not meant.a or meant.kind == VALUE_PARAMETER):
            constant = self._records.value(node.cursor, ty)
        facts = [*self._meaning(ty), *self._conversion(ty, converted)]
        text = f"{memory} {shown}" if memory else shown
        if node.kind == MEMBER:
            self._records.add(spot, self._sites, "expr", text, None, constant, [*facts, *self._lives(node)])
        else:
            self._records.add(spot, self._sites, "declared" if stored else "load", text, name, constant, facts)

    def _called(self, node: Node) -> None:
        """A call that the text may not show, such as a conversion's: what it calls is read too."""
        if node.kind == CALL:
            self._reach(self._clang.getCursorReferenced(node.cursor), self._site(node), self._sites)

    def _call(self, node: Node, ty: Known | None, converted: Known | None) -> None:
        if ty is None or node.spot is None:
            return
        if not node.children and node.parent is not None and node.parent.kind in _DECLARED:
            # A constructor that a declaration calls unasked has the place of the variable's name.
            return
        meant = self._clang.getCursorReferenced(node.cursor)
        signature = self._tree.type_of(meant) if meant.kind in FUNCTIONS else None
        facts = self._conversion(ty, converted)
        name = self._tree.name(node.cursor)
        if signature is not None and name and signature.is_function:
            result, bracket, parameters = signature.text.partition("(")
            result = "" if meant.kind == CONSTRUCTOR else result
            facts.append(["calls", f"{result}{name}{bracket}{parameters}"])
        self._records.add(node.spot, self._sites, "expr", ty.text, None, self._constant(node, ty), facts)

    def _constant(self, node: Node, ty: Known) -> str | None:
        """Only what may be known is asked for: all names in it are constants."""
        if self._dependent or not (ty.is_integral or ty.is_number):
            return None
        if node.kind != SIZE_OF and not node.literal and not self._may_be_constant(node):
            return None
        return self._records.value(node.cursor, ty)

    def _may_be_constant(self, node: Node) -> bool:
        # From the right: in a long sum the first name that is none ends it at once.
        stack = [node]
        while stack:
            inner = stack.pop()
            stack.extend(inner.children)
            if inner.kind == NAME:
                meant = self._clang.getCursorReferenced(inner.cursor)
                if meant.kind in FUNCTIONS or meant.kind in (ENUM_CONSTANT, VALUE_PARAMETER) or not meant.a:
                    continue
                ty = self._tree.type_of(meant)
                if ty is None or not ty.is_constant:
                    return False
            elif inner.kind == MEMBER:
                return False
        return True

    def _conversion(self, ty: Known, converted: Known | None) -> list[list[str]]:
        if converted is None or ty.plain == converted.plain or converted.is_bool:
            return []
        if ty.is_number and converted.is_number:
            return [["converted to", converted.text]]
        if (ty.is_record and converted.is_number) or (ty.is_number and converted.is_record):
            return [["converted to", converted.text]]
        return []

    def _lives(self, node: Node) -> list[list[str]]:
        """The memory that an element or a member is in, where that can be seen."""
        inner, steps = node, 0
        while inner.children and inner.kind in (SUBSCRIPT, MEMBER, UNEXPOSED, PARENTHESES):
            if inner.kind != UNEXPOSED:
                steps += inner.kind != PARENTHESES
                base = self._tree.type_of(_bare(inner.children[0]).cursor)
                if base is None or base.is_pointer:
                    return []
            inner = inner.children[0]
        if inner.kind != NAME or not steps:
            return []
        memory = self._memory_of(self._clang.getCursorReferenced(inner.cursor))
        return [["memory", _SPELLED[memory]]] if memory else []

    def _assigned(self, node: Node) -> Node | None:
        """The name that an assignment binds anew."""
        if node.kind == COMPOUND or (node.kind == BINARY and self._is_assignment(node)):
            return node.children[0] if node.children and node.children[0].kind == NAME else None
        return None

    def _is_assignment(self, node: Node) -> bool:
        return self._operator(node) == b"="

    def _is_sequence(self, node: Node) -> bool:
        """`a, b`, whose type is that of `b`; a launch is read as one too."""
        return node.kind == BINARY and self._operator(node).startswith(b",")

    def _operator(self, node: Node) -> bytes:
        if len(node.children) != 2 or node.children[0].spot is None or node.children[1].spot is None:
            return b""
        return self._tree.places.text[node.children[0].spot.end : node.children[1].spot.begin].strip()

    def _site(self, node: Node) -> Site | None:
        """The place of the call that a name stands in."""
        while node.kind != CALL and node.parent is not None and 100 <= node.parent.kind < 200:
            node = node.parent
        if node.spot is None:
            return None
        return self._tree.places.lines.place(node.spot.begin, node.spot.end)


def _bare(node: Node) -> Node:
    while node.kind in (UNEXPOSED, PARENTHESES) and len(node.children) == 1:
        node = node.children[0]
    return node


def _is_wrapper(node: Node) -> bool:
    """True for a conversion, which has no text of its own."""
    if len(node.children) != 1 or node.kind not in (UNEXPOSED, CALL):
        return False
    inner = node.children[0]
    if node.kind == CALL and node.spot is not None and node.spot.expanded:
        return False
    return 100 <= inner.kind < 200 and inner.spot == node.spot


def _is_made_up(node: Node) -> bool:
    """True for an operator that the text doesn't have, as of the loops and folds that clang writes out."""
    if node.kind not in (BINARY, UNARY) or node.spot is None or node.spot.expanded:
        return False
    return any(child.spot == node.spot for child in node.children)


def _inside_macro(node: Node) -> bool:
    """True for a part of what a macro's body makes: the whole of it is what the text shows."""
    if node.spot is None or not node.spot.expanded or node.parent is None:
        return False
    above = node.parent
    while _is_wrapper(above) and above.parent is not None:
        above = above.parent
    return 100 <= above.kind < 200 and above.spot == node.spot


def _is_implicit(node: Node, name: str, tree: Tree) -> bool:
    """True for what the text doesn't name, such as the conversion function that is called."""
    return node.spot is None or name not in tree.places.source(node.spot)
