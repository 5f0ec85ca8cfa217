"""What is asked of an array or of a view by its methods."""

from __future__ import annotations

from tile_lsp.frontends.cutile.terms import UNKNOWN, Dtype, Literal, Num, Of, Ref, Tile, Value, View, dims_of

from .evidence import Evidence
from .operations import Arguments, atomic


def array(seen: Evidence, owner: Ref, name: str, arguments: Arguments) -> Value:
    slot = owner.slot
    if name == "slice":
        seen.array(slot, "sliced")
        seen.integral(arguments.get(1, "start"))
        seen.integral(arguments.get(2, "stop"))
        axis = arguments.get(0, "axis")
        if isinstance(axis, Num) and axis.size is not None and not axis.size.powers:
            use = seen.usage.use(slot)
            use.min_rank = max(use.min_rank, int(axis.size.coefficient) + 1)
        return owner
    if name == "tiled_view":
        shape = seen.tile_shape(arguments.get(0, "tile_shape"))
        if shape is not None:
            seen.rank(slot, len(shape), f"viewed in tiles of {len(shape)} dimension{'s' * (len(shape) != 1)}")
        else:
            seen.array(slot, "viewed in tiles")
        return View(slot, shape)
    if name == "get_raw_memory":
        seen.array(slot, "its memory is asked for")
        return View(slot, None)
    if name == "item" or name == "astype":
        dtype = arguments.get(0, "dtype")
        seen.scalarise(owner)
        return Num(None, dtype.term if isinstance(dtype, Dtype) else Of(slot))
    return UNKNOWN


def view(seen: Evidence, owner: View, name: str, arguments: Arguments) -> Value:
    slot = owner.slot
    first = arguments.get(0, "index")
    if name == "num_tiles":
        return Num()
    seen.integral(first)
    if name in ("load", "load_offset"):
        shape = owner.shape if name == "load" else dims_of(first)
        return Tile(shape, Of(slot))
    if name in ("store", "store_offset"):
        seen.stored(slot, arguments.get(1, "tile", "value"))
        return Literal(None)
    if name.startswith("atomic"):
        atomic(seen, slot, name, arguments)
        return Tile(dims_of(first), Of(slot))
    return UNKNOWN
