"""numba-cuda-mlir in an environment of its own (`make venvs`): the examples of Numba under its imports, and what it
does its own way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.workbench import Workbench, workbench
from tile_lsp.analysis import cubin
from tile_lsp.model.stage import Stage

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "build" / "venvs" / "mlir" / "bin" / "python"
EXAMPLES = ROOT / "examples" / "numba"


@pytest.fixture(scope="session")
def python() -> str:
    if not PYTHON.exists():
        pytest.skip("numba-cuda-mlir is not here: make venvs")
    return str(PYTHON)


def translated(text: str) -> str:
    def names(match: re.Match[str]) -> str:
        cuda, *others = match[1].split(", ")
        types = f"\nfrom numba_cuda_mlir.types import {', '.join(others)}" if others else ""
        return f"from numba_cuda_mlir import {cuda}{types}"

    return re.sub(r"^from numba import (.*)$", names, text, flags=re.MULTILINE)


def lines_of(bench: Workbench, name: str, kernel: str, artifact) -> set[str]:
    """The source of all linked lines of the kernel's file."""
    view = bench.kernel(name, kernel)
    rows = bench.text(name).split("\n")
    places = (place for row in artifact.lines for chain in row for place in view.positions.chain(chain))
    return {rows[place.span.line - 1].strip() for place in places if place.path == view.path}


KERNELS = {
    "saxpy.py::saxpy": "y[i] = a * x[i] + y[i]",
    "matmul.py::matmul": "total += tile_a[i, inner] * tile_b[inner, j]",
    "stencil.py::heat": "new[i, j] = neighbours(old, i, j) * WEIGHT",
    "reduction.py::block_sum": "",
    "reduction.py::histogram": "",
}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120"])
async def test_every_example(tmp_path: Path, python: str, target: str):
    files = {path.name: translated(path.read_text()) for path in EXAMPLES.glob("*.py")}
    async with workbench(tmp_path, files, python=python) as bench:
        for selector, source in KERNELS.items():
            name, kernel = selector.split("::")
            await bench.open(name)
            bench.session.override(bench.path(name), kernel, f"# tile-lsp: target={target}")
            await bench.session.inferred(bench.path(name))
            view = bench.kernel(name, kernel)
            assert view.frontend == "numba-mlir"
            assert view.inference is not None
            assert view.inference.faults == (), selector
            assert len(view.inference.types) > 10
            for stage in (Stage.TYPED, Stage.MLIR, Stage.LLVM, Stage.PTX, Stage.SASS, Stage.PTX_LLVM):
                shown = await bench.show(name, stage, kernel)
                found = lines_of(bench, name, kernel, shown)
                assert len(found) >= 2, (selector, stage)
                assert source == "" or source in found, (selector, stage)
                assert "_Z1" not in shown.text, (selector, stage)
            assert "not verified" not in (await bench.show(name, Stage.LLVM, kernel)).text
            assert "registers" in (await bench.show(name, Stage.RESOURCES, kernel)).text


CODE = """\
from numba_cuda_mlir import cuda


@cuda.jit(device=True)
def weigh(v, w):
    return v / w


# tile-lsp: x=float32[::1] target=sm_90,sm_100
@cuda.jit
def k(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = weigh(x[i], x[0])
"""


async def test_one_inference_for_all_configs_and_none_for_what_means_the_same(tmp_path: Path, python: str):
    async with workbench(tmp_path, {"k.py": CODE}, python=python) as bench:
        await bench.open("k.py")
        assert bench.ran() == {"inferences": 1}
        assert bench.types_of("k.py", "i") == {"int32"}
        helper = [record for record in bench.kernel("k.py").inference.types if record.chain[0].member == "k/weigh"]
        assert {record.type for record in helper} == {"float32"}
        for view in bench.kernel("k.py").jobs:
            await bench.show("k.py", Stage.SASS, job=view.job)
        assert bench.ran()["codegens"] == 2
        await bench.edit("k.py", f"# moved\n\n{CODE}")
        await bench.show("k.py", Stage.SASS)
        assert bench.ran() == {}
        assert "return v / w" in lines_of(bench, "k.py", "k", await bench.show("k.py", Stage.SASS))
        await bench.edit("k.py", CODE.replace("v / w", "v * w"))
        assert bench.ran() == {"inferences": 1}


async def test_line_tables_change_no_code(tmp_path: Path, python: str):
    async with workbench(tmp_path, {"k.py": CODE}, python=python) as bench:
        await bench.open("k.py")
        tracker = bench.session._trackers[bench.path("k.py")]["k"]
        compiler, planned = bench.session._compiler, tracker._plan.jobs[0]
        plain, lined = [await compiler.blob(planned.compilation, name) for name in ("cubin", "lined")]
        codes = [[function.code for function in cubin.read(blob).functions] for blob in (plain, lined)]
        assert codes[0] == codes[1]


async def test_all_errors_at_once_in_the_functions_that_they_are_in(tmp_path: Path, python: str):
    code = CODE.replace("v / w", "v.nothing").replace("        x[i] =", "        x[1] = undefined\n        x[i] =")
    async with workbench(tmp_path, {"k.py": code}, python=python) as bench:
        await bench.open("k.py")
        view = bench.kernel("k.py")
        found = {
            (fault.message, code.split("\n")[view.positions.chain(fault.chain)[0].span.line - 1].strip())
            for fault in view.inference.faults
        }
        assert found == {
            ("this name is not defined", "x[1] = undefined"),
            ("Unknown attribute 'nothing' of type float32", "return v.nothing"),
        }
        assert bench.types_of("k.py", "i") == {"int32"}


async def test_what_is_missing_is_said(tmp_path: Path):
    other = ROOT / "build" / "venvs" / "numba" / "bin" / "python"
    if not other.exists():
        pytest.skip("numba-cuda is not here: make venvs")
    async with workbench(tmp_path, {"k.py": CODE}, python=str(other)) as bench:
        await bench.open("k.py")
        (fault,) = bench.kernel("k.py").faults
        assert "numba-cuda-mlir is not installed in" in fault.message
        assert fault.help.endswith("-m pip install 'numba-cuda-mlir[cu13]>=0.6'")
