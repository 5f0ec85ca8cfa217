"""Python's operators on what is known. They never raise, and numbers stay of a size that costs nothing."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from .values import NOTHING, Array, Callee, DtypeValue, HostValue, Number, Sequence_, from_python

_BINARY: dict[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}

_COMPARE: dict[type[ast.cmpop], Callable[[object, object], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}

_LARGEST = 1 << 62


def truth(value: HostValue, test: ast.expr) -> bool | None:
    if isinstance(test, ast.Compare) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(test)):
        # Launches stand in the main block more often than not.
        return True
    return bool(value.value) if isinstance(value, Number) else None


def binary(op: ast.operator, left: HostValue, right: HostValue) -> HostValue:
    if isinstance(left, Sequence_) and isinstance(right, Sequence_) and isinstance(op, ast.Add):
        return Sequence_((*left.items, *right.items))
    if isinstance(left, Array) or isinstance(right, Array):
        return _combined(left, right)
    if not (isinstance(left, Number) and isinstance(right, Number)):
        return NOTHING
    a, b = left.value, right.value
    if isinstance(op, ast.Pow):
        if isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(b) <= 64 and abs(a) <= _LARGEST:
            return checked(lambda: a**b)
        return NOTHING
    function = _BINARY.get(type(op))
    if function is None or not all(isinstance(v, (int, float)) and abs(v) <= _LARGEST for v in (a, b)):
        return NOTHING
    if isinstance(op, ast.LShift) and not (type(b) is int and 0 <= b <= 64):
        return NOTHING
    return checked(lambda: function(a, b))


def unary(op: ast.unaryop, operand: HostValue) -> HostValue:
    if isinstance(operand, Array):
        return Array(operand.dtype, operand.dims)
    if not isinstance(operand, Number):
        return NOTHING
    value = operand.value
    if isinstance(op, ast.Not):
        return Number(not value)
    return Number(-value) if isinstance(op, ast.USub) and isinstance(value, (int, float)) else operand


def compare(op: ast.cmpop, left: HostValue, right: HostValue) -> HostValue:
    function = _COMPARE.get(type(op))
    if function is not None and isinstance(left, Number) and isinstance(right, Number):
        return checked(lambda: bool(function(left.value, right.value)))
    if isinstance(left, DtypeValue) and isinstance(right, DtypeValue) and function is not None:
        equal = left.dtype == right.dtype
        return Number(equal if isinstance(op, (ast.Eq, ast.Is)) else not equal)
    if isinstance(op, (ast.Is, ast.IsNot)) and right == Number(None) and isinstance(left, (Array, Callee, Sequence_)):
        return Number(isinstance(op, ast.IsNot))
    return NOTHING


def boolean(op: ast.boolop, values: list[HostValue]) -> HostValue:
    stop = isinstance(op, ast.Or)
    for value in values[:-1]:
        if not isinstance(value, Number):
            return NOTHING
        if bool(value.value) is stop:
            return value
    return values[-1]


def checked(compute: Callable[[], object]) -> HostValue:
    try:
        return from_python(compute())
    except (ArithmeticError, ValueError, TypeError):
        return NOTHING


def _combined(left: HostValue, right: HostValue) -> HostValue:
    """Arithmetic of arrays: what a number does not change."""
    arrays = [value for value in (left, right) if isinstance(value, Array)]
    if len(arrays) == 1:
        other = right if arrays[0] is left else left
        return Array(arrays[0].dtype, arrays[0].dims) if isinstance(other, Number) else Array(None, arrays[0].dims)
    same = arrays[0].dims == arrays[1].dims
    dtype = arrays[0].dtype if arrays[0].dtype == arrays[1].dtype else None
    return Array(dtype, arrays[0].dims if same else None)
