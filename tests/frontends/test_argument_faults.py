"""An item of a job comment whose value can't be had is marked where it stands, whatever the kernel's language."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.marks import marks
from tests.support.workbench import workbench
from tile_lsp.ide.diagnostics import diagnostics
from tile_lsp.model.location import Span

VENVS = Path(__file__).parents[2] / "build" / "venvs"
CUTILE = """
import cuda.tile as ct

def fails():
    return 1 // 0

@ct.kernel
def k(x, n: ct.Constant[int]):
    ct.store(x, (0,), ct.full((n,), 0, ct.float32))
"""
TRITON = """
import triton
import triton.language as tl

def fails():
    return 1 // 0

@triton.jit
def k(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), 0)
"""
NUMBA = """
from numba import cuda

def fails():
    return 1 // 0

@cuda.jit
def k(x, n):
    x[0] = n
"""
MLIR = NUMBA.replace("from numba", "from numba_cuda_mlir")
DIVISION = "ZeroDivisionError: division by zero"
LANGUAGES = [
    pytest.param("", CUTILE, "x=f32[64]", id="cutile"),
    pytest.param("triton-3.9", TRITON, "x=*fp32", id="triton"),
    pytest.param("numba", NUMBA, "x=float32[::1]", id="numba"),
    pytest.param("mlir", MLIR, "x=float32[::1]", id="numba_mlir"),
]


def python_of(venv: str) -> str:
    python = VENVS / venv / "bin" / "python" if venv else Path(sys.executable)
    if not python.exists():
        pytest.skip(f"{venv} is not here: make venvs")
    return str(python)


def above(kernel: str, *comments: str) -> str:
    head, decorator, rest = kernel.rpartition("\n@")
    return f"{head}\n{''.join(f'# tile-lsp: {comment}{chr(10)}' for comment in comments)}{decorator.strip()}{rest}"


@pytest.mark.parametrize(("venv", "kernel", "x"), LANGUAGES)
async def test_a_value_that_can_not_be_computed(tmp_path, venv: str, kernel: str, x: str):
    async with workbench(tmp_path, {}, python=python_of(venv), targets=["sm_90"]) as bench:
        text = above(kernel, f"{x} n==1/0")
        for version in (text, f"# what moves the comment\n{text}"):
            ((source, message),) = await marks(bench, "a.py", version)
            assert (source, message.partition(" (in")[0]) == ("=1/0", DIVISION)
        both = await marks(bench, "b.py", above(kernel, f"{x} n==1/0", f"{x} n==16", f"n==2//0 {x}"))
        assert [source for source, _ in both] == ["=1/0", "=2//0"]
        within = await marks(bench, "c.py", above(kernel, f"{x} n==fails()"))
        assert [source for source, _ in within] == ["1 // 0"]


async def test_a_constant_of_triton_needs_no_sign(tmp_path):
    async with workbench(tmp_path, {}, python=python_of("triton-3.9"), targets=["sm_90"]) as bench:
        ((source, message),) = await marks(bench, "a.py", above(TRITON, "x=*fp32 n=1/0"))
        assert (source, message) == ("1/0", f"{DIVISION} (in `1 / 0`, of an argument)")


@pytest.mark.parametrize(("venv", "kernel", "x"), LANGUAGES)
async def test_a_value_of_a_settings_file(tmp_path, venv: str, kernel: str, x: str):
    (tmp_path / "tile-lsp.toml").write_text("[kernels.k.arguments]\nn = '=1/0'\n")
    settings = {"targets": ["sm_90"], "kernels": {"k": {"arguments": {"n": "=1/0"}}}}
    async with workbench(tmp_path, {}, python=python_of(venv), **settings) as bench:
        ((source, message),) = await marks(bench, "a.py", above(kernel, x))
        assert (source, message.partition(" (in")[0]) == ("k", DIVISION)
        (there,) = diagnostics(bench.session.snapshot())[bench.path("tile-lsp.toml")]
        assert there.span == Span(2, 0, 2, 1)
        assert there.message.startswith(DIVISION)


@pytest.mark.parametrize(("venv", "kernel", "x"), LANGUAGES)
async def test_a_parameter_of_the_function_that_makes_the_kernel(tmp_path, venv: str, kernel: str, x: str):
    head, _, rest = kernel.rpartition("\n@")
    made = "".join(f"    {line}\n" for line in f"@{rest}".replace("n: ct.Constant[int]", "m").splitlines())
    made = made.replace(", n)", ")").replace(", n: tl.constexpr)", ")").replace(", m)", ")")
    text = f"{head}\ndef make(n):\n    # tile-lsp: {x} n=1/0\n{made}    return k\n"
    async with workbench(tmp_path, {}, python=python_of(venv), targets=["sm_90"]) as bench:
        assert await marks(bench, "a.py", text) == [("1/0", DIVISION)]
