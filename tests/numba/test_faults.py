"""What is wrong with a kernel: all of it at once, each at its range, called from the ranges around it."""

from __future__ import annotations

import pytest

from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("line", "message", "source"),
    [
        ('x[0] = x + "b"', "+ is not defined for (array(float32, 1d, C), 'b')", 'x + "b"'),
        ("x[0] = undefined", "this name is not defined", "undefined"),
        ("x[0] = x.nothing", "Unknown attribute 'nothing' of type array(float32, 1d, C)", "x.nothing"),
        ("return x[0]", "a kernel returns nothing, and this is float32", "return x[0]"),
        ('x["a"] = 1', "setitem takes no (array(float32, 1d, C), 'a', 1)", 'x["a"]'),
        ("x[0] = max(x[0], 'a')", "max takes no (float32, 'a')", "max(x[0], 'a')"),
    ],
)
async def test_at_its_range(numba, line: str, message: str, source: str):
    code = f"""
    # tile-lsp: x=float32[::1]
    @cuda.jit
    def k(x):
        {line}
    """
    assert await numba.faults(code) == [(message, [source])]


async def test_all_at_once_into_device_functions_with_the_types_that_there_are(numba):
    helpers = """
    @cuda.jit(device=True)
    def inner(x, y):
        return x + y

    @cuda.jit(device=True)
    def outer(x, y):
        return inner(x, y) * 2
    """
    code = """
    from faulty import inner, outer

    # tile-lsp: x=float32[::1]
    @cuda.jit
    def k(x):
        good = x[0] * 2
        x[1] = outer(x[0], "text")
        x[2] = missing
        x[3] = x + "b"
        x[4] = good
    """
    found = await numba.faults(code, faulty=helpers)
    assert found == [
        ("this name is not defined", ["missing"]),
        ("+ is not defined for (float32, 'text')", ["x + y", "inner(x, y)", 'outer(x[0], "text")']),
        ("+ is not defined for (array(float32, 1d, C), 'b')", ['x + "b"']),
    ]
    name = await numba.open(code, faulty=helpers)
    assert numba.bench.types_of(name, "good") == {"float64"}


@pytest.mark.parametrize("lines", ["x[0] = nope(1)", "b = nope(1); c = b + 1; x[0] = c"])
async def test_what_has_no_type_because_of_an_error_is_no_second_one(numba, lines: str):
    code = f"# tile-lsp: x=float32[::1]\n@cuda.jit\ndef k(x):\n    {lines}\n"
    assert await numba.faults(code) == [("this name is not defined", ["nope"])]


RECURSIVE = """
@cuda.jit(device=True)
def down(n):
    if n < 1:
        return n
    return n + down(n - 1)


# tile-lsp: x=int64[::1]
@cuda.jit
def k(x):
    x[0] = down({argument})
"""


@pytest.mark.parametrize("argument", ["5", "x[1]", "int64(5)", "int32(x[1])"])
async def test_recursion_has_types_whatever_it_is_begun_with(numba, argument: str):
    name = await numba.open(RECURSIVE.format(argument=argument).replace("int64(", "types.int64("))
    assert not numba.bench.kernel(name).faults
    assert numba.bench.types_of(name, "n")


async def test_recursion_into_other_types_has_no_code_and_says_so(numba):
    name = await numba.open(RECURSIVE.format(argument="5"))
    shown = await numba.bench.session.artifact(numba.bench.path(name), "k", Stage.PTX)
    assert isinstance(shown, Fault)
    assert shown.message.startswith("numba-cuda generates no code for a function that calls itself")
    assert numba.sources(name, shown) == ["down(n - 1)"]
    name = await numba.open(RECURSIVE.format(argument="types.int64(5)"))
    assert "call.uni" in (await numba.bench.show(name, Stage.PTX)).text


@pytest.mark.parametrize(
    ("body", "message", "source"),
    [
        (
            "s = cuda.shared.array(100000, float32); s[0] = x[0]; cuda.syncthreads(); x[0] = s[cuda.threadIdx.x]",
            "400000 bytes of shared memory, and a block has 232448 at most",
            [],
        ),
    ],
)
async def test_what_only_the_assembler_finds(numba, body: str, message: str, source: list[str]):
    name = await numba.open(f"# tile-lsp: x=float32[::1]\n@cuda.jit\ndef k(x):\n    {body}\n")
    bench = numba.bench
    shown = await bench.session.artifact(bench.path(name), "k", Stage.SASS)
    assert isinstance(shown, Fault)
    assert (shown.message, numba.sources(name, shown)) == (message, source)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x[0] = a * 0.5", [("a * 0.5", "`0.5` is a Python float, which is float64; `float32(0.5)` stays in float32")]),
        ("x[0] = a * SCALE", [("a * SCALE", "`SCALE` is a Python float, which is float64; `float32(SCALE)` stays in")]),
        ("x[0] = max(a, 0.0)", [("max(a, 0.0)", "`0.0` is a Python float, which is float64")]),
        ("x[0] = a * n", [("a * n", "float32 and int64 meet in float64; `float32(n)` stays in float32")]),
        ("x[0] = a * float32(0.5)", []),
        ("x[0] = d * 0.5", []),
    ],
)
async def test_doubles_that_were_not_meant(numba, line: str, said: list[tuple[str, str]]):
    name = await numba.open(f"""
    SCALE = 2.0
    # tile-lsp: x=float32[::1] a=float32 d=float64 n=int64
    @cuda.jit
    def k(x, a, d, n):
        {line}
    """)
    remarks = numba.bench.kernel(name).inference.remarks
    assert [numba.sources(name, remark)[0] for remark in remarks] == [source for source, _ in said]
    for remark, (_, words) in zip(remarks, said, strict=True):
        assert remark.message.startswith("computed in float64: ")
        assert words in remark.message
