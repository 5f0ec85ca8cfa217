"""Helpers of stencil.py: device functions in a file of their own."""

from numba import cuda, float32

WEIGHT = float32(0.25)


@cuda.jit(device=True)
def clamp(i, length):
    return min(max(i, 0), length - 1)


@cuda.jit(device=True)
def neighbours(field, i, j):
    """The sum of the four cells around (i, j); beyond the edge a cell is its neighbour again."""
    rows, columns = field.shape
    return (
        field[clamp(i - 1, rows), j]
        + field[clamp(i + 1, rows), j]
        + field[i, clamp(j - 1, columns)]
        + field[i, clamp(j + 1, columns)]
    )
