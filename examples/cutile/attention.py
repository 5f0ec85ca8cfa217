"""Fused attention with an online softmax: causal or not, with grouped key/value heads, for sequences of any length."""

import math

import cuda.tile as ct

LOG2_E = math.log2(math.e)


def scores(q, K, batch, head, step, tile_n, depth):
    """q @ K^T for one tile of keys, in float32."""
    keys = ct.load(K, index=(batch, head, 0, step), shape=(1, 1, depth, tile_n), order=(0, 1, 3, 2), latency=2)
    return ct.mma(q, keys.reshape((depth, tile_n)), ct.zeros((q.shape[0], tile_n), dtype=ct.float32))


def hide(s, first_query, first_key, length, causal):
    """Scores of keys beyond the sequence, or later than their query, become -inf."""
    query = first_query + ct.arange(s.shape[0], dtype=ct.int32)[:, None]
    key = first_key + ct.arange(s.shape[1], dtype=ct.int32)[None, :]
    seen = key < length
    if causal:
        seen = seen & (key <= query)
    return ct.where(seen, s, -math.inf)


# tile-lsp: Q=f16[4,32,2048,128] K=f16[4,8,2048,128] V=f16[4,8,2048,128] Out=f16[4,32,2048,128] scale=f32 \
#           group=4 depth=128 tile_m=128 tile_n=64 causal=True
# tile-lsp: Q=bf16[4,16,1000,64] K=bf16[4,16,1000,64] V=bf16[4,16,1000,64] Out=bf16[4,16,1000,64] scale=f32 \
#           group=1 depth=64 tile_m=64 tile_n=64 causal=False
@ct.kernel
def attention(
    Q,
    K,
    V,
    Out,
    scale: float,
    group: ct.Constant[int],
    depth: ct.Constant[int],
    tile_m: ct.Constant[int],
    tile_n: ct.Constant[int],
    causal: ct.Constant[bool],
):
    """Out = softmax(Q K^T * scale) V for arrays of (batch, head, position, depth).

    A block takes `tile_m` queries of one head and walks over the keys in steps of `tile_n`. `group` query heads share
    one key/value head.
    """
    first_query = ct.bid(0) * tile_m
    heads, length = Q.shape[1], K.shape[2]
    batch, head = ct.bid(1) // heads, ct.bid(1) % heads
    shared = head // group

    q = ct.load(Q, index=(batch, head, ct.bid(0), 0), shape=(1, 1, tile_m, depth)).reshape((tile_m, depth))
    top = ct.full((tile_m, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((tile_m, 1), dtype=ct.float32)
    acc = ct.zeros((tile_m, depth), dtype=ct.float32)

    # Steps before `edge` hold only keys that every query of the tile may see: they need no mask.
    end, edge = length, length // tile_n
    if causal:
        end = min(length, first_query + tile_m)
        edge = min(edge, first_query // tile_n)

    for step in range(ct.cdiv(end, tile_n)):
        s = scores(q, K, batch, shared, step, tile_n, depth)
        if step >= edge:
            s = hide(s, first_query, step * tile_n, length, causal)

        new_top = ct.maximum(top, ct.max(s, axis=1, keepdims=True) * (scale * LOG2_E))
        weights = ct.exp2(s * (scale * LOG2_E) - new_top, flush_to_zero=True)
        decay = ct.exp2(top - new_top, flush_to_zero=True)
        total = total * decay + ct.sum(weights, axis=1, keepdims=True)
        top = new_top

        values = ct.load(V, index=(batch, shared, step, 0), shape=(1, 1, tile_n, depth), latency=4)
        acc = ct.mma(weights.astype(V.dtype), values.reshape((tile_n, depth)), acc * decay)

    out = (acc / total).astype(Out.dtype)
    ct.store(Out, index=(batch, head, ct.bid(0), 0), tile=out.reshape((1, 1, tile_m, depth)))


if __name__ == "__main__":
    import torch

    for dtype, heads, group, length, depth, tile_m, tile_n, causal in (
        (torch.float16, 32, 4, 2048, 128, 128, 64, True),
        (torch.bfloat16, 16, 1, 1000, 64, 64, 64, False),
    ):
        Q = torch.randn(4, heads, length, depth, dtype=dtype, device="cuda")
        K, V = torch.randn(2, 4, heads // group, length, depth, dtype=dtype, device="cuda")
        Out = torch.empty_like(Q)
        scale = 1 / math.sqrt(depth)
        grid = (ct.cdiv(length, tile_m), 4 * heads)
        arguments = (Q, K, V, Out, scale, group, depth, tile_m, tile_n, causal)
        ct.launch(torch.cuda.current_stream(), grid, attention, arguments)
        expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=causal, enable_gqa=group > 1)
        torch.testing.assert_close(Out, expected, atol=1e-2, rtol=1e-2)
        print(f"attention ({'causal, ' if causal else ''}{dtype}) agrees with torch")
