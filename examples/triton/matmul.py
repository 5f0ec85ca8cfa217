"""Matrix product with an autotuner, a heuristic and an activation that a constant chooses."""

import triton
import triton.language as tl


def configs():
    sizes = [(128, 128, 64, 3, 8), (128, 64, 64, 4, 4), (64, 64, 32, 4, 4)]
    return [
        triton.Config({"TILE_M": m, "TILE_N": n, "TILE_K": k, "GROUP": 8}, num_stages=stages, num_warps=warps)
        for m, n, k, stages, warps in sizes
    ]


@triton.jit
def leaky_relu(x, slope):
    return tl.where(x >= 0, x, slope * x)


@triton.jit
def swizzle(program, rows, columns, GROUP: tl.constexpr):
    width = GROUP * columns
    group = program // width
    first = group * GROUP
    height = min(rows - first, GROUP)
    return first + (program % width) % height, (program % width) // height


# tile-lsp: target=sm_90
@triton.autotune(configs=configs(), key=["m", "n", "k"])
@triton.heuristics({"EVEN_K": lambda args: args["k"] % args["TILE_K"] == 0})
@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
    GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    row, column = swizzle(tl.program_id(0), tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N), GROUP)
    rows = (row * TILE_M + tl.arange(0, TILE_M)) % m
    columns = (column * TILE_N + tl.arange(0, TILE_N)) % n
    inner = tl.arange(0, TILE_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for step in range(tl.cdiv(k, TILE_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=inner[None, :] < k - step * TILE_K, other=0.0)
            b = tl.load(b_ptrs, mask=inner[:, None] < k - step * TILE_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += TILE_K * stride_ak
        b_ptrs += TILE_K * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc, 0.01)
    c_rows = row * TILE_M + tl.arange(0, TILE_M)
    c_columns = column * TILE_N + tl.arange(0, TILE_N)
    c_ptrs = c_ptr + c_rows[:, None] * stride_cm + c_columns[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(tl.float16), mask=(c_rows[:, None] < m) & (c_columns[None, :] < n))


def launch(a, b, activation=""):
    import torch

    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.float16)

    def grid(meta):
        return (triton.cdiv(m, meta["TILE_M"]) * triton.cdiv(n, meta["TILE_N"]),)

    matmul[grid](
        a,
        b,
        c,
        m,
        n,
        k,
        a.stride(0),
        a.stride(1),
        b.stride(0),
        b.stride(1),
        c.stride(0),
        c.stride(1),
        ACTIVATION="leaky_relu",
    )
    return c
