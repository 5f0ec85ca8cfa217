"""What is known of a value of host code: an array's dtype and lengths, a number, a function; the rest is unknown."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import msgspec


class Array(msgspec.Struct, frozen=True):
    """An array, as far as it is known. A length that is None is not."""

    dtype: str | None = None
    dims: tuple[int | None, ...] | None = None
    strides: tuple[int, ...] | None = None
    """None: contiguous, or not known."""


class Number(msgspec.Struct, frozen=True):
    """A Python value that is known: a number, a text, None."""

    value: int | float | bool | str | None


class DtypeValue(msgspec.Struct, frozen=True):
    dtype: str


class Sequence_(msgspec.Struct, frozen=True):
    items: tuple[HostValue, ...]
    is_list: bool = False


class Many(msgspec.Struct, frozen=True):
    """A list of some length."""

    item: HostValue


class Callee(msgspec.Struct, frozen=True, eq=False):
    """A function of the workspace; a kernel is one too. `lambda`s and classes are unknown."""

    node: ast.FunctionDef
    path: str
    captured: Mapping[str, HostValue] = {}


class External(msgspec.Struct, frozen=True):
    dotted: str


class Choice(msgspec.Struct, frozen=True):
    """One of several functions."""

    options: tuple[HostValue, ...]


class Bound(msgspec.Struct, frozen=True):
    owner: HostValue
    name: str


class Nothing(msgspec.Struct, frozen=True):
    pass


HostValue = Array | Number | DtypeValue | Sequence_ | Many | Callee | External | Choice | Bound | Nothing

NOTHING = Nothing()


def from_python(value: object) -> HostValue:
    if isinstance(value, tuple):
        return Sequence_(tuple(map(from_python, value)))
    return Number(value) if isinstance(value, (int, float, str)) or value is None else NOTHING


def either(values: Sequence[HostValue]) -> HostValue:
    """What is known when it is one of these."""
    distinct = list(dict.fromkeys(value for value in values if not isinstance(value, Callee)))
    functions = [value for value in values if isinstance(value, Callee)]
    if functions and not distinct:
        unique = {(f.path, f.node.lineno): f for f in functions}
        return functions[0] if len(unique) == 1 else Choice(tuple(unique.values()))
    if functions:
        return NOTHING
    if len(distinct) == 1:
        return distinct[0]
    arrays = [value for value in distinct if isinstance(value, Array)]
    if arrays and len(arrays) == len(distinct):
        first = arrays[0]
        dtype = first.dtype if all(a.dtype == first.dtype for a in arrays) else None
        same_rank = (
            all((a.dims is None) == (first.dims is None) for a in arrays)
            and len({len(a.dims or ()) for a in arrays}) == 1
        )
        if not same_rank or first.dims is None:
            return Array(dtype)
        columns = zip(*(a.dims or () for a in arrays), strict=True)
        return Array(dtype, tuple(c[0] if len(set(c)) == 1 else None for c in columns))
    return NOTHING


def first_of(value: HostValue) -> HostValue:
    if isinstance(value, Sequence_) and value.items:
        return value.items[0]
    return value.item if isinstance(value, Many) else NOTHING


def items_of(value: HostValue, count: int) -> list[HostValue]:
    if isinstance(value, Sequence_) and len(value.items) == count:
        return list(value.items)
    if isinstance(value, Array) and value.dims:
        return [Array(value.dtype, value.dims[1:])] * count
    return [value.item if isinstance(value, Many) else NOTHING] * count
