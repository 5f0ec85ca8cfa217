"""Clang's syntax tree as objects, and the types in it as text. libclang is asked once for each type."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .clang_library import RECURSE, Cursor, Type
from .clang_places import Places, Spot
from .clang_unit import Unit

# Kinds of cursors, by libclang's numbers.
STRUCT, UNION, CLASS, ENUM, FIELD, ENUM_CONSTANT, FUNCTION, VARIABLE, PARAMETER = range(2, 11)
METHOD, NAMESPACE, LINKAGE, CONSTRUCTOR, DESTRUCTOR, CONVERSION = range(21, 27)
TYPE_PARAMETER, VALUE_PARAMETER, TEMPLATE_PARAMETER, FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL = range(27, 33)
ALIAS = 36
TYPE_REFERENCE, _, TEMPLATE_REFERENCE = 43, 44, 45
UNEXPOSED, NAME, MEMBER, CALL, _, _, INTEGER, FLOATING, _, STRING, CHARACTER, PARENTHESES = range(100, 112)
UNARY, SUBSCRIPT, BINARY, COMPOUND, CONDITIONAL, CAST = range(112, 118)
INITIALIZERS = 119
BOOLEAN, NULLPTR, THIS = 130, 131, 132
NEW, SIZE_OF, PACK_EXPANSION = 134, 136, 142
LAMBDA = 144
BLOCK = 202
ANNOTATION = 406
CONSTANT_ATTRIBUTE, DEVICE_ATTRIBUTE, GLOBAL_ATTRIBUTE, HOST_ATTRIBUTE = range(412, 416)
UNEXPOSED_DECLARATION = 1

FUNCTIONS = frozenset({FUNCTION, METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION})
RECORDS = frozenset({STRUCT, UNION, CLASS})
TEMPLATES = frozenset({FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL})
LITERALS = frozenset({INTEGER, FLOATING, STRING, CHARACTER, BOOLEAN, NULLPTR})
NAMING = frozenset({NAME, MEMBER, CALL, THIS, NEW, SIZE_OF, LAMBDA})

#: Kinds of types.
_INVALID, _BOOL, _LAST_NUMBER, _FLOAT, _DOUBLE = 0, 3, 23, 21, 22
_OVERLOAD, _DEPENDENT, _HALF, _FLOAT16, _BFLOAT16 = 25, 26, 31, 32, 39
_POINTER, _LVALUE, _RVALUE, _RECORD, _ENUM, _FUNCTION, _ARRAY, _AUTO = 101, 103, 104, 105, 106, 111, 112, 118
_ANONYMOUS = re.compile(r"\((lambda|unnamed|anonymous)([^()]*?) at [^()]*\)")
_VERSION = re.compile(r"(?<=::)__v?\d+::")
_PLACEHOLDER = re.compile(r"\bauto\b|\bdecltype\(")
_UNSAID = ("<dependent type>", "<overloaded function type>", "<bound member function type>", "<builtin fn type>")

Key = tuple[int, int, int]


def key(cursor: Cursor) -> Key:
    """What tells cursors of one translation unit apart."""
    return cursor.kind, cursor.a or 0, cursor.b or 0


def declaration(cursor: Cursor) -> int:
    """What tells declarations apart, however they were reached."""
    return cursor.a or 0


class Node:
    __slots__ = ("children", "cursor", "kind", "literal", "parent", "spot")

    def __init__(self, cursor: Cursor, parent: Node | None) -> None:
        self.cursor = cursor
        self.kind = cursor.kind
        self.parent = parent
        self.children: list[Node] = []
        self.spot: Spot | None = None
        self.literal = False
        """There is no name in it."""

    def all(self) -> Iterator[Node]:
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class Known:
    """A type: its text, and what is asked of it."""

    __slots__ = ("canonical", "is_dependent", "kind", "plain", "raw", "text")

    def __init__(self, raw: Type, text: str, kind: int, canonical: str) -> None:
        self.raw = raw
        self.is_dependent = "type-parameter-" in canonical
        # `typename Traits<T>::type` says less than what it is.
        self.text = text
        if not self.is_dependent and (
            "typename " in text or ("::" in canonical and "::" not in text and kind == _RECORD)
        ):
            # Nor does the name alone that a header's own code has for it.
            self.text = canonical
        self.kind = kind
        """Of the canonical type."""
        self.canonical = canonical
        self.plain = canonical.removeprefix("const ").removeprefix("volatile ").removesuffix(" const")
        """Without qualifiers."""

    @property
    def is_number(self) -> bool:
        return _BOOL <= self.kind <= _LAST_NUMBER or self.kind in (_HALF, _FLOAT16, _BFLOAT16)

    @property
    def is_float(self) -> bool:
        return self.kind == _FLOAT

    @property
    def is_double(self) -> bool:
        return self.kind == _DOUBLE

    @property
    def is_bool(self) -> bool:
        return self.kind == _BOOL

    @property
    def is_integral(self) -> bool:
        return _BOOL <= self.kind < _FLOAT or self.kind == _ENUM

    @property
    def is_record(self) -> bool:
        return self.kind == _RECORD

    @property
    def is_function(self) -> bool:
        return self.kind == _FUNCTION

    @property
    def is_constant(self) -> bool:
        return self.canonical.startswith("const ")

    @property
    def is_pointer(self) -> bool:
        return self.kind == _POINTER


class Tree:
    def __init__(self, unit: Unit, places: Places) -> None:
        self.clang = unit.clang
        self.unit = unit
        self.places = places
        self._types: dict[tuple[int, int | None], Known | None] = {}

    def root(self) -> Cursor:
        return self.clang.getTranslationUnitCursor(self.unit.handle)

    def children(self, cursor: Cursor) -> list[Cursor]:
        found: list[Cursor] = []

        def visitor(inner: Cursor, parent: Cursor) -> int:
            found.append(inner)
            return 1

        self.clang.visit(cursor, visitor)
        return found

    def of(self, cursor: Cursor) -> Node:
        """The whole tree under a cursor."""
        root = Node(cursor, None)
        nodes = [root]
        stack: list[tuple[Key, Node]] = [(key(cursor), root)]

        def visitor(inner: Cursor, parent: Cursor) -> int:
            above = (parent.kind, parent.a or 0, parent.b or 0)
            while len(stack) > 1 and stack[-1][0] != above:
                stack.pop()
            node = Node(inner, stack[-1][1])
            node.parent.children.append(node)  # type: ignore[union-attr]
            nodes.append(node)
            stack.append(((inner.kind, inner.a or 0, inner.b or 0), node))
            return RECURSE

        self.clang.visit(cursor, visitor)
        extent, spot = self.clang.getCursorExtent, self.places.spot
        for node in reversed(nodes):
            node.spot = spot(extent(node.cursor))
            node.literal = node.kind not in NAMING and all(child.literal for child in node.children)
        return root

    def type_of(self, cursor: Cursor) -> Known | None:
        """None where there is no type, or none that is known before instantiation."""
        return self.known(self.clang.getCursorType(cursor))

    def known(self, raw: Type) -> Known | None:
        at = (raw.kind, raw.a)
        if at not in self._types:
            self._types[at] = self._read(raw)
        return self._types[at]

    def _read(self, raw: Type) -> Known | None:
        if raw.kind in (_INVALID, _OVERLOAD, _DEPENDENT):
            return None
        clang = self.clang
        canonical = clang.getCanonicalType(raw)
        if canonical.kind in (_AUTO, _OVERLOAD, _DEPENDENT):
            return None
        text = readable(clang.text(clang.getTypeSpelling(raw)))
        if not text or any(word in text for word in _UNSAID):
            return None
        found = Known(raw, text, canonical.kind, readable(clang.text(clang.getTypeSpelling(canonical))))
        return None if found.is_dependent and _PLACEHOLDER.search(text) else found

    def name(self, cursor: Cursor) -> str:
        return self.clang.text(self.clang.getCursorSpelling(cursor))


def readable(text: str) -> str:
    """Without positions, of which the text of a lambda's type has one, and without versions of libraries."""
    return _VERSION.sub("", _ANONYMOUS.sub(lambda found: found[1] + found[2], text))
