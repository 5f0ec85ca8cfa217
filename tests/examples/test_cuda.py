"""Every kernel of examples/cuda: what its launches say is all that it needs, and it compiles for four generations of
GPUs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cuda.conftest import missing

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "examples" / "cuda"
KERNELS = {
    "vector_add": ["vector_add", "vector_add4"],
    "matmul": ["matmul"],
    "reduction": ["reduce"],
    "softmax": ["softmax"],
    "gelu": ["ops::activate", "ops::scale"],
}
TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")
WORDS = {"ptx": ".entry", "sass": "EXIT", "resources": "registers", "llvm": "define "}


def tile_lsp(*arguments: str) -> str:
    if (lack := missing()) is not None:
        pytest.skip(lack)
    command = [sys.executable, "-m", "tile_lsp", *arguments, "--python", sys.executable]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_all_of_them_are_here():
    assert {path.stem for path in FOLDER.glob("*.cu")} == set(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_their_launches_say_all(name: str):
    found = json.loads(tile_lsp("jobs", f"examples/cuda/{name}.cu", "--json"))
    assert [kernel["name"] for kernel in found["kernels"]] == KERNELS[name]
    for kernel in found["kernels"]:
        assert not kernel["faults"]
        assert not kernel["notes"]
        for job in kernel["jobs"]:
            assert {argument["origin"] for argument in job["arguments"]} <= {"launch", "instantiation"}


@pytest.mark.slow
@pytest.mark.parametrize("stage", WORDS)
@pytest.mark.parametrize("kernel", [f"{name}.cu::{kernel}" for name, kernels in KERNELS.items() for kernel in kernels])
def test_they_compile_for_every_generation(kernel: str, stage: str):
    if stage == "llvm" and not any(shutil.which(f"clang-{number}") for number in range(16, 30)):
        pytest.skip("clang is missing: apt-get install clang-19")
    options = [word for target in TARGETS for word in ("--target", target)]
    shown = [
        json.loads(line) for line in tile_lsp("show", stage, f"examples/cuda/{kernel}", *options, "--json").splitlines()
    ]
    assert {one["job"]["config"]["target"] for one in shown} == set(TARGETS)
    assert all(WORDS[stage] in one["text"] for one in shown)
