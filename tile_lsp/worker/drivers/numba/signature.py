"""The notation of argument types, which is Numba's own, made into Numba's types.

spec    := array | tuple | scalar | expression
array   := scalar "[" axis ("," axis)* "]" | "array(" scalar "," INT "d," LAYOUT ["," "readonly"] ")"
axis    := ":" | "::1"
tuple   := "(" spec ("," spec)* [","] ")" | "UniTuple(" spec "," INT ")"
scalar  := a name of numba.types: `float32`, `int64`, `boolean`
expression := "=" a Python expression, evaluated in the kernel's module: a type, a dtype or a value
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

from ... import faults
from .api import numpy_support, random, typeof, types

_ARRAY = re.compile(
    r"array\(\s*(?P<dtype>.+?)\s*,\s*(?P<rank>\d+)d\s*,\s*(?P<layout>[CFA])\s*(?P<readonly>,\s*readonly)?\s*\)\Z"
)
_WORDS = {"int": "int64", "float": "float64", "bool": "boolean", "bool_": "boolean", "complex": "complex128"}


def types_of(arguments: Sequence[Sequence[str]], evaluate: Callable[[str], Any]) -> tuple[Any, ...]:
    """Of a kernel's arguments, each `[name, spec]`. Raises `faults.Refused`."""
    found = []
    for name, spec in arguments:
        with faults.of_argument(name):
            try:
                found.append(parse(spec, evaluate))
            except (ValueError, TypeError, SyntaxError, KeyError, AttributeError) as error:
                raise faults.Refused(faults.fault(faults.USER, f"{name}={spec}: {error}", code="signature")) from error
    return tuple(found)


def parse(text: str, evaluate: Callable[[str], Any]) -> Any:
    text = text.strip()
    if text.startswith("="):
        return _type_of(evaluate(text[1:]))
    if (match := _ARRAY.match(text)) is not None:
        dtype = parse(match["dtype"], evaluate)
        return types.Array(dtype, int(match["rank"]), match["layout"], readonly=bool(match["readonly"]))
    return _read(ast.parse(text, mode="eval").body)


def _read(node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name):
            return _named(name)
        case ast.Attribute(value=ast.Name(id="types"), attr=name):
            return _named(name)
        case ast.Subscript(value=value, slice=index):
            if isinstance(index, ast.Tuple):
                return _read(value)[tuple(map(_axis, index.elts))]
            return _read(value)[_axis(index)]
        case ast.Tuple(elts=elements):
            return types.Tuple(tuple(map(_read, elements)))
        case ast.Call(func=ast.Name(id="UniTuple"), args=[item, ast.Constant(value=int() as count)]):
            return types.UniTuple(_read(item), count)
        case ast.Call(func=ast.Name(id="Tuple"), args=[ast.Tuple(elts=elements)]):
            return types.Tuple(tuple(map(_read, elements)))
        case ast.Constant(value=value):
            return typeof(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return typeof(-value)
    raise ValueError("it is no type of Numba's")


def _named(name: str) -> Any:
    if name == "xoroshiro128p":
        return random.xoroshiro128p_type
    found = getattr(types, _WORDS.get(name, name), None)
    if not isinstance(found, types.Type):
        raise ValueError(f"numba has no type {name}")
    return found


def _axis(node: ast.expr) -> slice:
    if isinstance(node, ast.Slice) and node.lower is None and node.upper is None:
        if node.step is None:
            return slice(None)
        if isinstance(node.step, ast.Constant) and node.step.value == 1:
            return slice(None, None, 1)
    raise ValueError("an axis is `:` or `::1`")


def _type_of(value: Any) -> Any:
    if isinstance(value, types.Type):
        return value
    if hasattr(value, "kind") and hasattr(value, "itemsize") and hasattr(value, "names"):
        return numpy_support.from_dtype(value)
    return typeof(value)
