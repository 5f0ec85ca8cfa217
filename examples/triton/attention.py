"""Attention, block by block over the keys, with a running maximum; causal or not by a constant."""

import triton
import triton.language as tl


@triton.jit
def step(acc, total, peak, q, k_ptrs, v_ptrs, start, length, rows, columns, scale, CAUSAL: tl.constexpr):
    k = tl.load(k_ptrs, mask=(start + columns)[None, :] < length, other=0.0)
    scores = tl.dot(q, k) * scale
    inside = (start + columns)[None, :] < length
    if CAUSAL:
        inside = inside & (rows[:, None] >= (start + columns)[None, :])
    scores = tl.where(inside, scores, float("-inf"))
    highest = tl.maximum(peak, tl.max(scores, 1))
    share = tl.math.exp2(scores - highest[:, None])
    fade = tl.math.exp2(peak - highest)
    v = tl.load(v_ptrs, mask=(start + columns)[:, None] < length, other=0.0)
    acc = tl.dot(share.to(v.dtype), v, acc * fade[:, None])
    return acc, total * fade + tl.sum(share, 1), highest


# tile-lsp: q_ptr=*fp16:16 k_ptr=*fp16:16 v_ptr=*fp16:16 out_ptr=*fp16:16 scale=fp32 stride_head=i32:16 \
#   stride_row=i32:16 length=i32:16 TILE_M=64 TILE_N=64 DIM=64 CAUSAL=True num_warps=4 num_stages=2 target=sm_90
# tile-lsp: q_ptr=*bf16:16 k_ptr=*bf16:16 v_ptr=*bf16:16 out_ptr=*bf16:16 scale=fp32 stride_head=i32:16 \
#   stride_row=i32:16 length=i32:16 TILE_M=64 TILE_N=64 DIM=64 CAUSAL=False num_warps=4 num_stages=2 target=sm_90
@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    stride_head,
    stride_row,
    length,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    first = tl.program_id(0) * TILE_M
    head = tl.program_id(1) * stride_head
    rows = first + tl.arange(0, TILE_M)
    columns = tl.arange(0, TILE_N)
    across = tl.arange(0, DIM)
    q = tl.load(q_ptr + head + rows[:, None] * stride_row + across[None, :], mask=rows[:, None] < length, other=0.0)
    k_ptrs = k_ptr + head + columns[None, :] * stride_row + across[:, None]
    v_ptrs = v_ptr + head + columns[:, None] * stride_row + across[None, :]
    peak = tl.full((TILE_M,), float("-inf"), tl.float32)
    total = tl.zeros((TILE_M,), tl.float32)
    acc = tl.zeros((TILE_M, DIM), tl.float32)
    end = first + TILE_M if CAUSAL else length
    for start in range(0, end, TILE_N):
        acc, total, peak = step(
            acc, total, peak, q, k_ptrs, v_ptrs, start, length, rows, columns, scale * 1.44269504, CAUSAL
        )
        k_ptrs += TILE_N * stride_row
        v_ptrs += TILE_N * stride_row
    acc = acc / total[:, None]
    out_ptrs = out_ptr + head + rows[:, None] * stride_row + across[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=rows[:, None] < length)
