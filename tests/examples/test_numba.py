"""Every kernel of examples/numba: typed as its comment says, and compiled for four generations of GPUs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "examples" / "numba"
PYTHON = ROOT / "build" / "venvs" / "numba" / "bin" / "python"
KERNELS = {
    "saxpy": ["saxpy"],
    "matmul": ["matmul"],
    "reduction": ["block_sum", "histogram"],
    "stencil": ["heat"],
    "smoothing": [],
}
TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")


def tile_lsp(*arguments: str) -> str:
    if not PYTHON.exists():
        pytest.skip("numba-cuda is not here: make venvs")
    command = [sys.executable, "-m", "tile_lsp", *arguments, "--python", str(PYTHON)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_all_of_them_are_here():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(KERNELS)


@pytest.mark.parametrize("name", [name for name, kernels in KERNELS.items() if kernels])
def test_the_comments_say_all(name: str):
    found = json.loads(tile_lsp("jobs", f"examples/numba/{name}.py", "--json"))
    assert [kernel["name"] for kernel in found["kernels"]] == KERNELS[name]
    for kernel in found["kernels"]:
        assert not kernel["faults"]
        assert not kernel["notes"]
        for job in kernel["jobs"]:
            assert {argument["origin"] for argument in job["arguments"]} == {"comment"}


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["llvm", "ptx", "sass", "resources"])
@pytest.mark.parametrize("kernel", [f"{name}.py::{kernel}" for name, kernels in KERNELS.items() for kernel in kernels])
def test_they_compile_for_every_generation(kernel: str, stage: str):
    options = [word for target in TARGETS for word in ("--target", target)]
    shown = [
        json.loads(line)
        for line in tile_lsp("show", stage, f"examples/numba/{kernel}", *options, "--json").splitlines()
    ]
    assert {one["job"]["config"]["target"] for one in shown} == set(TARGETS)
    word = {"llvm": "define ", "ptx": ".visible .entry", "sass": "EXIT", "resources": "registers"}[stage]
    assert all(word in one["text"] for one in shown)
