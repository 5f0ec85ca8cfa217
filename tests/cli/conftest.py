"""A folder with kernels, and the command line run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

KERNELS = """\
import cuda.tile as ct

from helpers import grow


# tile-lsp: x=f32[1024] y=f16[1024] n=128
@ct.kernel
def größer(x, y, n: ct.Constant[int]):
    i = ct.bid(0)
    wide = grow(ct.load(x, index=(i,), shape=(n,)))
    slim = grow(ct.load(y, index=(i,), shape=(n,)))
    ct.store(x, index=(i,), tile=wide + slim)


# tile-lsp: x=f32[1024]
@ct.kernel
def broken(x):
    t = ct.load(x, index=(0,), shape=(128,))
    ct.store(x, index=(0,), tile=grow(t, t[0:1]))
"""
HELPERS = """\
SCALE = 2


def grow(t, by=SCALE):
    longer = t * by
    return longer

"""


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class CommandLine:
    """`tile-lsp` in a folder, with a cache of its own."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONWARNINGS": "error"}
        # Which interpreter is found must not depend on the shell that runs the tests.
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            self.environment.pop(name, None)

    def __call__(self, *arguments: str, python: str | None = sys.executable, env: Mapping[str, str] = {}) -> Ran:
        words = [*arguments, "--python", python] if python and arguments[0] != "cache" else arguments
        ran = subprocess.run(
            [sys.executable, "-m", "tile_lsp", *words],
            cwd=self.folder,
            env={**self.environment, **env},
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    folder = tmp_path / "a workspace"

    def write(name: str, text: str) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    write("kernels.py", KERNELS)
    write("helpers.py", HELPERS)
    return write


@pytest.fixture
def tile_lsp(write: Callable[[str, str], Path], tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "a workspace", tmp_path / "cache")
