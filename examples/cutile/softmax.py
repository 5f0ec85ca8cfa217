"""Softmax along rows: a row in one tile, or, for rows that no tile can hold, online in several."""

import math

import cuda.tile as ct

# exp(x) = exp2(x * LOG2_E), and exp2 is one instruction. The compiler sees a constant of the module.
LOG2_E = math.log2(math.e)


# tile-lsp: x=f16[8192,1000] y=f16[8192,1000] width=1024
@ct.kernel(occupancy=4)
def softmax(x, y, width: ct.Constant[int]):
    """One block a row; `width` is a power of two and holds the whole row; what is beyond its end counts as -inf."""
    row = ct.bid(0)
    logits = ct.load(x, index=(row, 0), shape=(1, width), padding_mode=ct.PaddingMode.NEG_INF)
    logits = logits.astype(ct.float32) * LOG2_E
    weights = ct.exp2(logits - ct.max(logits, axis=1, keepdims=True))
    weights = weights / ct.sum(weights, axis=1, keepdims=True)
    ct.store(y, index=(row, 0), tile=weights.astype(y.dtype))


# tile-lsp: x=bf16[1024,151936] y=bf16[1024,151936] width=2048
@ct.kernel
def softmax_online(x, y, width: ct.Constant[int]):
    """One block a row, in steps of `width`: the sum so far is rescaled whenever a greater maximum turns up."""
    row = ct.bid(0)
    steps = ct.num_tiles(x, axis=1, shape=(1, width))

    top = ct.full((1, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((1, 1), dtype=ct.float32)
    for step in range(steps):
        logits = ct.load(x, index=(row, step), shape=(1, width), padding_mode=ct.PaddingMode.NEG_INF)
        logits = logits.astype(ct.float32) * LOG2_E
        new_top = ct.maximum(top, ct.max(logits, axis=1, keepdims=True))
        total = total * ct.exp2(top - new_top) + ct.sum(ct.exp2(logits - new_top), axis=1, keepdims=True)
        top = new_top

    for step in range(steps):
        logits = ct.load(x, index=(row, step), shape=(1, width), padding_mode=ct.PaddingMode.NEG_INF)
        weights = ct.exp2(logits.astype(ct.float32) * LOG2_E - top) / total
        ct.store(y, index=(row, step), tile=weights.astype(y.dtype))


if __name__ == "__main__":
    import torch

    for name, kernel, dtype, rows, columns, width in (
        ("softmax", softmax, torch.float16, 8192, 1000, 1024),
        ("softmax_online", softmax_online, torch.bfloat16, 1024, 151_936, 2048),
    ):
        x = torch.randn(rows, columns, dtype=dtype, device="cuda")
        y = torch.empty_like(x)
        ct.launch(torch.cuda.current_stream(), (rows,), kernel, (x, y, width))
        torch.testing.assert_close(y, torch.softmax(x, dim=1))
        print(f"{name} agrees with torch")
