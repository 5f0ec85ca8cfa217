"""Layer normalisation, forward and backward with respect to the input, for rows of any length."""

import cuda.tile as ct

ZERO = ct.PaddingMode.ZERO


def load_row(array, row, step, width):
    """One step of a row as float32; zero beyond its end."""
    return ct.load(array, index=(row, step), shape=(1, width), padding_mode=ZERO).astype(ct.float32)


def load_vector(array, step, width):
    """One step of a weight or bias vector, shaped to meet a row."""
    return ct.load(array, index=(step,), shape=(width,), padding_mode=ZERO).astype(ct.float32).reshape((1, width))


def inside(step, width, length):
    """Mask of the columns of a step that lie within the row."""
    return (step * width + ct.arange(width, dtype=ct.int32)).reshape((1, width)) < length


# tile-lsp: x=f16[4096,5120] weight=f16[5120] bias=f16[5120] y=f16[4096,5120] \
#           mean=f32[4096] rstd=f32[4096] eps=f32 width=1024
@ct.kernel
def layer_norm(x, weight, bias, y, mean, rstd, eps: float, width: ct.Constant[int]):
    """y = (x - mean) / sqrt(var + eps) * weight + bias; one block a row, in steps of `width`. Keeps mean and 1/std."""
    row = ct.bid(0)
    length = x.shape[1]
    steps = ct.num_tiles(x, axis=1, shape=(1, width))

    total = ct.zeros((1, width), dtype=ct.float32)
    for step in range(steps):
        total += load_row(x, row, step, width)
    centre = ct.sum(total, axis=1, keepdims=True) / length

    squares = ct.zeros((1, width), dtype=ct.float32)
    for step in range(steps):
        distance = load_row(x, row, step, width) - centre
        distance = ct.where(inside(step, width, length), distance, 0.0)
        squares += distance * distance
    scale = ct.rsqrt(ct.sum(squares, axis=1, keepdims=True) / length + eps)

    ct.store(mean, index=(row,), tile=centre.reshape((1,)))
    ct.store(rstd, index=(row,), tile=scale.reshape((1,)))

    for step in range(steps):
        normal = (load_row(x, row, step, width) - centre) * scale
        out = normal * load_vector(weight, step, width) + load_vector(bias, step, width)
        ct.store(y, index=(row, step), tile=out.astype(y.dtype))


# tile-lsp: dy=f16[4096,5120] x=f16[4096,5120] weight=f16[5120] mean=f32[4096] rstd=f32[4096] \
#           dx=f16[4096,5120] width=1024
@ct.kernel
def layer_norm_backward(dy, x, weight, mean, rstd, dx, width: ct.Constant[int]):
    """Gradient with respect to x, from the mean and 1/std that the forward pass kept."""
    row = ct.bid(0)
    length = x.shape[1]
    steps = ct.num_tiles(x, axis=1, shape=(1, width))
    centre = ct.load(mean, index=(row,), shape=(1,)).reshape((1, 1))
    scale = ct.load(rstd, index=(row,), shape=(1,)).reshape((1, 1))

    along_normal = ct.zeros((1, width), dtype=ct.float32)
    along_one = ct.zeros((1, width), dtype=ct.float32)
    for step in range(steps):
        normal = (load_row(x, row, step, width) - centre) * scale
        pull = load_row(dy, row, step, width) * load_vector(weight, step, width)
        along_normal += normal * pull
        along_one += pull
    normal_part = ct.sum(along_normal, axis=1, keepdims=True) / length
    one_part = ct.sum(along_one, axis=1, keepdims=True) / length

    for step in range(steps):
        normal = (load_row(x, row, step, width) - centre) * scale
        pull = load_row(dy, row, step, width) * load_vector(weight, step, width)
        gradient = (pull - normal * normal_part - one_part) * scale
        ct.store(dx, index=(row, step), tile=gradient.astype(dx.dtype))


if __name__ == "__main__":
    import torch

    rows, columns, width, eps = 4096, 5000, 1024, 1e-5
    x = torch.randn(rows, columns, dtype=torch.float16, device="cuda", requires_grad=True)
    weight, bias = torch.randn(2, columns, dtype=torch.float16, device="cuda")
    y, dx, dy = torch.empty_like(x), torch.empty_like(x), torch.randn_like(x)
    mean, rstd = torch.empty(2, rows, device="cuda")

    stream = torch.cuda.current_stream()
    ct.launch(stream, (rows,), layer_norm, (x.detach(), weight, bias, y.detach(), mean, rstd, eps, width))
    ct.launch(stream, (rows,), layer_norm_backward, (dy, x.detach(), weight, mean, rstd, dx.detach(), width))

    expected = torch.nn.functional.layer_norm(x, (columns,), weight, bias, eps)
    expected.backward(dy)
    torch.testing.assert_close(y, expected, atol=1e-2, rtol=1e-2)
    torch.testing.assert_close(dx, x.grad, atol=1e-2, rtol=1e-2)
    print("layer_norm and layer_norm_backward agree with torch")
