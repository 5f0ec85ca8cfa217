"""What libraries of arrays make and what arrays answer: constructors, methods, attributes, dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tile_lsp.frontends.dtypes import DTYPES, canonical

from . import arithmetic
from .values import NOTHING, Array, Bound, DtypeValue, External, HostValue, Many, Nothing, Number, Sequence_

_LIBRARIES = ("torch", "numpy", "cupy", "jax.numpy")
_WITH_DTYPES = (*_LIBRARIES, "cuda.tile")

#: Constructors by the position of the shape; None where each positional argument may be a length.
_SHAPED = {"empty": 0, "zeros": 0, "ones": 0, "rand": None, "randn": None, "full": 0}

_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like"})

_SAME = frozenset(
    {"contiguous", "cuda", "clone", "detach", "requires_grad_", "cpu", "copy", "abs", "sqrt", "exp", "relu", "clamp"}
    | {"normal_", "uniform_", "fill_", "zero_", "pin_memory", "to_device", "sigmoid", "copy_", "random_"}
)


def named(dotted: str) -> HostValue:
    module, _, name = dotted.rpartition(".")
    if module in _WITH_DTYPES:
        dtype = canonical(name)
        if dtype is not None and name not in ("bool", "short"):
            return DtypeValue(dtype)
        if name == "bool" and module == "torch":
            return DtypeValue("bool")
    if dotted in ("math.pi", "math.e", "math.inf", "math.tau"):
        return Number(getattr(math, name))
    return External(dotted)


def called(dotted: str, arguments: list[HostValue], keywords: Mapping[str, HostValue]) -> HostValue:
    module, _, name = dotted.rpartition(".")
    if module == "math" or module == "builtins":
        return _number_call(name, arguments)
    root = next((library for library in _LIBRARIES if module == library or module.startswith(library + ".")), None)
    if root is None:
        return NOTHING
    dtype = _dtype(keywords.get("dtype"))
    default = "f64" if root in ("numpy", "cupy") else "f32"
    if name in _LIKE and arguments and isinstance(arguments[0], Array):
        return Array(dtype or arguments[0].dtype, arguments[0].dims)
    if name in _SHAPED:
        shape = keywords.get("size", keywords.get("shape", arguments[0] if arguments else NOTHING))
        if (isinstance(shape, Number) and _SHAPED[name] is None) or (
            len(arguments) > 1 and name in ("empty", "zeros", "ones")
        ):
            lengths = [a for a in arguments if isinstance(a, (Number, Nothing))]
            shape = Sequence_(tuple(lengths))
        given = "dtype" in keywords
        if not given and root in ("numpy", "cupy") and len(arguments) > 1 and isinstance(arguments[1], DtypeValue):
            dtype, given = arguments[1].dtype, True
        return Array(dtype if given else default, _shape(shape))
    if name == "randint":
        shape = keywords.get(
            "size", arguments[2] if len(arguments) > 2 else arguments[1] if len(arguments) > 1 else NOTHING
        )
        return Array(dtype or "i64", _shape(shape))
    if name == "arange":
        count = arguments[0] if len(arguments) == 1 else NOTHING
        return Array(dtype or "i64", _shape(count) or (None,))
    if name in ("tensor", "array", "asarray", "as_tensor"):
        return _from_values(arguments, dtype, default)
    if name in ("float", "half", "double"):
        return NOTHING
    if name in ("matmul", "mm", "bmm") and len(arguments) == 2:
        return _product(arguments[0], arguments[1])
    if name in _SAME and arguments and isinstance(arguments[0], Array):
        return Array(arguments[0].dtype, arguments[0].dims)
    return NOTHING


def _number_call(name: str, arguments: list[HostValue]) -> HostValue:
    if name == "len" and arguments:
        owner = arguments[0]
        if isinstance(owner, Sequence_):
            return Number(len(owner.items))
        if isinstance(owner, Array) and owner.dims:
            return _length(owner.dims[0])
        return NOTHING
    if name in ("tuple", "list") and arguments and isinstance(arguments[0], (Sequence_, Many)):
        return arguments[0]
    if name == "range":
        start = arguments[0] if len(arguments) > 1 else Number(0)
        return Many(start)
    values = [argument.value for argument in arguments if isinstance(argument, Number)]
    if len(values) != len(arguments) or not values:
        return NOTHING
    functions: dict[str, Callable[..., object]] = {
        "min": min,
        "max": max,
        "int": int,
        "float": float,
        "bool": bool,
        "abs": abs,
        "round": round,
        **{f: getattr(math, f) for f in ("ceil", "floor", "sqrt", "log2", "log", "exp", "prod", "gcd", "isqrt")},
    }
    function = functions.get(name)
    if function is None:
        return NOTHING
    return arithmetic.checked(lambda: function(*values))


def attribute(array: Array, attr: str) -> HostValue:
    match attr:
        case "shape":
            return Sequence_(tuple(map(_length, array.dims))) if array.dims is not None else NOTHING
        case "dtype":
            return DtypeValue(array.dtype) if array.dtype is not None else NOTHING
        case "ndim":
            return Number(len(array.dims)) if array.dims is not None else NOTHING
        case "is_cuda":
            return Number(True)
        case "T" | "mT":
            return _transposed(array, -1, -2)
        case "data" | "grad":
            return Array(array.dtype, array.dims)
        case "device":
            return External("device")
        case _:
            return Bound(array, attr)


def method(array: Array, name: str, arguments: list[HostValue], keywords: Mapping[str, HostValue]) -> HostValue:
    if name in _SAME:
        return Array(array.dtype, array.dims)
    if name in ("dim", "ndimension"):
        return Number(len(array.dims)) if array.dims is not None else NOTHING
    if name == "is_contiguous":
        return Number(array.strides is None)
    if name in ("numel", "nelement"):
        known = array.dims is not None and None not in array.dims
        return Number(math.prod(d for d in array.dims or () if d is not None)) if known else NOTHING
    if name == "size":
        shape = attribute(array, "shape")
        if not arguments:
            return shape
        at = arguments[0]
        if isinstance(shape, Sequence_) and isinstance(at, Number) and type(at.value) is int:
            return shape.items[at.value] if -len(shape.items) <= at.value < len(shape.items) else NOTHING
        return NOTHING
    casts = {
        "half": "f16",
        "float": "f32",
        "double": "f64",
        "bfloat16": "bf16",
        "int": "i32",
        "long": "i64",
        "bool": "bool",
    }
    if name in casts:
        return Array(casts[name], array.dims, array.strides)
    if name in ("to", "type", "astype"):
        dtype = next((d for d in map(_dtype, [*arguments, *keywords.values()]) if d is not None), None)
        return Array(dtype or array.dtype, array.dims, array.strides)
    if name in ("view", "reshape"):
        wanted = (
            arguments[0]
            if len(arguments) == 1 and not isinstance(arguments[0], Number)
            else Sequence_(tuple(arguments))
        )
        if isinstance(arguments[0] if arguments else None, DtypeValue):
            return Array(_dtype(arguments[0]), array.dims)
        return Array(array.dtype, _reshaped(array.dims, _shape(wanted)))
    if name in ("t", "transpose", "swapaxes"):
        axes = [a.value for a in arguments if isinstance(a, Number) and type(a.value) is int]
        if name == "t":
            axes = [0, 1]
        return _transposed(array, *axes) if len(axes) == 2 else Array(array.dtype)
    if name == "permute":
        return Array(array.dtype, (None,) * len(array.dims) if array.dims is not None else None)
    if name == "flatten":
        return Array(array.dtype, _reshaped(array.dims, (-1,)))
    if name == "unsqueeze" and array.dims is not None and arguments and isinstance(arguments[0], Number):
        return Array(array.dtype, (None,) * (len(array.dims) + 1))
    if name in ("sum", "mean", "max", "min", "chunk", "split", "item"):
        return NOTHING
    return NOTHING


def _from_values(arguments: list[HostValue], dtype: str | None, default: str) -> HostValue:
    if not arguments:
        return NOTHING
    if isinstance(arguments[0], Array):
        return Array(dtype or arguments[0].dtype, arguments[0].dims)
    dims: list[int | None] = []
    value = arguments[0]
    while isinstance(value, Sequence_):
        dims.append(len(value.items))
        value = value.items[0] if value.items else NOTHING
    if isinstance(value, Many):
        return Array(dtype)
    kind = type(value.value) if isinstance(value, Number) else None
    guess = {bool: "bool", int: "i64", float: default}.get(kind) if kind is not None else None
    return Array(dtype or guess, tuple(dims))


def _product(left: HostValue, right: HostValue) -> HostValue:
    if isinstance(left, Array) and isinstance(right, Array) and left.dims and right.dims:
        return Array(left.dtype, (*left.dims[:-1], right.dims[-1]))
    return NOTHING


def _transposed(array: Array, first: int, second: int) -> Array:
    dims = array.dims
    if dims is None or not all(-len(dims) <= axis < len(dims) for axis in (first, second)):
        return Array(array.dtype)
    swapped = list(dims)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    known = [d for d in dims if d is not None]
    if len(known) < len(dims):
        return Array(array.dtype, tuple(swapped))
    strides = list(array.strides or _row_major(known))
    strides[first], strides[second] = strides[second], strides[first]
    return Array(array.dtype, tuple(swapped), tuple(strides))


def _row_major(dims: Sequence[int]) -> list[int]:
    strides = [1] * len(dims)
    for axis in range(len(dims) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * dims[axis + 1]
    return strides


def _reshaped(
    before: tuple[int | None, ...] | None, wanted: tuple[int | None, ...] | None
) -> tuple[int | None, ...] | None:
    if wanted is None or -1 not in wanted:
        return wanted
    rest = [d for d in wanted if d != -1]
    if before is None or None in before or None in rest:
        return tuple(None if d == -1 else d for d in wanted)
    count = math.prod(d for d in before if d is not None)
    other = math.prod(d for d in rest if d is not None)
    missing = count // other if other else None
    return tuple(missing if d == -1 else d for d in wanted)


def _shape(value: HostValue) -> tuple[int | None, ...] | None:
    if isinstance(value, Sequence_):
        return tuple(v.value if isinstance(v, Number) and type(v.value) is int else None for v in value.items)
    if isinstance(value, Number) and type(value.value) is int:
        return (value.value,)
    return None


def _length(value: int | None) -> HostValue:
    return Number(value) if value is not None else NOTHING


def _dtype(value: HostValue | None) -> str | None:
    if isinstance(value, DtypeValue):
        return value.dtype
    if isinstance(value, Number) and isinstance(value.value, str):
        return canonical(value.value)
    return {"builtins.float": "f64", "builtins.int": "i64", "builtins.bool": "bool"}.get(
        value.dotted if isinstance(value, External) else ""
    )


def itemsize(dtype: str) -> int:
    return max(1, DTYPES[dtype][1] // 8)
