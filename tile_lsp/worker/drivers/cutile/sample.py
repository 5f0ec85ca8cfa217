"""A kernel of our own to compile before the first of the user's: the operations that most kernels use."""

from __future__ import annotations

import sys
from typing import Any

_MODULE = "_tile_lsp_sample"

_IMPORT = "import cuda.tile as ct\n"
_HELPER = """def swizzle(m, n, tile_m: ct.Constant[int], tile_n: ct.Constant[int], group: ct.Constant[int]):
    block = ct.bid(0)
    rows = ct.cdiv(m, tile_m)
    columns = ct.cdiv(n, tile_n)
    width = group * columns
    first = block // width * group
    height = min(rows - first, group)
    return first + block % height, block % width // height
"""
_KERNEL = """@ct.kernel(num_ctas=ct.ByTarget(sm_100=2))
def sample(a, b, c, scale, tile_m: ct.Constant[int], tile_n: ct.Constant[int], tile_k: ct.Constant[int]):
    m, n = (a.shape[0], b.shape[1])
    row, column = swizzle(m, n, tile_m, tile_n, 8)
    steps = ct.num_tiles(a, axis=1, shape=(tile_m, tile_k))
    total = ct.full((tile_m, tile_n), 0, dtype=ct.float32)
    dtype = ct.tfloat32 if a.dtype == ct.float32 else a.dtype
    for k in range(steps):
        left = ct.load(a, index=(row, k), shape=(tile_m, tile_k), padding_mode=ct.PaddingMode.ZERO).astype(dtype)
        right = ct.load(b, index=(k, column), shape=(tile_k, tile_n), padding_mode=ct.PaddingMode.ZERO).astype(dtype)
        total = ct.mma(left, right, total)
    if scale > 0.0:
        total = total * scale
    peak = ct.max(total, axis=1, keepdims=True)
    share = ct.exp(total - peak)
    share = ct.where(share > 1e-06, share, 0.0) / ct.sum(share, axis=1, keepdims=True)
    ct.store(c, index=(row, column), tile=ct.astype(share, c.dtype))
"""


def request() -> dict[str, Any]:
    members = [
        {"id": f"{_MODULE}/{name}", "module": _MODULE, "text": text, "function": name != "ct"}
        for name, text in (("ct", _IMPORT), ("swizzle", _HELPER), ("sample", _KERNEL))
    ]
    return {
        "closure": {
            "version": "",
            "entry": {"module": _MODULE, "expression": "sample", "qualname": "sample"},
            "modules": [{"name": _MODULE, "path": __file__, "package": False, "members": members}],
        },
        "arguments": [
            *([name, "f16[4096,4096]"] for name in "abc"),
            ["scale", "f32"],
            ["tile_m", "128"],
            ["tile_n", "128"],
            ["tile_k", "64"],
        ],
        "fields": {},
    }


def clean() -> None:
    sys.modules.pop(_MODULE, None)
