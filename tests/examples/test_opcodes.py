"""Every instruction of every listing of the cuTile examples has words, and every parameter that PTX names has one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tile_lsp.analysis.opcodes import explain
from tile_lsp.frontends.cutile import CuTile
from tile_lsp.model.job import Argument
from tile_lsp.model.stage import Stage

ROOT = Path(__file__).parent.parent.parent
KERNELS = [
    f"{path.name}::{name}"
    for path in sorted((ROOT / "examples" / "cutile").glob("*.py"))
    for name in re.findall(r"^@ct\.kernel.*\ndef (\w+)\(", path.read_text(), re.MULTILINE)
]
TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")


def listings(stage: Stage, kernel: str) -> list[dict]:
    targets = [word for target in TARGETS for word in ("--target", target)]
    command = [sys.executable, "-m", "tile_lsp", "show", stage, f"examples/cutile/{kernel}", *targets, "--json"]
    ran = subprocess.run(
        [*command, "--python", sys.executable],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_the_kernels_are_found():
    assert len(KERNELS) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("stage", [Stage.TILEIR, Stage.PTX, Stage.SASS])
@pytest.mark.parametrize("kernel", KERNELS)
def test_all_of_them_have_words(kernel: str, stage: Stage):
    shown = listings(stage, kernel)
    assert {one["job"]["config"]["target"] for one in shown} == set(TARGETS)
    missing: set[str] = set()
    for one in shown:
        rows = one["text"].splitlines()
        found = [said for line in range(len(rows)) if (said := explain(stage, rows, line)) is not None]
        assert len(found) > 15
        missing |= {said.name for said in found if not said.does}
        missing |= {f"{said.name} {part}" for said in found for part, phrase in said.parts if not phrase}
    assert missing == set()


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_parameters_are_those_of_the_ptx(kernel: str):
    for one in listings(Stage.PTX, kernel):
        arguments = [Argument(name, spec) for name, spec in one["job"]["arguments"]]
        declared = re.findall(r"\.param \.([a-z])(\d+)\b.*_param_(\d+),?$", one["text"], re.MULTILINE)
        named = CuTile().parameters(arguments, {})
        sizes = {int(index): int(bits) // 8 for _, bits, index in declared if int(index) < len(named)}
        assert sizes
        assert {index: named[index].size for index in sizes} == sizes
