"""What is assumed of a kernel that nobody said anything about: roles, ranks, dtypes and sizes, with the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MATMUL = """
ConstInt = ct.Constant[int]

@ct.kernel
def matmul(A, B, C, tm: ConstInt, tn: ConstInt, tk: ConstInt):
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(tm, tk))):
        a = ct.load(A, index=(ct.bid(0), k), shape=(tm, tk))
        b = ct.load(B, index=(k, ct.bid(1)), shape=(tk, tn))
        acc = ct.mma(a, b, acc)
    ct.store(C, index=(ct.bid(0), ct.bid(1)), tile=acc.astype(C.dtype))
"""

CASES = {
    "matrix product": (
        MATMUL,
        "A=f16[?:16,?:16] B=f16[?:16,?:16] C=f16[?:16,?:16] tm=128 tn=128 tk=64",
    ),
    "a result that is not cast keeps the accumulator's dtype": (
        MATMUL.replace(".astype(C.dtype)", ""),
        "A=f16[?:16,?:16] B=f16[?:16,?:16] C=f32[?:16,?:16] tm=128 tn=128 tk=64",
    ),
    "elementwise": (
        """
        @ct.kernel
        def add(a, b, c, n: ct.Constant[int]):
            i = ct.bid(0)
            ct.store(c, (i,), ct.load(a, (i,), (n,)) + ct.load(b, (i,), (n,)))
        """,
        "a=f32[?:16] b=f32[?:16] c=f32[?:16] n=1024",
    ),
    "comparisons give bool, positions of maxima i32": (
        """
        @ct.kernel
        def compare(a, b, less, at, n: ct.Constant[int]):
            x, y = ct.load(a, (0, 0), (n, n)), ct.load(b, (0, 0), (n, n))
            ct.store(less, (0, 0), x < y)
            ct.store(at, (0,), ct.argmax(x, axis=1))
        """,
        "a=f32[?:16,?:16] b=f32[?:16,?:16] less=bool[?:16,?:16] at=i32[?:16] n=64",
    ),
    "what indexes an array is integral": (
        """
        @ct.kernel
        def pick(x, indices, y, n: ct.Constant[int]):
            at = ct.gather(indices, ct.arange(n, dtype=ct.int32)) + 1
            ct.scatter(y, at, ct.gather(x, at))
        """,
        "x=f32[?:16] indices=i32[?:16] y=f32[?:16] n=1024",
    ),
    "locks and counters": (
        """
        @ct.kernel
        def locked(locks, counts, x):
            while ct.atomic_cas(locks, 0, 0, 1) == 1:
                pass
            ct.atomic_add(counts, 0, 1)
            ct.store(x, (0,), ct.full((16,), 1.0, ct.float32))
        """,
        "locks=i32[?:16] counts=i32[?:16] x=f32[?:16]",
    ),
    "scalars by what they meet": (
        """
        @ct.kernel
        def scaled(x, alpha, shift, first, count: int, rate: float, on: bool):
            i = ct.bid(0) + first
            t = ct.load(x, (i,), (32,)) * alpha + shift
            ct.store(x, (i,), t)
        """,
        "x=f32[?:16] alpha=f32 shift=f32 first=i32 count=i32 rate=f32 on=bool",
    ),
    "through helpers, their defaults and closures": (
        """
        def tile(array, at, size=16):
            def inner(i):
                return ct.load(array, (i, 0), (size, size))
            return inner(at)

        def both(array, at):
            return tile(array, at) + tile(array, at + 1)

        @ct.kernel
        def kernel(x, y):
            ct.store(y, (0, 0), both(x, ct.bid(0)))
        """,
        "x=f32[?:16,?:16] y=f32[?:16,?:16]",
    ),
    "lists of arrays": (
        """
        @ct.kernel
        def each(xs, ys, tm: ct.Constant[int]):
            for i in range(len(xs)):
                ct.store(ys[i], (0, 0), ct.load(xs[i], (0, 0), (tm, tm)))
        """,
        "xs=list[f32[?:16,?:16]] ys=list[f32[?:16,?:16]] tm=64",
    ),
    "tuples": (
        """
        @ct.kernel
        def pair(p, q: tuple[ct.Constant[int], float], out):
            a, n = p
            ct.store(out, (0,), ct.load(a, (n,), (q[0] * 16,)) * q[1])
        """,
        "p=(f32[?:16],i32) q=(1,f32) out=f32[?:16]",
    ),
    "annotations": (
        """
        from __future__ import annotations
        from typing import Annotated
        Static = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0, -1))]
        Big = ct.IndexedWithInt64

        @ct.kernel
        def annotated(s: Static, b: Big[ct.Array], n: ct.ScalarInt64, xs: Annotated[list, ct.ListAnnotation(Big)]):
            ct.store(s, (0, 0), ct.load(b, (0, 0), (16, 16)))
        """,
        "s=f32[1024,1024] b=f32[?:16,?:16] n=i64 xs=list[f32[?:16]]",
    ),
    "constants by type, name and use": (
        """
        @ct.kernel
        def constants(
            x, causal: ct.Constant[bool], EVEN_K: ct.Constant[bool], eps: ct.Constant[float], mode: ct.Constant[str],
            dtype: ct.Constant, GROUP_SIZE_M: ct.Constant[int], extra: ct.Constant, N: ct.Constant[int] = 48,
        ):
            t = ct.load(x, (0,), (16,)).astype(dtype)
            if mode == "sum":
                t = t + eps
            if extra is None:
                t = t + 1
            ct.store(x, (0,), t)
        """,
        "x=f32[?:16] causal=False EVEN_K=True eps=1e-05 mode='sum' dtype=dtype:f32 GROUP_SIZE_M=8 extra=1 N=48",
    ),
    "sizes that have to fit: a reshape keeps the elements": (
        """
        C = ct.Constant[int]

        @ct.kernel
        def split(x, N: C, F0: C, F1: C):
            t = ct.reshape(ct.load(x, (0,), (N,)), (F0, F1))
            ct.store(x, (0,), ct.reshape(t, (N,)))
        """,
        "x=f32[?:16] N=4096 F0=64 F1=64",
    ),
    "sizes that make up a tile by broadcasting": (
        """
        C = ct.Constant[int]

        @ct.kernel
        def outer(x, y, TX: C, TY: C):
            i = ct.arange(TX, dtype=ct.int32)[:, None]
            j = ct.arange(TY, dtype=ct.int32)[None, :]
            ct.scatter(y, (i, j), ct.gather(x, (i, j)))
        """,
        "x=f32[?:16,?:16] y=f32[?:16,?:16] TX=64 TY=64",
    ),
    "scaled product": (
        """
        C = ct.Constant[int]

        @ct.kernel
        def scaled(A, As, B, Bs, out, tm: C, tn: C, tk: C, scale_block: C):
            acc = ct.zeros((tm, tn), ct.float32)
            a, sa = ct.load(A, (0, 0), (tm, tk)), ct.load(As, (0, 0), (tm, tk // scale_block))
            b, sb = ct.load(B, (0, 0), (tk, tn)), ct.load(Bs, (0, 0), (tk // scale_block, tn))
            ct.store(out, (0, 0), ct.mma_scaled(a, sa, b, sb, acc))
        """,
        "A=f8e4m3fn[?:16,?:16] As=f8e8m0fnu[?:16,?:16] Bs=f8e8m0fnu[?:16,?:16] out=f32[?:16,?:16] tk=64 scale_block=32",
    ),
    "views": (
        """
        @ct.kernel
        def viewed(x, y):
            v = x.tiled_view((16, 32))
            M, N = y.shape
            for i in range(v.num_tiles(0)):
                ct.store(y, (i, 0), v.load((i, 0)))
        """,
        "x=f32[?:16,?:16] y=f32[?:16,?:16]",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_assumed(read: Callable, case: str) -> None:
    text, wanted = CASES[case]
    found = read(text).arguments
    words = wanted.replace("mode='sum'", "mode=sum").split(" ")
    expected = {name: spec for name, _, spec in (word.partition("=") for word in words)}
    assert {name: found[name].strip("'") for name in expected} == expected


def test_reasons_name_the_place(read: Callable) -> None:
    details = read(MATMUL).details
    assert details["A"] == "counted in tiles of 2 dimensions at line 8; an operand of ct.mma at line 11"
    assert details["tk"] == "the inner size of a matrix product"


def test_a_helper_in_another_file_is_followed(read: Callable) -> None:
    result = read(
        """
        from helpers import twice
        import shapes

        @ct.kernel
        def kernel(x):
            twice(x, shapes.SIDE)
        """,
        others={
            "helpers.py": """
                import cuda.tile as ct

                def twice(a, side):
                    ct.store(a, (0, 0, 0), ct.load(a, (0, 0, 0), (side, side, side)))
            """,
            "shapes.py": "SIDE = 8\n",
        },
    )
    assert result.arguments == {"x": "f32[?:16,?:16,?:16]"}
    assert result.details["x"] == "indexed with 3 coordinates at helpers.py:5"


def test_what_is_given_decides_what_is_assumed(read: Callable) -> None:
    given = read(MATMUL.replace("@ct.kernel", "# tile-lsp: A=bf16[64,64] tm=32\n@ct.kernel"))
    assert given.arguments["B"] == "bf16[?:16,?:16]"
    assert given.arguments["C"] == "bf16[?:16,?:16]"
    assert given.origins["A"] == "comment"
    assert given.origins["B"] == "assumed"


def test_given_sizes_are_kept_and_others_fit_them(read: Callable) -> None:
    text, _ = CASES["sizes that have to fit: a reshape keeps the elements"]
    result = read(text.replace("@ct.kernel", "# tile-lsp: F0=4\n        @ct.kernel"))
    assert result.arguments == {"x": "f32[?:16]", "N": "256", "F0": "4", "F1": "64"}


def test_alternatives_differ_in_what_was_assumed_alone(read: Callable) -> None:
    (spec,) = read(MATMUL.replace("@ct.kernel", "# tile-lsp: tm=32 C=f32[?,?]\n@ct.kernel")).specs
    assert spec.alternatives
    for alternative in spec.alternatives:
        changed = {one.name for one, other in zip(spec.arguments, alternative, strict=True) if one != other}
        assert changed
        assert changed <= {"A", "B"}


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "x[",
        "return (lambda: x)()(x)[x](x.y.z)",
        "def f(g): return g(g)\n    f(f)",
        "while True:\n        x = (x, x)",
        "x, *y = x.shape\n    ct.load(*y, **{})",
        "for i in x:\n        i = i[i][i]",
        "ct.reshape(ct.load(x, (0,), (0,)), (-1, 0))",
        "\n    ".join(["x = x + x"] * 2000),
    ],
)
def test_any_body_gives_an_argument(read: Callable, body: str) -> None:
    result = read(f"@ct.kernel\ndef kernel(x):\n    {body}\n")
    assert list(result.arguments or {"x": ""}) == ["x"]
