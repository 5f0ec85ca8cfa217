"""Layer normalisation, forward and backward: statistics a row, gradients of weight and bias over groups of rows."""

import triton
import triton.language as tl


# tile-lsp: x_ptr=*fp16:16 y_ptr=*fp16:16 weight_ptr=*fp16:16 bias_ptr=*fp16:16 mean_ptr=*fp32:16 rstd_ptr=*fp32:16 \
#   stride=i32:16 n=i32:16 eps=fp32 BLOCK=1024 target=sm_90
@triton.jit
def forward(x_ptr, y_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
        centred = tl.where(at < n, x - mean, 0.0)
        square += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < n
        weight = tl.load(weight_ptr + at, mask=inside)
        bias = tl.load(bias_ptr + at, mask=inside)
        x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + at, (x - mean) * rstd * weight + bias, mask=inside)


# tile-lsp: dx_ptr=*fp16:16 dy_ptr=*fp16:16 dw_ptr=*fp32:16 db_ptr=*fp32:16 x_ptr=*fp16:16 weight_ptr=*fp16:16 \
#   mean_ptr=*fp32:16 rstd_ptr=*fp32:16 lock_ptr=*i32:16 stride=i32:16 n=i32:16 GROUP=64 BLOCK=1024 target=sm_90
@triton.jit
def backward(
    dx_ptr,
    dy_ptr,
    dw_ptr,
    db_ptr,
    x_ptr,
    weight_ptr,
    mean_ptr,
    rstd_ptr,
    lock_ptr,
    stride,
    n,
    GROUP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + row * stride + at, mask=inside, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + at, mask=inside, other=0).to(tl.float32)
    weight = tl.load(weight_ptr + at, mask=inside).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(inside, (x - mean) * rstd, 0.0)
    scaled = tl.where(inside, weight * dy, 0.0)
    along = tl.sum(normal * scaled, axis=0) / n
    level = tl.sum(scaled, axis=0) / n
    tl.store(dx_ptr + row * stride + at, (scaled - (normal * along + level)) * rstd, mask=inside)
    # Rows of one group add up what they have, one after the other.
    group = row % GROUP
    lock = lock_ptr + group
    count = lock_ptr + GROUP + group
    dw_ptrs = dw_ptr + group * n + at
    db_ptrs = db_ptr + group * n + at
    partial_dw = dy * normal
    partial_db = dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        partial_dw += tl.load(dw_ptrs, mask=inside)
        partial_db += tl.load(db_ptrs, mask=inside)
    tl.store(dw_ptrs, partial_dw, mask=inside)
    tl.store(db_ptrs, partial_db, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
