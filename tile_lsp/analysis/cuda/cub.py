"""CUB's headers of everything, and of what the host calls: the device reads of them what its words name.

`<cub/cub.cuh>` says itself that NVRTC can't read it, and each of `<cub/device/…>` holds functions of the host's; both
bring along, for whoever includes them, all that blocks, warps and threads do together.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

#: What is small, and what words with no system to them come from: `LaneId`, `KeyValuePair`, `Sum`.
_ALWAYS = ("cub/util_ptx.cuh", "cub/util_type.cuh", "cub/thread/thread_operators.cuh")
_PARTS: dict[str, tuple[str, ...]] = {
    "block": (
        *("adjacent_difference", "discontinuity", "exchange", "histogram", "load", "merge_sort", "radix_rank"),
        *("radix_sort", "reduce", "scan", "store"),
    ),
    "grid": ("even_share", "mapping", "queue"),
    "thread": ("load", "reduce", "scan", "store"),
    "warp": ("exchange", "load", "merge_sort", "reduce", "scan", "store"),
}
_ITERATORS = (
    *("arg_index_input_iterator", "cache_modified_input_iterator", "cache_modified_output_iterator"),
    "tex_obj_input_iterator",
)
#: `thread_reduce` → `cub/thread/thread_reduce.cuh`.
_HEADERS = {
    **{f"{folder}_{part}": f"cub/{folder}/{folder}_{part}.cuh" for folder, parts in _PARTS.items() for part in parts},
    **{name: f"cub/iterator/{name}.cuh" for name in _ITERATORS},
    # Named for what they do to memory, as `LOAD_CS`.
    "load_": "cub/thread/thread_load.cuh",
    "store_": "cub/thread/thread_store.cuh",
}
_WHOLE = "cub/cub.cuh"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_mixed(name: str) -> bool:
    """True for a header that is not for the device alone."""
    return name in (_WHOLE, "cub/util_allocator.cuh") or name.startswith("cub/device/")


def headers_for(words: AbstractSet[str]) -> list[str]:
    """Those for the device that words call for: `BlockReduce` and `BLOCK_REDUCE_RAKING` for that of blocks' sums."""
    found = dict.fromkeys(_ALWAYS)
    snakes = {_HUMP.sub("_", word).lower() for word in words}
    for name, header in _HEADERS.items():
        if any(snake.startswith(name) for snake in snakes):
            found[header] = None
    return sorted(found)
