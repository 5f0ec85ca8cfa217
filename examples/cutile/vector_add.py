"""Vector addition: the smallest kernel there is. Hover over any name to see its type."""

import cuda.tile as ct


# tile-lsp: a=f32[1048576] b=f32[1048576] c=f32[1048576] tile=1024
@ct.kernel
def vector_add(a, b, c, tile: ct.Constant[int]):
    """c = a + b; one block adds `tile` elements."""
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(tile,))
    y = ct.load(b, index=(i,), shape=(tile,))
    ct.store(c, index=(i,), tile=x + y)


if __name__ == "__main__":
    import torch

    n, tile = 1 << 20, 1024
    a, b = torch.rand(2, n, device="cuda")
    c = torch.empty_like(a)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(n, tile),), vector_add, (a, b, c, tile))
    torch.testing.assert_close(c, a + b)
    print("vector_add agrees with torch")
