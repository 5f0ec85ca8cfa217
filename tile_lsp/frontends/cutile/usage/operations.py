"""The operations of `cuda.tile` that tell more of their operands than an elementwise one does."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tile_lsp.frontends.cutile.terms import (
    BOOL,
    INT,
    ONE,
    UNKNOWN,
    Dims,
    Dtype,
    Fixed,
    Function,
    Items,
    Literal,
    Num,
    Of,
    Ref,
    Slot,
    Tile,
    Value,
    dims_of,
    floated,
    index_of,
    join,
    number,
    product,
    term_of,
)

from .evidence import Evidence


class Arguments:
    """Arguments of a call, by position or by name."""

    def __init__(self, positional: list[Value], keywords: dict[str, Value]) -> None:
        self.positional = positional
        self.keywords = keywords

    def get(self, position: int, *names: str) -> Value:
        if position < len(self.positional):
            return self.positional[position]
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return UNKNOWN


def _load(seen: Evidence, a: Arguments) -> Value:
    array, index = a.get(0, "array"), a.get(1, "index")
    shape = seen.tile_shape(a.get(2, "shape"))
    if not isinstance(array, Ref):
        seen.integral(index)
        return Tile(shape, None)
    seen.indexed(array.slot, index, shape)
    return Tile(shape, Of(array.slot))


def _store(seen: Evidence, a: Arguments) -> Value:
    array, index, tile = a.get(0, "array"), a.get(1, "index"), a.get(2, "tile")
    if isinstance(array, Ref):
        seen.indexed(array.slot, index, dims_of(tile))
        seen.stored(array.slot, tile)
    return Literal(None)


def _gather(seen: Evidence, a: Arguments) -> Value:
    array, indices = a.get(0, "array"), a.get(1, "indices")
    shape = _index_shape(seen, indices)
    seen.condition(a.keywords.get("mask", UNKNOWN))
    if not isinstance(array, Ref):
        seen.integral(indices)
        return Tile(shape, None)
    seen.indexed(array.slot, indices)
    return Tile(shape, Of(array.slot))


def _scatter(seen: Evidence, a: Arguments) -> Value:
    array, indices, value = a.get(0, "array"), a.get(1, "indices"), a.get(2, "value", "tile")
    seen.condition(a.keywords.get("mask", UNKNOWN))
    if isinstance(array, Ref):
        seen.indexed(array.slot, indices)
        seen.stored(array.slot, value)
    return Literal(None)


def _atomic(name: str) -> Callable[[Evidence, Arguments], Value]:
    def handle(seen: Evidence, a: Arguments) -> Value:
        array, indices = a.get(0, "array"), a.get(1, "indices")
        if not isinstance(array, Ref):
            return UNKNOWN
        seen.indexed(array.slot, indices)
        atomic(seen, array.slot, name, a)
        return Tile(_index_shape(seen, indices), Of(array.slot))

    return handle


def atomic(seen: Evidence, slot: Slot, name: str, arguments: Arguments) -> None:
    update = arguments.get(2, "update", "desired") if "cas" in name or len(arguments.positional) > 2 else UNKNOWN
    if any(part in name for part in ("cas", "xchg", "and", "or", "xor")):
        seen.usage.use(slot).roles.setdefault("lock", f"updated by {name} at {seen.where()}")
    elif update is not UNKNOWN:
        seen.stored(slot, update)


def _num_tiles(seen: Evidence, a: Arguments) -> Value:
    array = a.get(0, "array")
    shape = seen.tile_shape(a.get(2, "shape"))
    if isinstance(array, Ref):
        if shape is not None:
            seen.rank(array.slot, len(shape), f"counted in tiles of {len(shape)} dimensions")
        else:
            seen.array(array.slot, "its tiles are counted")
    return Num()


def _mma(seen: Evidence, a: Arguments) -> Value:
    left, right, acc = a.get(0, "x"), a.get(1, "y"), a.get(2, "acc")
    seen.mma_operand(left, "mma", "an operand of ct.mma")
    seen.mma_operand(right, "mma", "an operand of ct.mma")
    return _accumulate(seen, dims_of(left), dims_of(right), acc)


def _mma_scaled(seen: Evidence, a: Arguments) -> Value:
    left, left_scale, right, right_scale, acc = (
        a.get(i, n) for i, n in enumerate(("x", "x_scale", "y", "y_scale", "acc"))
    )
    for operand in (left, right):
        seen.mma_operand(operand, "scaled", "an operand of ct.mma_scaled")
    for scale in (left_scale, right_scale):
        seen.mma_operand(scale, "scale", "a scale of ct.mma_scaled")
    return _accumulate(seen, dims_of(left), dims_of(right), acc)


def _accumulate(seen: Evidence, left: Dims | None, right: Dims | None, acc: Value) -> Value:
    shape = seen.multiply(left, right)
    known = dims_of(acc) if isinstance(acc, Tile) else None
    if shape is not None and known is not None and len(shape) == len(known):
        for ours, theirs in zip(shape, known, strict=True):
            seen.equal(ours, theirs)
    result = known if known is not None else shape
    if result is not None:
        seen.usage.accumulators[result] = None
    return Tile(result, term_of(acc))


def _matmul(seen: Evidence, a: Arguments) -> Value:
    return seen.matmul(a.get(0, "x"), a.get(1, "y"))


def _filled(seen: Evidence, a: Arguments) -> Value:
    dtype = a.get(2, "dtype")
    seen.scalarise(a.get(1, "fill_value"))
    return Tile(seen.tile_shape(a.get(0, "shape")), dtype.term if isinstance(dtype, Dtype) else None)


def _constant_tile(seen: Evidence, a: Arguments) -> Value:
    dtype = a.get(1, "dtype")
    return Tile(seen.tile_shape(a.get(0, "shape")), dtype.term if isinstance(dtype, Dtype) else None)


def _arange(seen: Evidence, a: Arguments) -> Value:
    dtype = a.get(1, "dtype")
    return Tile(seen.tile_shape(a.get(0, "size")), dtype.term if isinstance(dtype, Dtype) else INT)


def _reshape(seen: Evidence, a: Arguments) -> Value:
    tile = a.get(0, "x")
    wanted = a.get(1, "shape")
    before, after = dims_of(tile), seen.tile_shape(wanted)
    if after is not None and any(size is not None and size.coefficient < 0 for size in after):
        # One length of -1 stands for what is left.
        rest = [size for size in after if size is not None and size.coefficient > 0]
        left = None
        if before is not None and None not in before and len(rest) == len(after) - 1:
            left = product(before).times(product(rest), -1)
        after = tuple(left if size is not None and size.coefficient < 0 else size for size in after)
        return Tile(after, term_of(tile))
    seen.same_count(before, after)
    return Tile(after, term_of(tile))


def _permute(_: Evidence, a: Arguments) -> Value:
    tile, axes = a.get(0, "x"), a.get(1, "axes")
    shape = dims_of(tile)
    order = [index_of(item) for item in axes.items] if isinstance(axes, Items) else None
    if shape is None or order is None or len(order) != len(shape) or None in order:
        return Tile(None, term_of(tile))
    return Tile(tuple(shape[axis] for axis in order), term_of(tile))


def _transpose(_: Evidence, a: Arguments) -> Value:
    tile = a.get(0, "x")
    shape = dims_of(tile)
    if shape is None or len(shape) < 2:
        return Tile(None, term_of(tile))
    first, second = a.get(1, "axis0"), a.get(2, "axis1")
    i = index_of(first) if isinstance(first, Num) else 0
    j = index_of(second) if isinstance(second, Num) else 1
    if i is None or j is None or not (-len(shape) <= i < len(shape) and -len(shape) <= j < len(shape)):
        return Tile(None, term_of(tile))
    swapped = list(shape)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    return Tile(tuple(swapped), term_of(tile))


def _expand_dims(_: Evidence, a: Arguments) -> Value:
    tile, axis = a.get(0, "x"), index_of(a.get(1, "axis"))
    shape = dims_of(tile)
    if shape is None or axis is None or not -len(shape) - 1 <= axis <= len(shape):
        return Tile(None, term_of(tile))
    at = axis if axis >= 0 else len(shape) + 1 + axis
    return Tile((*shape[:at], ONE, *shape[at:]), term_of(tile))


def _broadcast_to(seen: Evidence, a: Arguments) -> Value:
    return Tile(seen.tile_shape(a.get(1, "shape")), term_of(a.get(0, "x")))


def _cat(_: Evidence, a: Arguments) -> Value:
    tiles, axis = a.get(0, "tiles"), index_of(a.get(1, "axis"))
    if not isinstance(tiles, Items) or not tiles.items:
        return UNKNOWN
    dtype, shape = term_of(tiles.items[0]), dims_of(tiles.items[0])
    for tile in tiles.items[1:]:
        dtype = join(dtype, term_of(tile))
    if shape is None or axis is None or not -len(shape) <= axis < len(shape) or shape[axis] is None:
        return Tile(None, dtype)
    whole = list(shape)
    whole[axis] = shape[axis].times(number(len(tiles.items)))
    return Tile(tuple(whole), dtype)


def _extract(seen: Evidence, a: Arguments) -> Value:
    seen.integral(a.get(1, "index"))
    return Tile(seen.tile_shape(a.get(2, "shape")), term_of(a.get(0, "x")))


def _insert(seen: Evidence, a: Arguments) -> Value:
    seen.integral(a.get(1, "index"))
    return a.get(0, "x")


def _cast(seen: Evidence, a: Arguments) -> Value:
    value, dtype = seen.scalarise(a.get(0, "x", "value")), a.get(1, "dtype")
    if isinstance(dtype, Num) and dtype.size is not None:
        for name in dtype.size.names:
            seen.usage.use(Slot(name)).is_dtype = True
    elif isinstance(dtype, Ref):
        seen.usage.use(dtype.slot).is_dtype = True
    term = dtype.term if isinstance(dtype, Dtype) else None
    if isinstance(value, Num):
        return Num(value.size, term)
    return Tile(dims_of(value), term)


def _repack(_: Evidence, a: Arguments) -> Value:
    dtype = a.get(1, "dtype")
    return Tile(None, dtype.term if isinstance(dtype, Dtype) else Fixed("u8"))


def _reduce(_: Evidence, a: Arguments) -> Value:
    tile, axis, keep = a.get(0, "x"), a.get(1, "axis"), a.keywords.get("keepdims")
    return Tile(_reduced(dims_of(tile), axis, keep), term_of(tile))


def _argreduce(seen: Evidence, a: Arguments) -> Value:
    reduced = _reduce(seen, a)
    return Tile(dims_of(reduced), INT)


def _scan(_: Evidence, a: Arguments) -> Value:
    return a.get(0, "x")


def _where(seen: Evidence, a: Arguments) -> Value:
    condition, left, right = (seen.scalarise(a.get(i, n)) for i, n in enumerate(("cond", "x", "y")))
    seen.condition(condition)
    shape = seen.broadcast(seen.broadcast(dims_of(condition), dims_of(left)), dims_of(right))
    return Tile(shape, join(term_of(left), term_of(right)))


def _assert(seen: Evidence, a: Arguments) -> Value:
    seen.condition(a.get(0, "cond"))
    return Literal(None)


def _count(_: Evidence, __: Arguments) -> Value:
    return Num()


def _cdiv(seen: Evidence, a: Arguments) -> Value:
    return seen.binary(ast.FloorDiv(), a.get(0, "x"), a.get(1, "y"))


def _same(seen: Evidence, a: Arguments) -> Value:
    value = a.get(0, "x", "value", "expr", "iterable")
    return seen.scalarise(value) if isinstance(value, Ref) else value


def _index_shape(seen: Evidence, indices: Value) -> Dims | None:
    if isinstance(indices, Items):
        shape: Dims | None = ()
        for item in indices.items:
            shape = seen.broadcast(shape, () if isinstance(item, Ref) else dims_of(item))
        return shape
    return () if isinstance(indices, Ref) else dims_of(indices)


def _reduced(shape: Dims | None, axis: Value, keep: Value | None) -> Dims | None:
    if shape is None:
        return None
    kept = keep is not None
    if isinstance(axis, Num):
        at = index_of(axis)
        if at is None or not -len(shape) <= at < len(shape):
            return None
        at %= len(shape)
        return (*shape[:at], *((ONE,) if kept else ()), *shape[at + 1 :])
    if isinstance(axis, Items):
        axes = {index_of(item) for item in axis.items}
        if None in axes:
            return None
        reduced = {at % len(shape) for at in axes} if shape else set()
        return tuple(ONE if i in reduced else size for i, size in enumerate(shape) if kept or i not in reduced)
    return tuple([ONE] * len(shape)) if kept else ()


_OPERATIONS: dict[str, Callable[[Evidence, Arguments], Value]] = {
    "load": _load,
    "store": _store,
    "gather": _gather,
    "scatter": _scatter,
    "load_advanced_indexing": _gather,
    "store_advanced_indexing": _scatter,
    "num_tiles": _num_tiles,
    "mma": _mma,
    "mma_scaled": _mma_scaled,
    "matmul": _matmul,
    "full": _filled,
    "zeros": _constant_tile,
    "ones": _constant_tile,
    "arange": _arange,
    "reshape": _reshape,
    "permute": _permute,
    "transpose": _transpose,
    "expand_dims": _expand_dims,
    "broadcast_to": _broadcast_to,
    "cat": _cat,
    "extract": _extract,
    "insert": _insert,
    "astype": _cast,
    "astile": _cast,
    "bitcast": _cast,
    "pack_to_bytes": _repack,
    "unpack_from_bytes": _repack,
    "sum": _reduce,
    "max": _reduce,
    "min": _reduce,
    "prod": _reduce,
    "reduce": _reduce,
    "argmax": _argreduce,
    "argmin": _argreduce,
    "cumsum": _scan,
    "cumprod": _scan,
    "scan": _scan,
    "where": _where,
    "assert_": _assert,
    "bid": _count,
    "num_blocks": _count,
    "cdiv": _cdiv,
    "static_eval": _same,
    "static_iter": _same,
    "ensure_constant": _same,
    "assume_divisible_by": _same,
    **{
        f"atomic_{name}": _atomic(f"atomic_{name}") for name in ("cas", "xchg", "add", "max", "min", "and", "or", "xor")
    },
}

_COMPARISONS = frozenset({"greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "isnan"})
_REAL = frozenset(
    {"truediv", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan2"}
)


def called(seen: Evidence, name: str, arguments: Arguments) -> Value:
    """`ct.<name>(…)`."""
    handler = _OPERATIONS.get(name)
    return handler(seen, arguments) if handler is not None else _elementwise(seen, name, arguments.positional)


def _elementwise(seen: Evidence, name: str, arguments: list[Value]) -> Value:
    """`ct.add`, `ct.exp`, … and what is not known: shapes broadcast, dtypes join."""
    operands = [seen.scalarise(a) for a in arguments if not isinstance(a, (Literal, Function, Dtype))]
    if not operands:
        return UNKNOWN
    dtype = term_of(operands[0])
    shape = dims_of(operands[0])
    for operand in operands[1:]:
        dtype = join(dtype, term_of(operand))
        shape = seen.broadcast(shape, dims_of(operand))
    if name in _COMPARISONS:
        dtype = BOOL
    elif name in _REAL:
        dtype = floated(dtype)
    if any(isinstance(operand, Tile) for operand in operands):
        return Tile(shape, dtype)
    return Num(None, dtype) if all(isinstance(operand, Num) for operand in operands) else Tile(None, None)
