"""What inference says of a kernel: types at exact ranges, chains of calls, listings, faults of the compiler."""

from __future__ import annotations

import pytest

from tests.support.workers import Bench, spots, types_of
from tile_lsp.model.outcome import FaultKind

pytestmark = pytest.mark.asyncio(loop_scope="module")

SQUARE = "a=f16[512,512] b=f16[512,512] c=f32[512,512] T=64"

TWO_TYPES = """
def twice(x):
    y = x + x
    return y

@ct.kernel
def kernel(a, b, c, T: ct.Constant[int]):
    left = ct.load(a, (0, 0), (T, 32))
    right = ct.load(b, (0, 0), (32, T))
    product = ct.matmul(twice(left), twice(right))
    ct.store(c, (0, 0), product.astype(ct.float32))
"""


async def test_names_and_expressions_have_types_at_their_ranges(bench: Bench):
    inference = await bench.infer(TWO_TYPES, SQUARE)
    assert types_of(inference, "left") == ["Tile[float16,(64,32)]"]
    assert types_of(inference, "T", "param") == ["Tile[int32,()] = 64"]
    [array] = [r for r in inference.types if r.name == "a" and r.kind == "param"]
    assert array.type == "Array[float16,(?,?):(?,?)]"
    assert dict(array.facts)["shape"] == "(512, 512)"
    assert spots(array.chain) == ["main/kernel:2:11-12"]
    [load] = [r for r in inference.types if r.kind == "expr" and spots(r.chain) == ["main/kernel:3:11-38"]]
    assert load.type == "Tile[float16,(64,32)]"
    [shape] = [r for r in inference.types if r.kind == "expr" and spots(r.chain) == ["main/kernel:3:30-37"]]
    assert shape.constant == "(64, 32)"


async def test_a_helper_used_at_two_types_has_both_each_with_its_caller(bench: Bench):
    inference = await bench.infer(TWO_TYPES, SQUARE)
    found = [(r.type, spots(r.chain)) for r in inference.types if r.name == "y" and r.kind == "store"]
    assert found == [
        ("Tile[float16,(64,32)]", ["main/twice:2:4-5", "main/kernel:5:24-35"]),
        ("Tile[float16,(32,64)]", ["main/twice:2:4-5", "main/kernel:5:37-49"]),
    ]
    assert types_of(inference, "x", "param") == ["Tile[float16,(64,32)]", "Tile[float16,(32,64)]"]
    assert inference.reached == ("main/kernel", "main/twice")


async def test_columns_count_bytes_and_static_loops_say_a_thing_once(bench: Bench):
    inference = await bench.infer(
        """
        @ct.kernel
        def kernel(é, T: ct.Constant[int]):
            日本 = "é日本"; x = ct.load(é, (0,), (T,))
            for i in ct.static_iter(range(3)):
                y = x + 1
                z = i
        """,
        "é=f32[64] T=16",
    )
    assert [spots(r.chain) for r in inference.types if r.name == "x" and r.kind == "store"] == [["main/kernel:4:4-5"]]
    assert [spots(r.chain) for r in inference.types if r.name == "é" and r.kind == "load"] == [["main/kernel:4:16-18"]]
    assert types_of(inference, "y") == ["Tile[float32,(16)]"]
    assert types_of(inference, "z") == [f"Tile[int32,()] = {i}" for i in range(3)]


async def test_listings_hold_no_line_numbers_and_a_source_for_each_line(bench: Bench):
    inference = await bench.infer(TWO_TYPES, SQUARE)
    for artifact in (inference.hir, inference.typed):
        assert artifact is not None
        lines = artifact.text.splitlines()
        assert len(artifact.lines) == len(lines)
        assert "# Line" not in artifact.text
        assert " at 0x" not in artifact.text
    assert inference.hir.text.startswith("def kernel(a, b, c, T):\n")
    assert "\ndef twice(x):\n" in inference.hir.text
    [mma] = [i for i, line in enumerate(inference.typed.text.splitlines()) if "mma(" in line]
    assert spots(inference.typed.lines[mma][0]) == ["main/kernel:5:14-50"]


@pytest.mark.parametrize(
    ("body", "code", "words", "where"),
    [
        ("x = [i for i in range(3)]", "UnsupportedSyntaxError", "", ["main/kernel:3:8-29"]),
        ("x = ct.load(a, (0, 0), (T, T)) + nothing", "UnsupportedSyntaxError", "nothing", ["main/kernel:3:37-44"]),
        ("x = ct.load(a, (0, 0), (T, 48))", "TypeCheckingError", "power of two", ["main/kernel:3:8-35"]),
        ("ct.static_assert(T == 7, f'T is {T}')", "StaticAssertionError", "T is 64", ["main/kernel:3:4-41"]),
        ("x = twice(a)", "TypeCheckingError", "", ["main/twice:2:8-13", "main/kernel:3:8-16"]),
        (
            "x = ct.static_eval(1 // (T - T))",
            "StaticException",
            "ZeroDivisionError",
            ["main/kernel:3:23-35", "main/kernel:3:8-36"],
        ),
    ],
)
async def test_an_error_is_at_its_range_with_the_calls_that_led_there(bench: Bench, body, code, words, where):
    source = f"""
def twice(x):
    y = x + x
    return y

@ct.kernel
def kernel(a, b, c, T: ct.Constant[int]):
    {body}
"""
    fault = await bench.fault(source, SQUARE)
    assert fault.kind is FaultKind.USER
    assert words in fault.message
    assert (fault.code, spots(fault.chain)) == (code, where)


async def test_a_recursion_that_never_ends_is_the_compiler_s_to_refuse(bench: Bench):
    inference = await bench.infer(
        """
        def down(x, n):
            return down(x, n - 1) + 1 if n > 0 else x

        @ct.kernel
        def kernel(a, n: ct.Constant[int]):
            x = down(ct.load(a, (0,), (16,)), n)
        """,
        "a=f32[64] n=100000",
    )
    [fault] = inference.faults
    assert "recursion depth" in fault.message
    assert spots(fault.chain) == ["main/down:2:11-25", "main/kernel:3:8-40"]
    assert set(types_of(inference, "x", "param")) == {"Tile[float32,(16)]"}
    assert len(types_of(inference, "n", "param")) < 24


async def test_the_end_of_a_deep_recursion_has_its_types(bench: Bench):
    inference = await bench.infer(
        """
        def down(x, n):
            if n > 0:
                return down(x, n - 1)
            last = x.astype(ct.float64)
            return last

        @ct.kernel
        def kernel(a):
            y = down(ct.load(a, (0,), (16,)), 100)
        """,
        "a=f32[64]",
    )
    assert not inference.faults
    assert types_of(inference, "last") == ["Tile[float64,(16)]"]


async def test_types_found_before_an_error_stay(bench: Bench):
    inference = await bench.infer(
        """
        @ct.kernel
        def kernel(a, b, c, T: ct.Constant[int]):
            x = ct.load(a, (0, 0), (T, T))
            y = x.nothing
        """,
        SQUARE,
    )
    assert inference.faults
    assert types_of(inference, "x") == ["Tile[float16,(64,64)]"]
    assert inference.hir is not None
    assert inference.typed is None


async def test_a_message_names_no_line_of_normalised_text(bench: Bench):
    fault = await bench.fault(
        """
        @ct.kernel
        def kernel(a, b, c, T: ct.Constant[int]):
            x = ct.load(a, (0, 0), (T, T))
            if a.shape[0] > 3:
                x = ct.load(a, (0, 0), (T, 32))
            ct.store(c, (0, 0), x)
        """,
        SQUARE,
    )
    assert "depends on path taken" in fault.message
    assert "line" not in fault.message


async def test_what_was_printed_while_loading_is_kept(bench: Bench):
    inference = await bench.infer(
        """
        SHOWN = print("loading", "é")
        @ct.kernel
        def kernel(a):
            x = a.shape[0]
        """,
        "a=f16[64]",
    )
    assert not inference.faults
    assert inference.output == "loading é\n"
