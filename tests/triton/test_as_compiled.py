"""What is shown is what triton makes by itself, instruction by instruction."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from tests.support.workbench import Workbench
from tile_lsp.model.stage import Stage

from .test_stages import EXAMPLES, KERNELS, opened

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

TARGET = "sm_90"


@pytest.mark.parametrize("kernel", KERNELS)
async def test_code_and_shared_memory_are_those_of_triton(bench: Workbench, kernel: str, tmp_path: Path):
    file, name = await opened(bench, kernel, TARGET)
    computed = [a.name for a in bench.kernel(file, name).jobs[0].job.arguments if a.spec == "auto"]
    if computed:
        told = " ".join(f"{parameter}=True" for parameter in computed)
        bench.session.override(bench.path(file), name, f"# tile-lsp: target={TARGET} {told}")
        await bench.session.inferred(bench.path(file))
    job = bench.kernel(file, name).jobs[0].job
    request = {"arguments": [[a.name, a.spec] for a in job.arguments], "options": dict(job.config.hints)}
    process = await asyncio.create_subprocess_exec(
        bench.session.settings.python or "",
        Path(__file__).parent / "plain.py",
        *(str(EXAMPLES / file), name, TARGET, json.dumps(request)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "ignore"},
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    theirs = json.loads(output)
    assert instructions((await bench.show(file, Stage.PTX, name)).text) == instructions(theirs["ptx"])
    given = re.search(r"(\d+) B given by the launch", (await bench.show(file, Stage.RESOURCES, name)).text)
    assert (int(given[1]) if given else 0) == theirs["shared"]


def instructions(ptx: str) -> list[str]:
    """Without what is there for debuggers, and without white space."""
    ptx = re.sub(r"\.section\s+\.debug.*", "", ptx, flags=re.DOTALL)
    lines = (re.sub(r"\s+", " ", line.partition("//")[0]).strip() for line in ptx.split("\n"))
    return [
        line for line in lines if line and not line.startswith((".loc", ".file", "$L__tmp", "$L__func", ".section"))
    ]
