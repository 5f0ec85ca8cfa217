"""Types that the text doesn't say stand beside the names."""

from __future__ import annotations

import pytest

from tests.cuda.conftest import Cuda
from tile_lsp.ide.inlay_hints import inlay_hints

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = """\
    enum Mode { ONE, TWO };
    struct P { unsigned size; const float *data; };
    template <typename T>
    __global__ void k(T *x, unsigned n) {
        __shared__ float tile[32];
        unsigned int i = threadIdx.x, j;
        float f = i;
        auto g = f * 2;
        const auto *p = x;
        T t = x[i];
        unsigned m = n;
        long long *q = nullptr;
        j = 4;
        g = tile[j];
    }
    void run(int *x) { k<<<1, 32>>>(x, 3u); }
"""


async def test_what_is_written_is_not_said_again(cuda: Cuda):
    name = await cuda.open(CODE)
    hints = inlay_hints(cuda.bench.session.snapshot(), cuda.bench.path(name), 1, 99)
    assert [(hint.line, hint.label) for hint in hints if hint.kind == "type"] == [
        (8, ": float"),
        (9, ": int const *"),
        (10, ": int"),
    ]
    assert cuda.bench.types_of(name, "f") == {"float"}
