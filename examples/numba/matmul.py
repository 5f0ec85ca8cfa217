"""Matrix multiplication, tile by tile through shared memory."""

from numba import cuda, float32

TILE = 16


# tile-lsp: a=float32[:,::1] b=float32[:,::1] c=float32[:,::1]
@cuda.jit
def matmul(a, b, c):
    """c = a @ b; a block of TILE × TILE threads makes one tile of c."""
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    total = float32(0)
    for step in range((a.shape[1] + TILE - 1) // TILE):
        k = step * TILE
        tile_a[i, j] = a[row, k + j] if row < a.shape[0] and k + j < a.shape[1] else float32(0)
        tile_b[i, j] = b[k + i, column] if k + i < b.shape[0] and column < b.shape[1] else float32(0)
        cuda.syncthreads()
        for inner in range(TILE):
            total += tile_a[i, inner] * tile_b[inner, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


if __name__ == "__main__":
    import numpy as np

    m, n, k = 512, 384, 256
    a = np.random.rand(m, k).astype(np.float32)
    b = np.random.rand(k, n).astype(np.float32)
    c = np.zeros((m, n), np.float32)
    matmul[(-(-n // TILE), -(-m // TILE)), (TILE, TILE)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)
    print("matmul agrees with numpy")
