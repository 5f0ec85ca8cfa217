"""What each of Triton's layouts is as a linear layout, for a tensor's shape: as the compiler itself has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .attributes import Layout
from .linear import Linear, along, box, empty, grow, powers, same, shrink, tile, without


class UnknownLayout(ValueError):
    """There is no rule for it."""


def linear(layout: Layout, shape: Sequence[int]) -> Linear:
    """Raises `UnknownLayout`, and `ValueError` for what can't be."""
    rule = _RULES.get(layout.kind)
    if rule is None:
        raise UnknownLayout(f"there is no picture of {layout.kind} layouts")
    try:
        made = rule(layout, tuple(shape))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{layout.kind} is written in a way that is not known here") from error
    return Linear(made.bases, made.shape, tuple(range(len(shape))))


def rank_of(layout: Layout) -> int | None:
    """Dimensions that a layout of shared memory is of: what has more is several buffers. None for other layouts."""
    if layout.kind == "swizzled_shared":
        return len(layout.fields["order"])
    return int(layout.fields.get("rank", 2)) if layout.kind == "nvmma_shared" else None


def smallest_shape(layout: Layout) -> tuple[int, ...] | None:
    """Of one tile of a layout, where it has such a thing."""
    fields = layout.fields
    if layout.kind == "blocked":
        parts = (fields["sizePerThread"], fields["threadsPerWarp"], fields["warpsPerCTA"])
        return tuple(a * b * c for a, b, c in zip(*parts, strict=True))
    if layout.kind == "nvidia_mma":
        shape = _mma_tile(layout)
        return tuple(length * of for length, of in zip(shape, fields["warpsPerCTA"], strict=True))
    if layout.kind == "linear":
        lengths = [[basis for found in fields.values() for basis in found]]
        return tuple(2 * max(column) or 1 for column in zip(*lengths[0], strict=True)) if lengths[0] else None
    return None


def _blocks(layout: Layout, rank: int) -> Linear:
    """How blocks of a cluster split the tensor."""
    fields = layout.fields
    if "CGALayout" in fields:
        bases = tuple(tuple(basis) for basis in fields["CGALayout"])
        lengths = [2 * max((basis[axis] for basis in bases), default=0) or 1 for axis in range(rank)]
        return Linear({"block": bases}, tuple(lengths), tuple(range(rank)))
    if "CTAsPerCGA" not in fields:
        return empty(rank, range(rank))
    made = empty(rank)
    for axis in fields["CTAOrder"]:
        split, count = fields["CTASplitNum"][axis], fields["CTAsPerCGA"][axis]
        made = made * along(split, "block", axis, rank) * same(count // split, "block", axis, rank)
    return made


def _blocked(layout: Layout, shape: Sequence[int]) -> Linear:
    fields = layout.fields
    order = fields["order"]
    each = (
        box("register", fields["sizePerThread"], order)
        * box("lane", fields["threadsPerWarp"], order)
        * box("warp", fields["warpsPerCTA"], order)
    )
    return tile(each, shape, _blocks(layout, len(shape)))


def _slice(layout: Layout, shape: Sequence[int]) -> Linear:
    axis = layout.fields["dim"]
    return without(linear(layout.fields["parent"], (*shape[:axis], 1, *shape[axis:])), axis)


def _linear(layout: Layout, shape: Sequence[int]) -> Linear:
    bases = {
        name: tuple(tuple(basis) for basis in layout.fields.get(name, ()))
        for name in ("register", "lane", "warp", "block")
    }
    every = [basis for found in bases.values() for basis in found]
    lengths = tuple(2 * max((basis[axis] for basis in every), default=0) or 1 for axis in range(len(shape)))
    # What is repeated is repeated along the dimension first that neighbouring registers lie along.
    first = next((axis for basis in bases["register"] for axis, c in enumerate(basis) if c), len(shape) - 1)
    order = (first, *(axis for axis in reversed(range(len(shape))) if axis != first))
    made = shrink(grow(Linear(bases, lengths, order), shape), shape)
    if all(length <= wanted for length, wanted in zip(lengths, shape, strict=True)):
        return made
    # Registers beyond the tensor are none.
    kept = tuple(basis for basis in made.bases["register"] if any(basis))
    return Linear({**made.bases, "register": kept}, made.shape, made.order)


def _mma_tile(layout: Layout) -> list[int]:
    instruction = list(layout.fields["instrShape"])
    return instruction[:-1] if layout.fields["versionMajor"] == 3 else instruction


def _row_major(rank: int) -> list[int]:
    return list(reversed(range(rank)))


def _nvidia_tile(shape: Sequence[int], width: int, inner: int, outer: int) -> Linear:
    """The tile of one instruction: `width` neighbours a register each, 4 lanes along them, 8 across."""
    rank = len(shape)
    return (
        empty(rank, (inner, outer, *(axis for axis in _row_major(rank) if axis not in (inner, outer))))
        * along(width, "register", inner, rank)
        * along(4, "lane", inner, rank)
        * along(8, "lane", outer, rank)
        * along(shape[outer] // 8, "register", outer, rank)
        * along(shape[inner] // (width * 4), "register", inner, rank)
    )


def _warp_order(layout: Layout, rank: int) -> list[int]:
    order = _row_major(rank)
    if layout.fields["versionMajor"] == 3:
        order[0], order[1] = order[1], order[0]
    return order


def _nvidia_mma(layout: Layout, shape: Sequence[int]) -> Linear:
    rank = len(shape)
    each = _nvidia_tile(_mma_tile(layout), 2, rank - 1, rank - 2)
    each *= box("warp", layout.fields["warpsPerCTA"], _warp_order(layout, rank))
    return tile(each, shape, _blocks(layout, rank))


def _operand(layout: Layout, shape: Sequence[int]) -> Linear:
    parent: Layout = layout.fields["parent"]
    rank = len(shape)
    left = layout.fields["opIdx"] == 0
    summed = rank - 1 if left else rank - 2
    if parent.kind == "blocked":
        return _operand_of_blocked(parent, summed, shape)
    if parent.kind in ("amd_mfma", "amd_wmma"):
        return _operand_of_amd(parent, layout.fields["kWidth"], summed, shape)
    if parent.kind != "nvidia_mma":
        raise UnknownLayout(f"there is no picture of operands of {parent.kind} layouts")
    width = layout.fields["kWidth"]
    lengths = [1] * rank
    lengths[summed] = width * 8
    lengths[rank - 2 if left else rank - 1] = 16 if left else 8
    kept = rank - 2 if left else rank - 1
    each = _nvidia_tile(lengths, width, summed, kept) * _spread(
        "warp", parent.fields["warpsPerCTA"], _warp_order(parent, rank), summed
    )
    return tile(each, shape, _without_blocks(parent, summed, rank))


def _operand_of_blocked(parent: Layout, summed: int, shape: Sequence[int]) -> Linear:
    """Each thread has all of what is summed over."""
    fields = parent.fields
    order = fields["order"]
    lengths = list(fields["sizePerThread"])
    lengths[summed] = shape[summed]
    each = box("register", lengths, order)
    each *= _spread("lane", fields["threadsPerWarp"], order, summed)
    each *= _spread("warp", fields["warpsPerCTA"], order, summed)
    return tile(each, shape, _without_blocks(parent, summed, len(shape)))


def _spread(name: str, lengths: Sequence[int], order: Sequence[int], summed: int) -> Linear:
    """Over a box, but those along what is summed over hold the same."""
    rank = len(lengths)
    made = empty(rank)
    for axis in order:
        made *= (same if axis == summed else along)(lengths[axis], name, axis, rank)
    return made


def _without_blocks(parent: Layout, summed: int, rank: int) -> Linear:
    blocks = _blocks(parent, rank)
    return shrink(blocks, [1 if axis == summed else length for axis, length in enumerate(blocks.shape)])


def _amd_mfma(layout: Layout, shape: Sequence[int]) -> Linear:
    fields = layout.fields
    rank = len(shape)
    instruction = fields["instrShape"]
    rows, columns = rank - 2, rank - 1
    across, down = (rows, columns) if fields["isTransposed"] else (columns, rows)
    size = instruction[0]
    if size not in (16, 32) or instruction[1] != size:
        raise UnknownLayout(f"there is no picture of mfma layouts of {instruction}")
    # Lanes go along one side; 4 registers along the other, then the remaining lanes, then 4 more registers.
    each = (
        empty(rank, _row_major(rank))
        * along(4, "register", down, rank)
        * along(size, "lane", across, rank)
        * along(64 // size, "lane", down, rank)
        * along(size // (4 * (64 // size)), "register", down, rank)
    )
    tiles = fields.get("tilesPerWarp") or [1] * rank
    order = _row_major(rank)
    if not fields["isTransposed"]:
        order[0], order[1] = order[1], order[0]
    each *= box("register", tiles, order)
    each *= box("warp", fields["warpsPerCTA"], _row_major(rank))
    return tile(each, shape, _blocks(layout, rank))


def _operand_of_amd(parent: Layout, width: int, summed: int, shape: Sequence[int]) -> Linear:
    """`width` neighbours a thread along what is summed over, lanes across, then the remaining lanes along it."""
    rank = len(shape)
    kept = rank - 1 if summed == rank - 2 else rank - 2
    lanes = parent.fields["instrShape"][0] if parent.kind == "amd_mfma" else _WMMA
    remaining = 64 // lanes if parent.kind == "amd_mfma" else 2
    each = (
        empty(rank, (summed, kept, *(axis for axis in _row_major(rank) if axis not in (summed, kept))))
        * along(width, "register", summed, rank)
        * along(lanes, "lane", kept, rank)
    )
    # The first generation of WMMA gives both halves of a wave the same.
    twice = parent.kind == "amd_wmma" and parent.fields["version"] == 1
    each *= (same if twice else along)(remaining, "lane", summed, rank)
    if parent.kind == "amd_mfma":
        each *= _spread("warp", parent.fields["warpsPerCTA"], _row_major(rank), summed)
    else:
        each *= _wmma_warps(parent, rank, summed)
    return tile(each, shape, _without_blocks(parent, summed, rank))


_WMMA = 16
"""Rows and columns of what one instruction makes."""


def _amd_wmma(layout: Layout, shape: Sequence[int]) -> Linear:
    fields = layout.fields
    rank = len(shape)
    rows, columns = rank - 2, rank - 1
    transposed = fields.get("isTranspose", fields.get("isTransposed", False))
    across, down = (rows, columns) if transposed else (columns, rows)
    half, eight = along(2, "lane", down, rank), along(8, "register", down, rank)
    each = empty(rank, _row_major(rank)) * along(_WMMA, "lane", across, rank)
    # The halves of a wave take turns row by row in the first generation, and eight rows each in the others.
    each *= half * eight if fields["version"] == 1 else eight * half
    each = Linear({"register": each.bases["register"], "lane": each.bases["lane"]}, each.shape, each.order)
    return tile(each * _wmma_warps(layout, rank), shape, _blocks(layout, rank))


def _wmma_warps(layout: Layout, rank: int, summed: int = -1) -> Linear:
    """How warps share out tiles; those along what is summed over have the same."""
    fields = layout.fields
    if "warpsPerCTA" in fields:
        return _spread("warp", fields["warpsPerCTA"], _row_major(rank), summed)
    found = fields["ctaLayout"]
    every = [basis for bases in found.values() for basis in bases]
    kept = {
        name: tuple(tuple(0 if axis == summed else c for axis, c in enumerate(basis)) for basis in bases)
        for name, bases in found.items()
    }
    lengths = [2 * max((basis[axis] for basis in every), default=0) or 1 for axis in range(rank)]
    shape = tuple(1 if axis == summed else length for axis, length in enumerate(lengths))
    return Linear(kept, shape, tuple(_row_major(rank)))


def _swizzled(layout: Layout, shape: Sequence[int]) -> Linear:
    fields = layout.fields
    rank = len(shape)
    blocks = shrink(_blocks(layout, rank), shape)
    each = [length // of for length, of in zip(shape, blocks.shape, strict=True)]
    order = fields["order"]
    if rank == 1:
        return tile(along(each[0], "offset", 0, 1), shape, blocks)
    inner, outer = order[0], order[1]
    bases = [_at(rank, {inner: column}) for column in powers(each[inner])]
    for row in powers(each[outer]):
        phase = row // fields["perPhase"] % fields["maxPhase"]
        bases.append(_at(rank, {outer: row, inner: fields["vec"] * phase % each[inner]}))
    made = Linear(
        {"offset": tuple(bases)},
        tuple(each[d] if d in (inner, outer) else 1 for d in range(rank)),
        (inner, outer),
    )
    for axis in order[2:]:
        made *= along(each[axis], "offset", axis, rank)
    return tile(made, shape, blocks)


_PHASES = {128: (1, 8), 64: (2, 4), 32: (4, 2)}


def _nvmma_shared(layout: Layout, shape: Sequence[int]) -> Linear:
    """Tiles of 8 rows as wide as the swizzle, which exchanges their 16-byte parts; the next tile is the one below."""
    fields = layout.fields
    rank = len(shape)
    width, bits = fields["swizzlingByteWidth"], fields["elementBitWidth"]
    if rank != 2 or fields.get("fp4Padded") or width not in _PHASES:
        raise UnknownLayout("there is no picture of this nvmma_shared layout")
    inner, outer = (0, 1) if fields["transposed"] else (1, 0)
    columns = 8 * width // bits
    per_phase, phases = _PHASES[width]
    vector = 128 // bits
    bases = [_at(rank, {inner: column}) for column in powers(columns)]
    bases += [_at(rank, {outer: row, inner: vector * (row // per_phase % phases) % columns}) for row in powers(8)]
    lengths = [0, 0]
    lengths[inner], lengths[outer] = columns, 8
    made = Linear({"offset": tuple(bases)}, tuple(lengths), (outer, inner))
    return tile(made, shape, _blocks(layout, rank))


def _shared_linear(layout: Layout, shape: Sequence[int]) -> Linear:
    bases = {name: tuple(tuple(basis) for basis in layout.fields.get(name, ())) for name in ("offset", "block")}
    return Linear(bases, tuple(shape), tuple(range(len(shape))))


def _at(rank: int, coordinates: dict[int, int]) -> tuple[int, ...]:
    return tuple(coordinates.get(axis, 0) for axis in range(rank))


_RULES: dict[str, Callable[[Layout, tuple[int, ...]], Linear]] = {
    "blocked": _blocked,
    "slice": _slice,
    "linear": _linear,
    "nvidia_mma": _nvidia_mma,
    "dot_op": _operand,
    "amd_mfma": _amd_mfma,
    "amd_wmma": _amd_wmma,
    "swizzled_shared": _swizzled,
    "nvmma_shared": _nvmma_shared,
    "shared_linear": _shared_linear,
}
