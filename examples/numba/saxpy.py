"""y = a·x + y. Hover over any name to see its type; `2.0` in the launch is a Python float, so `a` is float64."""

from numba import cuda


# tile-lsp: a=float32 x=float32[::1] y=float32[::1]
@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


if __name__ == "__main__":
    import numpy as np

    n = 1 << 20
    x, y = np.random.rand(2, n).astype(np.float32)
    wanted = np.float32(2) * x + y
    saxpy[(n + 255) // 256, 256](np.float32(2), x, y)
    np.testing.assert_allclose(y, wanted, rtol=1e-6)
    print("saxpy agrees with numpy")
