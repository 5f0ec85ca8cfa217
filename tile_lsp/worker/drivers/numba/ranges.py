"""Every instruction of Numba's IR knows the range of its source, and no error loses its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .api import bytecode, errors, interpreter, ir


class Location(ir.Loc):
    """Where an expression begins and ends; columns count bytes, as `co_positions` does."""

    end_line: int = -1
    end_col: int = -1

    def with_lineno(self, line: int, col: int | None = None) -> Any:
        return ir.Loc(self.filename, line, col)

    def __reduce__(self) -> Any:
        return location, (self.filename, self.line, self.col, self.end_line, self.end_col)


def location(filename: str, line: int, column: int, end_line: int, end_column: int) -> Location:
    made = Location(filename, line, column)
    made.end_line, made.end_col = end_line, end_column
    return made


def know_ranges() -> None:
    """Locations of the IR get the columns that the bytecode has (Python 3.11 and later)."""
    stock = interpreter.Interpreter._iter_inst

    def _iter_inst(self: Any) -> Iterator[Any]:
        positions = getattr(self.func_id.code, "co_positions", None)
        if positions is None:
            yield from stock(self)
            return
        ranges = list(positions())
        for inst, keywords in stock(self):
            index = (inst.offset - bytecode._FIXED_OFFSET) // 2
            line, end_line, column, end_column = ranges[index] if 0 <= index < len(ranges) else (None,) * 4
            if None not in (line, end_line, column, end_column):
                self.loc = location(self.loc.filename, line, column, end_line, end_column)
            yield inst, keywords

    interpreter.Interpreter._iter_inst = _iter_inst


def keep_locations() -> None:
    """Some versions lose an error's location on the way."""
    stock = errors.NumbaError.__init__

    def __init__(self: Any, msg: Any, loc: Any = None, highlighting: bool = True) -> None:
        stock(self, msg, loc, highlighting)
        self.loc = loc
        self.msg = msg

    errors.NumbaError.__init__ = __init__
