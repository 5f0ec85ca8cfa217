"""Matrix multiplication with blocks in an order that is kind to the L2 cache, and a persistent variant of it."""

import cuda.tile as ct

# Rows of output tiles that blocks with neighbouring numbers work on together.
GROUP = 8

ZERO = ct.PaddingMode.ZERO


def swizzle(block, M, N, tm, tn):
    """Number of a block -> its (row, column) among the output tiles: down GROUP rows first, then the next column."""
    rows = ct.cdiv(M, tm)
    columns = ct.cdiv(N, tn)
    per_group = GROUP * columns
    first_row = block // per_group * GROUP
    height = min(rows - first_row, GROUP)
    return first_row + block % per_group % height, block % per_group // height


def multiply(A, B, row, column, tm, tn, tk):
    """One output tile of A @ B, summed in float32."""
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(tm, tk))):
        a = ct.load(A, index=(row, k), shape=(tm, tk), padding_mode=ZERO)
        b = ct.load(B, index=(k, column), shape=(tk, tn), padding_mode=ZERO)
        acc = ct.mma(a, b, acc)
    return acc


# tile-lsp: A=f16[4096,4096] B=f16[4096,4096] C=f32[4096,4096] tm=128 tn=128 tk=64
@ct.kernel(num_ctas=ct.ByTarget(sm_100=2))
def matmul(A, B, C, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A @ B; one block an output tile."""
    M, N = A.shape[0], B.shape[1]
    row, column = swizzle(ct.bid(0), M, N, tm, tn)
    acc = multiply(A, B, row, column, tm, tn, tk)
    ct.store(C, index=(row, column), tile=acc.astype(C.dtype))


# tile-lsp: A=bf16[8192,4096] B=bf16[4096,8192] C=bf16[8192,8192] tm=128 tn=128 tk=64
@ct.kernel
def matmul_persistent(A, B, C, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A @ B; as many blocks as the device has room for, each walking over its share of the output tiles."""
    M, N = A.shape[0], B.shape[1]
    tiles = ct.cdiv(M, tm) * ct.cdiv(N, tn)
    for block in range(ct.bid(0), tiles, ct.num_blocks(0)):
        row, column = swizzle(block, M, N, tm, tn)
        acc = multiply(A, B, row, column, tm, tn, tk)
        ct.store(C, index=(row, column), tile=acc.astype(C.dtype))


if __name__ == "__main__":
    import torch

    M, N, K = 4096, 4096, 4096
    tm, tn, tk = 128, 128, 64
    A = torch.randn(M, K, dtype=torch.float16, device="cuda")
    B = torch.randn(K, N, dtype=torch.float16, device="cuda")
    C = torch.empty(M, N, dtype=torch.float32, device="cuda")

    stream = torch.cuda.current_stream()
    blocks = ct.cdiv(M, tm) * ct.cdiv(N, tn)
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
    for name, kernel, grid in (
        ("matmul", matmul, blocks),
        ("matmul_persistent", matmul_persistent, min(blocks, multiprocessors)),
    ):
        ct.launch(stream, (grid,), kernel, (A, B, C, tm, tn, tk))
        torch.testing.assert_close(C, A.float() @ B.float(), atol=0.5, rtol=1e-2)
        print(f"{name} agrees with torch")
