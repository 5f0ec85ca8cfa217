"""Code: what runs, what it comes from, and what has to be compiled for it."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tile_lsp.analysis import cubin
from tile_lsp.analysis.resources import usage
from tile_lsp.model.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

KERNEL = """
@cuda.jit(device=True)
def weigh(v, w):
    return v / w


# tile-lsp: x=float32[::1] y=float32[::1] out=float32[::1]
@cuda.jit
def k(x, y, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[i] * y[i]
    cuda.syncthreads()
    out[i] = weigh(tile[63 - cuda.threadIdx.x], y[0])
"""
ARGUMENTS = "(float32[::1], float32[::1], float32[::1])"


def rows(shown, numba, name: str, wanted: str) -> list[list[str]]:
    """The sources of each line of a listing that holds a word."""
    view = numba.bench.kernel(name)
    found = []
    for line, chains in zip(shown.text.split("\n"), shown.lines, strict=False):
        if wanted in line and chains:
            found.append([source_at(place) for place in view.positions.chain(chains[0])])
    return found


def source_at(place) -> str:
    line = Path(place.path).read_text(encoding="utf-8").split("\n")[place.span.line - 1].encode()
    return line[place.span.column : place.span.end_column].decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("comment", "options", "capability"),
    [
        ("target=sm_90", {}, "9.0"),
        ("target=sm_100", {}, "10.0"),
        ("target=sm_80", {}, "8.0"),
        ("target=sm_90 fastmath=True", {"fastmath": True}, "9.0"),
        ("target=sm_90 lto=False", {"lto": False}, "9.0"),
        ("target=sm_90 opt=False", {"opt": False}, "9.0"),
        ("target=sm_90 lineinfo=True", {"lineinfo": True}, "9.0"),
        ("target=sm_90 max_registers=16", {"max_registers": 16}, "9.0"),
        ("target=sm_90 launch_bounds=(64,16)", {"launch_bounds": [64, 16]}, "9.0"),
    ],
)
async def test_the_code_is_what_a_launch_would_run(
    numba, python: str, tmp_path: Path, comment: str, options: dict[str, object], capability: str
):
    name = await numba.open(KERNEL.replace("out=float32[::1]", f"out=float32[::1] {comment}"))
    ours = await numba.bench.show(name, Stage.CUBIN, "k")
    path, made = numba.bench.path(name), tmp_path / "k.cubin"
    command = [python, str(Path(__file__).parent / "real.py"), path, "k", ARGUMENTS, json.dumps(options), capability]
    await asyncio.to_thread(subprocess.run, [*command, str(made)], check=True)
    own, real = cubin.read(ours.data), cubin.read(made.read_bytes())
    # Symbols differ: Numba's hold a digest of all options, and those that lowering does not read share its result.
    assert sorted(function.code for function in own.functions) == sorted(function.code for function in real.functions)
    assert usage(own)[0].registers == usage(real)[0].registers


async def test_two_loads_of_one_line_are_told_apart(numba):
    name = await numba.open(KERNEL)
    sass = await numba.bench.show(name, Stage.SASS, "k")
    assert sorted(rows(sass, numba, name, "LDG")) == [["x[i]"], ["y[0]"], ["y[i]"]]
    ptx = await numba.bench.show(name, Stage.PTX, "k")
    assert sorted(rows(ptx, numba, name, "ld.global")) == [["x[i]"], ["y[0]"], ["y[i]"]]
    llvm = await numba.bench.show(name, Stage.LLVM, "k")
    assert ["x[i] * y[i]"] in rows(llvm, numba, name, "fmul")


async def test_what_is_stored_is_not_where_it_is_stored(numba):
    name = await numba.open(
        """\
        # tile-lsp: x=float32[::1]
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] = i
            total = x[i + 1]
            cuda.syncthreads()
            x[i + 2] = total
        """
    )
    for stage, word in ((Stage.SASS, "STG"), (Stage.PTX, "st.global")):
        places = rows(await numba.bench.show(name, stage, "k"), numba, name, word)
        assert sorted(places) == [["x[i + 2]"], ["x[i]"]], stage


async def test_code_of_device_functions_is_called_from_the_kernel(numba):
    name = await numba.open(KERNEL)
    called = ["v / w", "weigh(tile[63 - cuda.threadIdx.x], y[0])"]
    for stage, word in ((Stage.SASS, "MUFU.RCP"), (Stage.PTX, "div.")):
        assert called in rows(await numba.bench.show(name, stage, "k"), numba, name, word)


@pytest.mark.parametrize(
    "helper",
    [
        "@cuda.jit('float32(float32)', device=True)\ndef helper(v): return v * v",
        "@cuda.jit('float32(float32)', device=True, inline='always')\ndef helper(v): return v * v",
        "@cuda.jit(device=True, forceinline=True)\ndef helper(v): return v * v",
        "def make(n):\n    @cuda.jit(device=True)\n    def inner(v): return v ** n\n    return inner\nhelper = make(2)",
        "@cuda.jit\ndef helper(v): return v * v",
    ],
)
async def test_device_functions_however_they_are_made(numba, helper: str):
    name = await numba.open(f"{helper}\n\n# tile-lsp: x=float32[::1]\n@cuda.jit\ndef k(x): x[0] = helper(x[1])\n")
    sass = await numba.bench.show(name, Stage.SASS, "k")
    assert "FMUL" in sass.text


async def test_listings_have_names_as_people_write_them(numba):
    name = await numba.open(KERNEL)
    sass = await numba.bench.show(name, Stage.SASS, "k")
    assert "\nk:\n" in sass.text
    assert "_ZN" not in sass.text
    ptx = await numba.bench.show(name, Stage.PTX, "k")
    assert ".visible .entry k(" in ptx.text
    assert ".loc" not in ptx.text
    assert str(numba.bench.folder) not in ptx.text
    typed = await numba.bench.show(name, Stage.TYPED, "k")
    assert typed.text.startswith(
        "def k(x: array(float32, 1d, C), y: array(float32, 1d, C), out: array(float32, 1d, C))"
    )
    assert ["weigh(tile[63 - cuda.threadIdx.x], y[0])"] in rows(typed, numba, name, "= call ")


SCALE = """\
from numba import cuda

FACTOR = 2.0


@cuda.jit(device=True)
def twice(v):
    return v * FACTOR


# tile-lsp: x=float32[::1] target=sm_90
@cuda.jit
def scale(x):
    i = cuda.grid(1)
    x[i] = twice(x[i])
"""


async def test_one_inference_for_all_configs_and_none_for_what_means_the_same(tmp_path: Path, python: str):
    async with workbench(tmp_path, {"scale.py": SCALE}, python=python) as bench:
        await bench.open("scale.py")
        assert bench.ran() == {"inferences": 1}
        hints = ("target=sm_80,sm_90,sm_100,sm_120", "target=sm_90 fastmath=True", "target=sm_90 max_registers=32")
        for count, comment in zip((4, 1, 1), hints, strict=True):
            await bench.edit("scale.py", SCALE.replace("target=sm_90", comment))
            views = bench.kernel("scale.py").jobs
            for view in views:
                await bench.show("scale.py", Stage.CUBIN, job=view.job)
            assert bench.ran() == {"codegens": count}
        await bench.edit("scale.py", "# moved\n\n" + SCALE.replace("(x):\n    i", "(x):\n    # said\n    i"))
        await bench.show("scale.py", Stage.CUBIN)
        assert bench.ran() == {}
        await bench.edit("scale.py", SCALE.replace("FACTOR = 2.0", "FACTOR = 3.0"))
        assert bench.ran() == {"inferences": 1}
        await bench.edit("scale.py", SCALE)
        assert bench.ran() == {}


async def test_an_edit_recompiles_the_kernel_that_it_is_in_alone(tmp_path: Path, python: str):
    kernels = "\n\n".join(
        f"# tile-lsp: x=float32[::1] target=sm_90\n@cuda.jit\ndef k{n}(x):\n    x[0] = {n}" for n in range(8)
    )
    text = f"from numba import cuda\n\n\n{kernels}\n"
    async with workbench(tmp_path, {"many.py": text}, python=python) as bench:
        await bench.open("many.py")
        assert bench.ran() == {"inferences": 8}
        await bench.edit("many.py", text.replace("x[0] = 5", "x[1] = 5"))
        assert bench.ran() == {"inferences": 1}


async def test_the_same_kernel_makes_the_same_bytes_in_another_process(tmp_path: Path, python: str):
    blobs = []
    for n in range(2):
        async with workbench(tmp_path / str(n), {"scale.py": SCALE}, python=python) as bench:
            await bench.open("scale.py")
            blobs.append((await bench.show("scale.py", Stage.CUBIN)).data)
    assert blobs[0] == blobs[1]
