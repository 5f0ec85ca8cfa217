"""Records as the server's `TypeRecord`s and `Remark`s, each once."""

from __future__ import annotations

import re
import struct
from typing import Any

from ...records import record
from .clang_library import Cursor
from .clang_names import Names
from .clang_places import Spot
from .clang_tree import Known, Tree

Site = list[Any]
_LONGEST = 120
_WORD = re.compile(r"[A-Za-z_]\w*")


class Records:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._clang = tree.clang
        self._names = Names(tree)
        self._scope: int | None = None
        self._types: dict[Any, tuple[Any, ...]] = {}
        self._remarks: dict[Any, dict[str, Any]] = {}
        self.aliases: dict[str, str] = {}
        """Names of types that are not to be shown, and what they stand for."""

    def types(self) -> list[list[Any]]:
        names: dict[int | None, str | None] = {None: None}
        for *_, number in self._types.values():
            if number not in names:
                names[number] = self._names.text(number)
        return [record(*fields, names[number]) for *fields, number in self._types.values()]

    def enter(self, scope: Cursor | None) -> None:
        """What follows is in this function, class or enumeration; in the kernel itself, or at the top, if None."""
        self._scope = None if scope is None else self._names.scope(scope)

    def remarks(self) -> list[dict[str, Any]]:
        return list(self._remarks.values())

    def add(
        self,
        spot: Spot,
        sites: list[Site],
        kind: str,
        text: str,
        name: str | None = None,
        constant: str | None = None,
        facts: list[list[str]] | None = None,
    ) -> None:
        place = self._tree.places.lines.place(spot.begin, spot.end)
        if place is None:
            return
        if self.aliases:
            text = self._shown(text)
            facts = [[label, shown] for label, value in facts or () if (shown := self._shown(value)) != text]
        # What stands in the kernel, such as a lambda's body, is the kernel's, whichever way it was reached.
        scope = self._scope if sites else None
        at = (*place, kind, text, name, constant, tuple(map(tuple, facts or ())), tuple(map(tuple, sites)), scope)
        if at in self._types:
            return
        if constant is not None and len(constant) > _LONGEST:
            constant = constant[: _LONGEST - 1] + "…"
        self._types[at] = ([place, *sites], kind, text, name or None, constant, facts or (), self._scope)

    def name(
        self,
        cursor: Cursor,
        sites: list[Site],
        kind: str,
        text: str,
        name: str,
        constant: str | None = None,
        facts: list[list[str]] | None = None,
    ) -> None:
        """Where something is declared: its name alone, if that is in the text."""
        begin = self._tree.places.offset(self._clang.getCursorLocation(cursor))
        spelled = name.encode()
        if not spelled or begin is None or not self._tree.places.text.startswith(spelled, begin):
            return
        self.add(Spot(begin, begin + len(spelled), False), sites, kind, text, name, constant, facts)

    def _shown(self, text: str) -> str:
        return _WORD.sub(lambda found: self.aliases.get(found[0], found[0]), text)

    def remark(self, spot: Spot, sites: list[Site], message: str, code: str) -> None:
        place = self._tree.places.lines.place(spot.begin, spot.end)
        if place is not None:
            remark = {"message": message, "severity": "hint", "chain": [place, *sites], "code": code}
            self._remarks.setdefault((*place, message), remark)

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, cursor: Cursor, ty: Known) -> str | None:
        """What clang evaluates an expression or an initialiser to."""
        clang = self._clang
        result = clang.Cursor_Evaluate(cursor)
        if not result:
            return None
        try:
            match clang.EvalResult_getKind(result):
                case 1:  # an integer
                    if clang.EvalResult_isUnsignedInt(result):
                        return self.number(ty, clang.EvalResult_getAsUnsigned(result))
                    return self.number(ty, clang.EvalResult_getAsLongLong(result))
                case 2:  # a number with a point
                    return _float(clang.EvalResult_getAsDouble(result), single=ty.is_float)
                case _:
                    return None
        finally:
            clang.EvalResult_dispose(result)

    def number(self, ty: Known, value: int) -> str:
        if ty.is_bool:
            return "true" if value else "false"
        return str(value)


def _float(value: float, *, single: bool) -> str:
    """The shortest text that means this value."""
    if not single or value != value or value in (float("inf"), float("-inf")):
        return repr(value)
    for digits in range(6, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return text if any(sign in text for sign in ".en") else f"{text}.0"
    return repr(value)
