"""Text in syntax that only the kernels' own Python can read: Python 3.12's, where the server runs on 3.11."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.workbench import workbench
from tile_lsp.model.outcome import FaultKind, Severity
from tile_lsp.model.stage import Stage


def _newer() -> Iterator[str]:
    """Interpreters that can read it: those on PATH, and those of pyenv."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    for name in ("python3.12", "python3.13", "python3.14"):
        candidates = [shutil.which(name), *glob.glob(os.path.join(pyenv, "versions", "*", "bin", name))]
        for found in filter(None, candidates):
            if subprocess.run([found, "-c", "type X = int"], capture_output=True, check=False).returncode == 0:
                yield found


NEWER = next(_newer(), "") if sys.version_info < (3, 12) else ""
pytestmark = pytest.mark.skipif(not NEWER, reason="needs Python 3.11 here, and 3.12 or newer besides")

KERNEL = """\
# tile-lsp: x=f32[1024]
@ct.kernel
def copy(x):
    ct.store(x, index=(ct.bid(0),), tile=helper(ct.load(x, index=(ct.bid(0),), shape=(64,))))
"""
HELPER = "def helper(t):\n    return t\n\n\n"


async def told(tmp_path, text: str, *, python: str = NEWER, helper: str = HELPER) -> tuple[list, list]:
    """What is said of a text, and of its kernel."""
    text = f"import cuda.tile as ct\nfrom helpers import helper\n\n\n{text}"
    async with workbench(tmp_path, {"k.py": text, "helpers.py": helper}, python=python) as bench:
        await bench.open("k.py")
        file = bench.session.snapshot().files[bench.path("k.py")]
        return list(file.problems), [fault for kernel in file.kernels for fault in kernel.faults]


@pytest.mark.parametrize("statement", ["type Tile = int", "title = f'{'a'}'", "def f[T](x): ..."])
async def test_a_statement_that_only_the_kernels_python_can_read(tmp_path, statement):
    (problem,), _ = await told(tmp_path, f"{statement}\n\n\n{KERNEL}")
    first, second = problem.message.splitlines()
    assert first.startswith("Python 3.1")
    assert ", which runs the kernels, can read this, but not the Python 3.11 of tile-lsp: " in first
    assert second.startswith("Run tile-lsp by that Python: pipx install --force --python /")
    assert (problem.severity, problem.code, problem.span.line) == (Severity.WARNING, "python", 5)


async def test_what_is_broken_there_too_is_an_error_beside_it(tmp_path):
    problems, _ = await told(tmp_path, f"type Tile = int\nx = (1,,)\n\n\n{KERNEL}")
    assert [(problem.code, problem.span.line) for problem in problems] == [("python", 5), ("syntax", 6)]


async def test_no_newer_python_has_a_say(tmp_path):
    (problem,), _ = await told(tmp_path, f"type Tile = int\n\n\n{KERNEL}", python=sys.executable)
    assert (problem.severity, problem.code, problem.message) == (Severity.ERROR, "syntax", "invalid syntax")


@pytest.mark.parametrize("place", ["kernel", "helper"])
async def test_a_kernel_that_needs_such_a_statement_is_no_kernel_with_an_error(tmp_path, place):
    kernel, helper = KERNEL, HELPER
    if place == "kernel":
        kernel = kernel.replace("def copy(", "def copy[T](")
    else:
        helper = helper.replace("def helper(", "def helper[T](")
    async with workbench(
        tmp_path,
        {"k.py": f"import cuda.tile as ct\nfrom helpers import helper\n{kernel}", "helpers.py": helper},
        python=NEWER,
    ) as bench:
        await bench.open("k.py")
        fault = await bench.session.artifact(bench.path("k.py"), "copy", Stage.PTX)
    assert (fault.kind, fault.code) == (FaultKind.ENVIRONMENT, "python")
    assert "can read this, but not the Python 3.11 of tile-lsp" in fault.message
    assert "pipx install" in fault.help


def test_the_command_line_names_the_environment_not_the_kernel(tmp_path):
    (tmp_path / "k.py").write_text(f"import cuda.tile as ct\n{HELPER}{KERNEL.replace('copy(', 'copy[T](')}")
    show = [sys.executable, "-m", "tile_lsp", "show", "types", "k.py", "--python", NEWER]
    ran = subprocess.run(show, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "k.py:8:9: warning: Python 3.1" in ran.stderr
