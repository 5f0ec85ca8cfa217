"""Compilers that abort, flood, or take for ever disturb nothing else."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.patience import PATIENCE
from tests.support.workbench import Workbench, workbench
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.stage import Stage

from .carets import write
from .conftest import VENVS, VERSIONS

pytestmark = pytest.mark.asyncio(loop_scope="module")

GOOD = """

# tile-lsp: x_ptr=*fp32
@triton.jit
def good(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x)
"""


async def test_an_abort_of_the_compiler_is_a_fault_with_its_last_words(bench: Workbench):
    text = """\
@triton.jit
def k(x_ptr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("add.f32 $0, $1, $9;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(x_ptr + at, y)
"""
    await write(bench, "abort.py", text + GOOD)
    shown = await bench.session.artifact(bench.path("abort.py"), "k", Stage.SASS)
    assert isinstance(shown, Fault)
    assert shown.kind is FaultKind.ENVIRONMENT
    assert "LLVM ERROR" in shown.message
    assert bench.types_of("abort.py", "y", "k") == {"tensor<64xfp32>"}
    assert (await bench.show("abort.py", Stage.SASS, "good")).text


async def test_a_flood_of_output_is_no_part_of_the_protocol(bench: Workbench):
    text = """\
import os
for i in range(20000):
    os.write(1, b'{"inference": {}}\\n')
    os.write(2, b"x" * 100 + b"\\n")
SIDE = tl.constexpr(16 if i else 0)


@triton.jit
def k(x_ptr):
    tl.static_print("seen", SIDE)
    at = tl.arange(0, SIDE)
    tl.store(x_ptr + at, at)
"""
    await write(bench, "flood.py", text + GOOD)
    assert bench.types_of("flood.py", "at", "k") == {"tensor<16xint32>"}
    assert bench.types_of("flood.py", "x", "good") == {"fp32"}


HANGS = """\
import time

from triton.backends.nvidia.compiler import CUDABackend


def spoil():
    CUDABackend.make_llir = lambda *arguments: time.sleep(3600)
    return 64


SIDE = tl.constexpr(spoil())


@triton.jit
def slow(x_ptr):
    at = tl.arange(0, SIDE)
    tl.store(x_ptr + at, tl.load(x_ptr + at))
"""


@pytest.mark.skipif(not VERSIONS, reason="no triton: `make test` installs it")
async def test_a_compile_without_end_ends_at_its_limit_and_the_rest_of_the_file_answers(tmp_path):
    python = str(VENVS / VERSIONS[-1] / "bin" / "python")
    limits = {"inference": PATIENCE, "tool": 3}
    async with workbench(tmp_path, {}, python=python, targets=["sm_90"], timeouts=limits) as bench:
        await write(bench, "slow.py", HANGS + GOOD)
        slow = asyncio.ensure_future(bench.session.artifact(bench.path("slow.py"), "slow", Stage.SASS))
        await write(bench, "slow.py", HANGS + GOOD.replace("x)", "x + 1)"))
        assert bench.types_of("slow.py", "x", "good") == {"fp32"}
        fault = await slow
        assert isinstance(fault, Fault)
        assert "Generating code for slow took longer than 3 s and was stopped" in fault.message
        assert fault.help == "set tile-lsp.timeouts.tool to more seconds"
        assert bench.types_of("slow.py", "at", "slow") == {"tensor<64xint32>"}
