"""The notation of one argument: Numba's own.

    float32    int64    boolean    float32[:]    float32[::1]    float32[:,::1]    float32[::1,:]
    array(float32, 2d, C)    UniTuple(int32,3)    (float32,int64)    =record_type (evaluated in the kernel's module)

`[::1]` is contiguous, which is what a launch finds of an array that was just made; `[:]` may have any strides. A value
stands for its type: `128` is `int64`, as it is at a launch. `xoroshiro128p[::1]` are the states of Numba's random
numbers. `canonical` turns what people write into the one text that
jobs hold.
"""

from __future__ import annotations

import ast
import difflib
import re

from tile_lsp.frontends.given import SpecFault

SCALARS = (
    "boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "xoroshiro128p",
)  # fmt: skip
_ALIASES = {
    **{name: name for name in SCALARS},
    **{f"i{bytes_}": f"int{8 * bytes_}" for bytes_ in (1, 2, 4, 8)},
    **{f"u{bytes_}": f"uint{8 * bytes_}" for bytes_ in (1, 2, 4, 8)},
    **{f"f{bytes_}": f"float{8 * bytes_}" for bytes_ in (2, 4, 8)},
    "c8": "complex64", "c16": "complex128", "b1": "boolean",
    "i16": "int16", "i32": "int32", "i64": "int64", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64",
    "bool": "boolean", "bool_": "boolean", "int": "int64", "float": "float64", "complex": "complex128",
    "byte": "uint8", "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int_": "int64",
    "uint": "uint64", "intc": "int32", "uintc": "uint32", "intp": "int64", "uintp": "uint64", "long_": "int64",
    "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "float_": "float32", "double": "float64",
    "size_t": "uint64", "half": "float16",
}  # fmt: skip
_ARRAY = re.compile(
    r"array\(\s*(?P<dtype>[\w.]+)\s*,\s*(?P<rank>\d+)d\s*,\s*(?P<layout>[CFA])\s*(?P<readonly>,\s*readonly)?\s*\)\Z"
)


class _Error(Exception):
    def __init__(self, message: str, node: ast.expr | None = None) -> None:
        super().__init__(message)
        self.node = node


def scalar(name: str) -> str | None:
    """Numba's name of a scalar type, aliases resolved."""
    return _ALIASES.get(name)


def canonical(text: str) -> str | SpecFault:
    """The text that jobs hold. Never raises."""
    text = text.strip()
    try:
        if text.startswith("="):
            return "=" + ast.unparse(ast.parse(text[1:].strip(), mode="eval"))
        if (match := _ARRAY.match(text)) is not None:
            return _array(_scalar(match["dtype"]), int(match["rank"]), match["layout"], bool(match["readonly"]))
        return of_node(ast.parse(text, mode="eval").body)
    except _Error as error:
        if error.node is not None:
            return SpecFault(str(error), error.node.col_offset, error.node.end_col_offset or len(text))
        return SpecFault(str(error), 0, len(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return SpecFault(f"`{text}` is no type of Numba's, such as float32[::1]", 0, len(text))


def of_node(node: ast.expr) -> str:
    """The same of an expression, names of types taken at their word. Raises `ValueError`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _scalar(name, node)
        case ast.Constant(value=str() as value):
            raise _Error(f"a text ({value!r}) is no argument of a kernel", node)
        case ast.Constant(value=value):
            return _of_value(value, node)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return _of_value(-value, node)
        case ast.Subscript(value=ast.Name() | ast.Attribute() as element, slice=index):
            return _subscript(of_node(element), index)
        case ast.Tuple(elts=elements) if elements:
            items = [of_node(element) for element in elements]
            return f"({','.join(items)}{',' if len(items) == 1 else ''})"
        case ast.Call(
            func=ast.Name(id="UniTuple") | ast.Attribute(attr="UniTuple"), args=[item, ast.Constant(value=int() as n)]
        ):
            return f"UniTuple({of_node(item)},{n})"
        case ast.Call(func=ast.Name(id="Tuple") | ast.Attribute(attr="Tuple"), args=[ast.Tuple() as items]):
            return of_node(items)
        case ast.Call(
            func=ast.Name(id="Array") | ast.Attribute(attr="Array"),
            args=[element, ast.Constant(value=int() as rank), ast.Constant(value="C" | "F" | "A" as layout)],
        ):
            return _array(of_node(element), rank, layout, False)
    raise _Error(f"`{ast.unparse(node)}` is no type of Numba's, such as float32[::1]", node)


def array(element: str, rank: int, layout: str = "C") -> str:
    return _array(element, rank, layout, False)


def is_array(text: str) -> bool:
    return text.endswith("]") or text.startswith("array(")


def _subscript(element: str, index: ast.expr) -> str:
    axes = index.elts if isinstance(index, ast.Tuple) else [index]
    steps = []
    for axis in axes:
        if not isinstance(axis, ast.Slice) or axis.lower is not None or axis.upper is not None:
            raise _Error("an axis is `:`, or `::1` where it is contiguous", axis)
        if axis.step is not None and not (isinstance(axis.step, ast.Constant) and axis.step.value == 1):
            raise _Error("an axis is `:`, or `::1` where it is contiguous", axis)
        steps.append(axis.step is not None)
    if sum(steps) > 1 or any(steps[1:-1]):
        raise _Error("`::1` stands at the last axis (C), or at the first (Fortran)", index)
    layout = "C" if steps[-1] else "F" if steps[0] else "A"
    return _array(element, len(steps), layout, False)


def _array(element: str, rank: int, layout: str, readonly: bool) -> str:
    if readonly:
        return f"array({element}, {rank}d, {layout}, readonly)"
    if rank == 0:
        raise _Error("an array has at least one axis")
    axes = [":"] * rank
    if layout != "A":
        axes[-1 if layout == "C" else 0] = "::1"
    return f"{element}[{','.join(axes)}]"


def _scalar(name: str, node: ast.expr | None = None) -> str:
    word = name.rpartition(".")[2]
    found = _ALIASES.get(word)
    if found is None:
        close = difflib.get_close_matches(word, _ALIASES, n=1, cutoff=0.6)
        advice = f"did you mean `{_ALIASES[close[0]]}`?" if close else f"there are {', '.join(SCALARS)}"
        raise _Error(f"Numba has no type `{word}`; {advice}", node)
    return found


def _of_value(value: object, node: ast.expr) -> str:
    kinds = {bool: "boolean", int: "int64", float: "float64", complex: "complex128"}
    if type(value) not in kinds:
        raise _Error(f"`{value!r}` is no argument of a kernel", node)
    return kinds[type(value)]
