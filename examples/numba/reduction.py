"""A sum and a histogram: warps exchange registers, blocks meet in atomics."""

from numba import cuda, float32, int32

WARPS = 8
BINS = 64


@cuda.jit(device=True)
def warp_sum(value):
    """The sum over the warp, in its first lane."""
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    return value


# tile-lsp: x=float32[::1] total=float32[::1] launch_bounds=256
@cuda.jit
def block_sum(x, total):
    """total[0] += sum of x; a block has WARPS warps."""
    partial = cuda.shared.array(WARPS, float32)
    value = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        value += x[i]
    value = warp_sum(value)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    if lane == 0:
        partial[warp] = value
    cuda.syncthreads()
    if warp == 0:
        value = warp_sum(partial[lane] if lane < WARPS else float32(0))
        if lane == 0:
            cuda.atomic.add(total, 0, value)


# tile-lsp: x=uint8[::1] counts=int32[::1]
@cuda.jit
def histogram(x, counts):
    """counts[b] += how many of x are in bin b of BINS."""
    own = cuda.shared.array(BINS, int32)
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        own[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(own, x[i] * BINS // 256, 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, b, own[b])


if __name__ == "__main__":
    import numpy as np

    x = np.random.rand(1 << 20).astype(np.float32)
    total = np.zeros(1, np.float32)
    block_sum[64, 32 * WARPS](x, total)
    np.testing.assert_allclose(total[0], x.sum(dtype=np.float64), rtol=1e-4)

    pixels = np.random.randint(0, 256, 1 << 20).astype(np.uint8)
    counts = np.zeros(BINS, np.int32)
    histogram[64, 256](pixels, counts)
    np.testing.assert_array_equal(counts, np.bincount(pixels // (256 // BINS), minlength=BINS))
    print("block_sum and histogram agree with numpy")
