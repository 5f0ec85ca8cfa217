"""The parameters of the compiled kernel: an array is its address, then its lengths, then its strides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tile_lsp.frontends.base import Parameter
from tile_lsp.model.job import Argument

from . import spec

_ADDRESS = 8
_BYTES = {
    "i64": 8,
    "u64": 8,
    "f64": 8,
    "i32": 4,
    "u32": 4,
    "f32": 4,
    "tf32": 4,
    "f16": 2,
    "bf16": 2,
    "i16": 2,
    "u16": 2,
}
_WIDE_INDEX = "index_dtype=int64"


def parameters(arguments: Sequence[Argument], types: Mapping[str, str]) -> tuple[Parameter, ...]:
    """Constants are none. Empty for a kernel with arguments that are lists or tuples, whose parts have no name."""
    found: list[Parameter] = []
    offset = 0
    for argument in arguments:
        items = _items(argument, types.get(argument.name, ""))
        if items is None:
            return ()
        for name, size in items:
            offset = -(-offset // size) * size
            found.append(Parameter(name, offset, size))
            offset += size
    return tuple(found)


def _items(argument: Argument, type_: str) -> list[tuple[str, int]] | None:
    read = spec.parse(argument.spec)
    if isinstance(read, spec.ScalarSpec):
        size = _BYTES.get(read.dtype)
        return [(argument.name, size)] if size else None
    if isinstance(read, spec.ArraySpec):
        return list(_array(argument.name, read, wide=read.index == "i64" or _WIDE_INDEX in type_))
    return [] if not isinstance(read, spec.SpecFault) and spec.is_constant(read) else None


def _array(name: str, array: spec.ArraySpec, *, wide: bool) -> Iterator[tuple[str, int]]:
    yield f"{name}", _ADDRESS
    for part in ("shape", "strides"):
        for axis in range(len(array.dims)):
            yield f"{name}.{part}[{axis}]", 8 if wide else 4
