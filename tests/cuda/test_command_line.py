"""What the command line says of CUDA C++ beside what it was asked for."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests.cuda.conftest import missing

CODE = """\
__global__ void k(float *o, int n) {
    int unused = 3;
    o[0] = n;
}
"""


def test_warnings_are_shown_with_the_types(tmp_path: pathlib.Path):
    if (lack := missing()) is not None:
        pytest.skip(lack)
    (tmp_path / "warn.cu").write_text(CODE)
    command = [sys.executable, "-m", "tile_lsp", "show", "types", "warn.cu", "--python", sys.executable]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert "unused" in ran.stdout
    assert ran.stderr.split("\n")[0] == (
        'warn.cu:2:9: warning #177-D: variable "unused" was declared but never referenced'
    )
