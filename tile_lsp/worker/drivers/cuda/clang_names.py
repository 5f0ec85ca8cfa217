"""Functions and classes by the names that a C++ reader would write: `ops::Box<float>::get`, `pick(int)`."""

from __future__ import annotations

import re

from .clang_copies import COPY
from .clang_library import Cursor
from .clang_tree import (
    CLASS_TEMPLATE,
    CONSTRUCTOR,
    DESTRUCTOR,
    ENUM,
    FUNCTION_TEMPLATE,
    FUNCTIONS,
    NAMESPACE,
    PARTIAL,
    RECORDS,
    Tree,
    declaration,
    readable,
)

_TERSE_OUTPUT = 17
_LAMBDA = "lambda::operator()"


class Names:
    """What functions and classes are called; asked once for each. `None` stands for no name."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._clang = tree.clang
        self._names: dict[int, str | None] = {}
        self._functions: dict[int, Cursor] = {}

    def scope(self, cursor: Cursor) -> int:
        """A function or class, as what `text` tells the name of."""
        number = declaration(cursor)
        if number not in self._names:
            self._names[number] = self._qualified(cursor) or None
            if cursor.kind in FUNCTIONS or cursor.kind == FUNCTION_TEMPLATE:
                self._functions[number] = cursor
        return number

    def text(self, number: int) -> str | None:
        """With the types of the parameters, where another function that was met has the same name."""
        name = self._names[number]
        if name is None or number not in self._functions:
            return name
        named = sum(other == name for of, other in self._names.items() if of in self._functions)
        return name if named < 2 else name + self._parameters_of(self._functions[number])

    def _qualified(self, cursor: Cursor) -> str:
        own = self._own(cursor)
        if not own or cursor.kind in RECORDS:
            return own
        around = self._around(cursor)
        name = f"{around}::{own}" if around else own
        # A lambda is known by the kernel around it: that it is an object with an operator says nothing.
        return name.replace(_LAMBDA, "lambda")

    def _around(self, cursor: Cursor) -> str:
        parent = self._clang.getCursorSemanticParent(cursor)
        if parent.kind == NAMESPACE:
            name = self._tree.name(parent)
            outer = self._around(parent)
            if not name or name.startswith(COPY) or self._clang.Cursor_isInlineNamespace(parent):
                return outer
            return f"{outer}::{name}" if outer else name
        if parent.kind in (*RECORDS, CLASS_TEMPLATE, PARTIAL, ENUM):
            return self._qualified(parent)
        return ""

    def _own(self, cursor: Cursor) -> str:
        kind = cursor.kind
        if kind in RECORDS:
            ty = self._tree.type_of(cursor)
            return ty.canonical if ty is not None else self._tree.name(cursor)
        if kind in (CLASS_TEMPLATE, PARTIAL):
            return readable(self._clang.text(self._clang.getCursorDisplayName(cursor)))
        name = self._tree.name(cursor)
        if kind == ENUM and not name.isidentifier():
            return ""
        if kind in (CONSTRUCTOR, DESTRUCTOR):
            # Of a template's class they are spelled with its arguments.
            return name.partition("<")[0]
        if kind == FUNCTION_TEMPLATE:
            return _up_to(self._clang.text(self._clang.getCursorDisplayName(cursor)), len(name))
        return name + self._arguments(cursor, name) if kind in FUNCTIONS else name

    def _arguments(self, cursor: Cursor, name: str) -> str:
        """`<float, 4>` of an instantiation or a specialisation of a function's template."""
        if not self._clang.getSpecializedCursorTemplate(cursor).a:
            return ""
        policy = self._clang.getCursorPrintingPolicy(cursor)
        try:
            self._clang.PrintingPolicy_setProperty(policy, _TERSE_OUTPUT, 1)
            printed = readable(self._clang.text(self._clang.getCursorPrettyPrinted(cursor, policy)))
        finally:
            self._clang.PrintingPolicy_dispose(policy)
        found = re.search(rf"(?<!\w){re.escape(name)}<", printed)
        if found is None:
            return ""
        end = found.end() - 1
        return _without_packs(_up_to(printed[end:], 0))

    def _parameters_of(self, cursor: Cursor) -> str:
        name = self._tree.name(cursor)
        shown = readable(self._clang.text(self._clang.getCursorDisplayName(cursor)))
        shown = shown[len(_up_to(shown, len(readable(name)))) :]
        ty = self._tree.type_of(cursor)
        return f"{shown} const" if ty is not None and ty.text.endswith(") const") else shown


def _up_to(text: str, start: int) -> str:
    """A text up to the end of the brackets `<…>` that open at `start`; up to `start` where none do."""
    if text[start : start + 1] != "<":
        return text[:start]
    depth = parens = 0
    for position in range(start, len(text)):
        match text[position]:
            case "(":
                parens += 1
            case ")":
                parens -= 1
            case "<" if not parens:
                depth += 1
            case ">" if not parens:
                depth -= 1
                if not depth:
                    return text[: position + 1]
    return text


def _without_packs(arguments: str) -> str:
    """Clang writes what a pack stands for in brackets of its own: `<int, <float, float>>`."""
    inner = arguments[1:-1]
    position = 0
    while position < len(inner):
        if inner[position] == "<" and (position == 0 or inner[:position].endswith(", ")):
            pack = _up_to(inner[position:], 0)
            inner = f"{inner[:position]}{pack[1:-1]}{inner[position + len(pack) :]}"
        position += 1
    return f"<{inner.removesuffix(', ')}>"
