"""Vector addition: the least that a kernel does."""

import triton
import triton.language as tl


# tile-lsp: x_ptr=*fp32:16 y_ptr=*fp32:16 output_ptr=*fp32:16 n=i32:16 BLOCK=1024 target=sm_90
@triton.jit
def add(x_ptr, y_ptr, output_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)


def launch(x, y):
    import torch

    output = torch.empty_like(x)
    n = output.numel()
    add[(triton.cdiv(n, 1024),)](x, y, output, n, BLOCK=1024)
    return output
