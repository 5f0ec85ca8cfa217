"""A kernel of our own to compile before the first of the user's: what most kernels use."""

from __future__ import annotations

import sys
from typing import Any

_MODULE = "_tile_lsp_numba_sample"

_MEMBERS = {
    "cuda": "from numba import cuda, float32\n",
    "math": "import math\n",
    "clamp": """@cuda.jit(device=True)
def clamp(value, low, high):
    return min(max(value, low), high)
""",
    "sample": """@cuda.jit
def sample(a, x, y, scale, n):
    tile = cuda.shared.array((16, 16), float32)
    row, column = cuda.grid(2)
    i, j = (cuda.threadIdx.y, cuda.threadIdx.x)
    total = float32(0.0)
    for k in range((a.shape[1] + 15) // 16):
        tile[i, j] = 0.0
        if row < a.shape[0] and k * 16 + j < a.shape[1]:
            tile[i, j] = a[row, k * 16 + j]
        cuda.syncthreads()
        for l in range(16):
            total += tile[i, l] * x[l]
        cuda.syncthreads()
    if row < n:
        y[row] = clamp(math.sqrt(total) / scale, 0.0, 1.0)
        cuda.atomic.add(y, 0, total)
""",
}


def request() -> dict[str, Any]:
    members = [
        {"id": f"{_MODULE}/{name}", "module": _MODULE, "text": text, "function": name in ("clamp", "sample")}
        for name, text in _MEMBERS.items()
    ]
    return {
        "closure": {
            "version": "",
            "entry": {"module": _MODULE, "expression": "sample", "qualname": "sample"},
            "modules": [{"name": _MODULE, "path": __file__, "package": False, "members": members}],
        },
        "arguments": [
            ["a", "float32[:,::1]"],
            ["x", "float32[::1]"],
            ["y", "float32[::1]"],
            ["scale", "float32"],
            ["n", "int64"],
        ],
        "fields": {},
    }


def clean() -> None:
    sys.modules.pop(_MODULE, None)
