"""A kernel of our own to compile before the first of the user's: the operations that most kernels use."""

from __future__ import annotations

import sys
from typing import Any

_MODULE = "_tile_lsp_sample"
_IMPORTS = {"triton": "import triton\n", "tl": "import triton.language as tl\n"}
_HELPER = """@triton.jit
def gelu(x):
    return x * tl.sigmoid(1.702 * x)
"""
_KERNEL = """@triton.jit
def sample(a, b, c, m, n, k, scale, tile: tl.constexpr):
    row = tl.program_id(0)
    rows = row * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    inner = tl.arange(0, tile)
    total = tl.zeros((tile, tile), dtype=tl.float32)
    for step in range(tl.cdiv(k, tile)):
        left = tl.load(a + rows[:, None] * k + (step * tile + inner)[None, :], mask=rows[:, None] < m, other=0.0)
        right = tl.load(b + (step * tile + inner)[:, None] * n + columns[None, :], mask=columns[None, :] < n, other=0.0)
        total = tl.dot(left, right, total)
    if scale > 0.0:
        total = total * scale
    share = tl.exp(total - tl.max(total, axis=1)[:, None])
    share = gelu(share / tl.sum(share, axis=1)[:, None])
    tl.store(c + rows[:, None] * n + columns[None, :], share.to(tl.float16), mask=rows[:, None] < m)
"""


def request() -> dict[str, Any]:
    texts = {**_IMPORTS, "gelu": _HELPER, "sample": _KERNEL}
    members = [
        {"id": f"{_MODULE}/{name}", "module": _MODULE, "text": text, "function": name not in _IMPORTS}
        for name, text in texts.items()
    ]
    return {
        "closure": {
            "version": "",
            "entry": {"module": _MODULE, "expression": "sample", "qualname": "sample"},
            "modules": [{"name": _MODULE, "path": __file__, "package": False, "members": members}],
        },
        "arguments": [
            *([name, "*fp16:16"] for name in "abc"),
            *([name, "i32:16"] for name in "mnk"),
            ["scale", "fp32"],
            ["tile", "32"],
        ],
        "fields": {},
    }


def clean() -> None:
    sys.modules.pop(_MODULE, None)
