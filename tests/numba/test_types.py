"""What a hover says, through the real compiler: the cursor stands where `‸` does."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAXPY = """
# tile-lsp: a=float32 x=float32[::1] y=float32[::1]
@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        t = a * x[i] + y[i]
        y[i] = t * 0.5
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("def saxpy(", "‸a, x", "a: float32"),
        ("def saxpy(a, ", "‸x, y", "x: array(float32, 1d, C)"),
        ("    ", "‸i = cuda", "i: int64"),
        ("i = ", "cuda.‸grid(1)", "cuda.grid(1): int64"),
        ("if ", "‸i < y", "i: int64"),
        ("if i ", "‸< y", "i < y.size: bool"),
        ("t = ", "‸a * x[i]", "a: float32"),
        ("t = a ", "‸* x[i]", "a * x[i]: float32"),
        ("t = a * ", "x‸[i] + y", "x[i]: float32"),
        ("t = a * x[i] ", "‸+ y[i]", "a * x[i] + y[i]: float32"),
        ("        ", "‸t = a", "t: float32"),
        ("y[i] = ", "‸t * 0.5", "t: float32"),
        ("y[i] = t ", "‸* 0.5", "t * 0.5: float64"),
    ],
)
async def test_every_name_and_expression(numba, before: str, after: str, expected: str):
    plain = before + after.replace("‸", "")
    assert SAXPY.count(plain) == 1
    assert (await numba.hover(SAXPY.replace(plain, before + after))).split("\n")[0] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # Versions of one name, each with the type that it has there.
        (
            """
            # tile-lsp: x=float32[::1]
            @cuda.jit
            def k(x):
                v = 1
                x[0] = ‸v
                v = x[1]
                x[2] = v
            """,
            "v: int64",
        ),
        (
            """
            # tile-lsp: x=float32[::1]
            @cuda.jit
            def k(x):
                v = 1
                x[0] = v
                v = x[1]
                x[2] = ‸v
            """,
            "v: float32",
        ),
        # Assignments that unpack, loops, and augmented ones.
        (
            """
            # tile-lsp: x=float64[:,:]
            @cuda.jit
            def k(x):
                rows, ‸columns = x.shape
                x[0, 0] = columns
            """,
            "columns: int64",
        ),
        (
            """
            # tile-lsp: x=complex64[:]
            @cuda.jit
            def k(x):
                for ‸z in x:
                    x[0] += z
            """,
            "z: complex64",
        ),
        (
            """
            # tile-lsp: x=float32[::1]
            @cuda.jit
            def k(x):
                total = float32(0)
                ‸total += x[0]
                x[1] = total
            """,
            "total: float32",
        ),
        # Arrays in shared and local memory.
        (
            """
            TILE = 8
            # tile-lsp: x=float32[::1]
            @cuda.jit
            def k(x):
                ‸tile = cuda.shared.array((TILE, 2 * 4), int32)
                tile[0, 0] = x[0]
                x[1] = tile[0, 1]
            """,
            "tile: array(int32, 2d, C)",
        ),
        (
            """
            # tile-lsp: x=float32[::1]
            @cuda.jit
            def k(x):
                own = cuda.local.array(4, dtype=types.float16)
                own[0] = x[0]
                x[0] = own‸[0]
            """,
            "own[0]: float16",
        ),
        # A captured value, as the comment binds it; a tuple.
        (
            """
            def make(scale):
                # tile-lsp: x=float32[::1] scale=2.5
                @cuda.jit
                def k(x):
                    x[0] *= ‸scale
                return k
            k3 = make(3)
            """,
            "scale: float64",
        ),
        (
            """
            # tile-lsp: x=float32[::1] t=(int32,float64)
            @cuda.jit
            def k(x, t):
                x[0] = t‸[1]
            """,
            "t[1]: float64",
        ),
        # Columns count characters of more than one byte.
        (
            """
            # tile-lsp: x=float32[::1]
            @cuda.jit
            def k(x):
                größe = x[0]; x[1] = ‸größe
            """,
            "größe: float32",
        ),
        # Records, and what an expression of the module says.
        (
            """
            pair = np.dtype([("left", np.int16), ("right", np.float64)])
            # tile-lsp: x==types.Array(numba_type,1,'C')
            @cuda.jit
            def k(x):
                x[0].right = x[0].‸left
            from numba.np import numpy_support
            numba_type = numpy_support.from_dtype(pair)
            """,
            "x[0].left: int16",
        ),
    ],
)
async def test_the_type_under_the_cursor(numba, code: str, expected: str):
    assert (await numba.hover(code)).split("\n")[0] == expected


HELPERS = """
@cuda.jit(device=True)
def square(v):
    w = v * v
    return w


@cuda.jit(device=True)
def sum_of_squares(a, b):
    return square(a) + square(b)
"""


async def test_device_functions_of_another_file_are_typed_for_each_way_there(numba):
    code = """
    from helpers import sum_of_squares

    # tile-lsp: x=float32[::1] n=int32[::1]
    @cuda.jit
    def k(x, n):
        x[0] = sum_of_squares(x[1], n[0])
    """
    name = await numba.open(code, helpers=HELPERS)
    records = numba.bench.kernel(name).inference.types
    found = [(record.type, [place.member for place in record.chain]) for record in records if record.name == "w"]
    stores = sorted({(type_, len(members), members[0], members[-1]) for type_, members in found})
    assert stores == [
        ("float32", 3, "helpers/square", f"{name.removesuffix('.py')}/k"),
        ("int64", 3, "helpers/square", f"{name.removesuffix('.py')}/k"),
    ]
    assert {"helpers/square", "helpers/sum_of_squares"} <= set(numba.bench.kernel(name).inference.reached)


@pytest.mark.parametrize(
    "code",
    [
        "@cuda.jit\ndef k(x): x[0] = 1\n",
        "@cuda.jit()\ndef k(x): x[0] = 1\n",
        "from numba.cuda import jit\n@jit\ndef k(x): x[0] = 1\n",
        "import numba.cuda as nc\n@nc.jit(fastmath=True)\ndef k(x): x[0] = 1\n",
        "kernel = cuda.jit(opt=False)\n@kernel\ndef k(x): x[0] = 1\n",
        "@cuda.jit('void(float32[::1])')\ndef k(x): x[0] = 1\n",
        "@cuda.jit([types.void(float32[::1]), (float32[::1],)])\ndef k(x): x[0] = 1\n",
        "def f(x): x[0] = 1\nk = cuda.jit(f)\n",
        "class Ops:\n    @staticmethod\n    @cuda.jit\n    def k(x): x[0] = 1\n",
        "def make():\n    @cuda.jit\n    def k(x): x[0] = 1\n    return k\nmade = make()\n",
        "@cuda.jit(device=True)\ndef helper(x): return x\n\n@cuda.jit\ndef k(x): x[0] = helper(1)\n",
        "@cuda.jit\ndef helper(x): return x\n\n@cuda.jit\ndef k(x): x[0] = helper(1)\n",
    ],
)
async def test_what_is_a_kernel(numba, code: str):
    name = await numba.open(code)
    (kernel,) = numba.bench.session.snapshot().files[numba.bench.path(name)].kernels
    assert kernel.frontend == "numba"
    assert kernel.faults == ()
    assert kernel.jobs[0].job.arguments[0].spec == "float32[::1]"
    assert any(record.type == "array(float32, 1d, C)" for record in kernel.inference.types)
