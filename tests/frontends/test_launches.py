"""Arguments from launch sites in the text, as far as they can be read without running anything."""

from __future__ import annotations

from collections.abc import Callable

import pytest

KERNEL = """
import math
import torch

@ct.kernel
def scale(x, y, factor: float, n: ct.Constant[int]):
    ct.store(y, (0, 0), ct.load(x, (0, 0), (n, n)) * factor)
"""


def launch(code: str, arguments: str = "(x, y, 2.0, 32)") -> str:
    return f"{KERNEL}\nif __name__ == '__main__':\n" + "".join(
        f"    {line}\n"
        for line in [*code.split("\n"), f"ct.launch(torch.cuda.current_stream(), (1,), scale, {arguments})"]
    )


@pytest.mark.parametrize(
    ("code", "x", "y"),
    [
        ("x = torch.randn(64, 32, dtype=torch.float16)\ny = torch.empty_like(x)", "f16[64,32]", "f16[64,32]"),
        ("x = torch.randn((64, 32))\ny = torch.empty_like(x, dtype=torch.bfloat16)", "f32[64,32]", "bf16[64,32]"),
        ("M = N = 16\nx = torch.zeros(M, 2 * N)\ny = x.T", "f32[16,32]", "f32[32,16]/strides=(1,32)"),
        ("x, y = torch.rand(2, 8, 4)", "f32[8,4]", "f32[8,4]"),
        ("x, y = (torch.ones(8, 4).half() for _ in range(2))", "f16[8,4]", "f16[8,4]"),
        ("x = torch.ones(2, 3, 4).cuda()\ny = x.view(-1, x.shape[2])\nx = y", "f32[6,4]", "f32[6,4]"),
        ("x = y = torch.randint(0, 9, (8, 8), device='cuda')", "i64[8,8]", "i64[8,8]"),
        ("import numpy as np\nx = np.zeros((4, 4))\ny = np.ones((4, 4), dtype=np.int32)", "f64[4,4]", "i32[4,4]"),
        ("import cupy\nx = y = cupy.empty((4, ct.cdiv(9, 4)), dtype='float32')", "f32[4,3]", "f32[4,3]"),
        ("x = y = torch.empty(2 ** math.ceil(math.log2(100)), 1 << 3)", "f32[128,8]", "f32[128,8]"),
    ],
)
def test_arrays(read: Callable, code: str, x: str, y: str) -> None:
    result = read(launch(code))
    assert result.arguments == {"x": x, "y": y, "factor": "f32", "n": "32"}
    assert set(result.origins.values()) == {"launch"}
    assert result.details["x"].startswith("kernels.py:")


def test_through_functions_of_the_host(read: Callable) -> None:
    result = read(
        KERNEL
        + """
TILE = 16

def run(x, out_dtype=None, tile=TILE):
    if x.ndim != 2:
        raise ValueError("two dimensions")
    y = torch.empty(x.shape, dtype=out_dtype or x.dtype, device=x.device)
    if x.dtype == torch.float16:
        tile *= 2
    arguments = (x, y, 1 / math.sqrt(x.shape[1]), tile)
    ct.launch(torch.cuda.current_stream(), (1, 1), scale, arguments)
    return y

def test():
    run(torch.randn(64, 32, dtype=torch.float16))
"""
    )
    assert result.arguments == {"x": "f16[64,32]", "y": "f16[64,32]", "factor": "f32", "n": "32"}


def test_partial_knowledge_is_used_and_shown_as_assumed(read: Callable) -> None:
    result = read(
        KERNEL
        + """
def run(rows):
    x = torch.empty(rows, 64, dtype=torch.bfloat16)
    ct.launch(torch.cuda.current_stream(), (1,), scale, (x, load(), 0.5, rows))
"""
    )
    assert result.arguments["x"] == "bf16[?:16,?:16]"
    assert result.origins["x"] == "assumed"
    assert result.details["x"].startswith("dtype and rank from kernels.py:")
    assert result.origins["factor"] == "launch"
    assert result.origins["n"] == "assumed"


def test_the_launch_that_tells_most_wins_and_is_not_mixed_with_others(read: Callable) -> None:
    result = read(
        KERNEL
        + """
def a(x):
    ct.launch(torch.cuda.current_stream(), (1,), scale, (x, x, 2.0, 8))

def b():
    x = torch.empty(8, 8, dtype=torch.float64)
    ct.launch(torch.cuda.current_stream(), (1,), scale, (x, x, 2.0, 4))
"""
    )
    assert result.arguments == {"x": "f64[8,8]", "y": "f64[8,8]", "factor": "f32", "n": "4"}


def test_a_kernel_chosen_on_the_way(read: Callable) -> None:
    result = read(
        KERNEL
        + """
def run(flag, kernel=None):
    kernel = scale if flag else other
    x = torch.empty(8, 8)
    ct.launch(torch.cuda.current_stream(), (1,), kernel, (x, x, 2.0, 4))

def other():
    pass
"""
    )
    assert result.arguments["x"] == "f32[8,8]"


@pytest.mark.parametrize("wrapped", ["ct.kernel(f)", "ct.kernel(occupancy=2)(f)"])
def test_a_kernel_made_by_a_call(read: Callable, wrapped: str) -> None:
    result = read(
        f"""
import torch

def f(x):
    ct.store(x, (0,), ct.load(x, (0,), (8,)))

k = {wrapped}

def run():
    ct.launch(torch.cuda.current_stream(), (1,), k, (torch.empty(8),))
"""
    )
    assert result.arguments == {"x": "f32[8]"}


def test_comments_win_over_launches(read: Callable) -> None:
    text = launch("x = y = torch.empty(8, 8)").replace("@ct.kernel", "# tile-lsp: x=f16[?,?]\n@ct.kernel")
    result = read(text)
    assert result.arguments["x"] == "f16[?,?]"
    assert result.arguments["y"] == "f32[8,8]"
    assert result.origins["x"] == "comment"


def test_lists_and_tuples(read: Callable) -> None:
    result = read(
        """
import torch

@ct.kernel
def each(xs, pair):
    ct.store(xs[ct.bid(0)], (0,), ct.load(pair[0], (0,), (8,)) * pair[1])

def run():
    x = torch.empty(8, dtype=torch.float16)
    ct.launch(torch.cuda.current_stream(), (1,), each, ([x, x], (x, 3)))
"""
    )
    assert result.arguments == {"xs": "list[f16[8]]", "pair": "(f16[8],i32)"}


def test_a_launch_that_does_not_fit_is_passed_over(read: Callable) -> None:
    result = read(launch("x = y = torch.empty(8, 8)", "(x, y, 2.0)"))
    assert set(result.origins.values()) == {"assumed", "annotation"}
    result = read(launch("x = y = torch.empty(8, 8)", "(1, x, 2.0, x)"))
    assert result.origins["y"] == "launch"
    assert result.origins["x"] == "assumed"
    assert result.origins["n"] == "assumed"


@pytest.mark.parametrize(
    "code",
    [
        "def f(): return f()\nx = y = f()",
        "x = y = 2 ** 2 ** 2 ** 99",
        "x = y = 1 << 10 ** 12",
        "x = y = [scale, lambda: 3, *unknown]",
        "x = y = 'a' * 10 ** 10",
        "while True:\n    x = y = torch.empty(3) @ torch.empty(3, 3)",
    ],
)
def test_never_raises_and_ends(read: Callable, code: str) -> None:
    assert list(read(launch(code)).arguments) == ["x", "y", "factor", "n"]
