"""Linear layouts: where each bit of a register's, lane's, warp's number moves one in a tensor.

A layout takes a hardware index (`register`, `lane`, `warp`, `block`; in shared memory `offset`, `block`) to coordinates
of a tensor. It is linear over single bits: the coordinates of an index are the exclusive or of the *bases* of the bits
that are set in it. All lengths are powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

Basis = tuple[int, ...]
"""Coordinates, one for each of the tensor's dimensions."""


class Linear(msgspec.Struct, frozen=True):
    bases: Mapping[str, tuple[Basis, ...]]
    """What each bit of an index moves by, the lowest bit first, by the index's name."""
    shape: tuple[int, ...]
    order: tuple[int, ...]
    """Dimensions, the one that was laid first in front: what is missing to a shape is repeated in this order."""

    def __mul__(self, other: Linear) -> Linear:
        """`self` repeated as `other` says: a tile, and how there are several of it."""
        names = dict.fromkeys((*self.bases, *other.bases))
        scaled = {
            name: tuple(tuple(c * n for c, n in zip(basis, self.shape, strict=True)) for basis in found)
            for name, found in other.bases.items()
        }
        return Linear(
            {name: (*self.bases.get(name, ()), *scaled.get(name, ())) for name in names},
            tuple(a * b for a, b in zip(self.shape, other.shape, strict=True)),
            tuple(dict.fromkeys((*self.order, *other.order))),
        )

    def count(self, name: str) -> int:
        """How many indices of that name there are."""
        return 1 << len(self.bases.get(name, ()))


class Inverse:
    """From coordinates back to indices: elimination over single bits, once a layout."""

    def __init__(self, layout: Linear, names: Sequence[str]) -> None:
        """`names`: of indices; those that come first are told apart first, so that what is held several times has the
        lowest of the others.
        """
        self._bits = [(name, bit) for name in names for bit in range(len(layout.bases.get(name, ())))]
        self._rows: list[tuple[int, int]] = []
        """Packed coordinates, and the bits whose bases come to them."""
        for index, (name, bit) in enumerate(self._bits):
            rest, used = self._reduced(_pack(layout.bases[name][bit]))
            if rest:
                self._rows.append((rest, used | 1 << index))

    def __call__(self, at: Sequence[int]) -> dict[str, int] | None:
        """The lowest index of each name that leads there; None where none does."""
        rest, used = self._reduced(_pack(at))
        if rest:
            return None
        found: dict[str, int] = {}
        for index, (name, bit) in enumerate(self._bits):
            if used >> index & 1:
                found[name] = found.get(name, 0) | 1 << bit
        return found

    def _reduced(self, vector: int) -> tuple[int, int]:
        used = 0
        for row, bits in self._rows:
            if vector ^ row < vector:
                vector ^= row
                used ^= bits
        return vector, used


_BITS = 24


def _pack(coordinates: Sequence[int]) -> int:
    """In one number, so that the exclusive or of packed coordinates is that of each."""
    packed = 0
    for coordinate in coordinates:
        packed = packed << _BITS | coordinate
    return packed


def along(length: int, name: str, axis: int, rank: int) -> Linear:
    """`length` indices of that name one after the other along one dimension."""
    bases = tuple(tuple(1 << bit if d == axis else 0 for d in range(rank)) for bit in range(_log(length)))
    return Linear({name: bases}, tuple(length if d == axis else 1 for d in range(rank)), (axis,))


def same(length: int, name: str, axis: int, rank: int) -> Linear:
    """`length` indices of that name that all hold the same."""
    return Linear({name: ((0,) * rank,) * _log(length)}, (1,) * rank, (axis,))


def box(name: str, lengths: Sequence[int], order: Sequence[int]) -> Linear:
    """Indices of that name over a box, along `order[0]` first."""
    made = empty(len(lengths))
    for axis in order:
        made *= along(lengths[axis], name, axis, len(lengths))
    return made


def empty(rank: int, order: Sequence[int] = ()) -> Linear:
    return Linear({}, (1,) * rank, tuple(order))


def tile(layout: Linear, shape: Sequence[int], blocks: Linear) -> Linear:
    """A layout's tile brought to a tensor's shape, which `blocks` split among them: a smaller one is repeated, by more
    registers; a larger one holds the same several times.
    """
    blocks = shrink(blocks, shape)
    each = [length // of for length, of in zip(shape, blocks.shape, strict=True)]
    return shrink(grow(layout, each), each) * blocks


def grow(layout: Linear, shape: Sequence[int]) -> Linear:
    name = next(iter(layout.bases), "register")
    for axis in layout.order or range(len(shape)):
        if layout.shape[axis] < shape[axis]:
            layout *= along(shape[axis] // layout.shape[axis], name, axis, len(shape))
    return layout


def shrink(layout: Linear, shape: Sequence[int]) -> Linear:
    """What would lie outside lies where it begins again."""
    bases = {name: [list(basis) for basis in found] for name, found in layout.bases.items()}
    lengths = list(layout.shape)
    for axis, wanted in enumerate(shape):
        along_axis = [basis for found in bases.values() for basis in found if basis[axis]]
        for basis in sorted(along_axis, key=lambda basis: -basis[axis]):
            if lengths[axis] <= wanted:
                break
            basis[axis] = 0
            lengths[axis] //= 2
    return Linear({n: tuple(map(tuple, found)) for n, found in bases.items()}, tuple(lengths), layout.order)


def without(layout: Linear, axis: int) -> Linear:
    """One dimension less; registers that differed in nothing else are one."""
    bases = {
        name: tuple((*basis[:axis], *basis[axis + 1 :]) for basis in found) for name, found in layout.bases.items()
    }
    bases["register"] = tuple(basis for basis in bases.get("register", ()) if any(basis))
    shape = (*layout.shape[:axis], *layout.shape[axis + 1 :])
    order = tuple(d - (d > axis) for d in layout.order if d != axis)
    return Linear(bases, shape, order)


def powers(until: int) -> Iterator[int]:
    """1, 2, 4 … below `until`."""
    power = 1
    while power < until:
        yield power
        power *= 2


def _log(length: int) -> int:
    if length < 1 or length & (length - 1):
        raise ValueError(f"{length} is no power of two")
    return length.bit_length() - 1
