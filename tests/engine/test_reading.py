"""What a workspace names may be anything: what is no plain file, or too long, is told and not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tile_lsp.analysis.snapshot import State
from tile_lsp.engine.files import Files
from tile_lsp.engine.reading import MOST
from tile_lsp.engine.settings import workspace_settings

KERNEL = """
    import cuda.tile as ct
    {line}

    # tile-lsp: x=f32[64] target=sm_90
    @ct.kernel
    def kernel(x):
        ct.store(x, index=(0,), tile=ct.load(x, index=(0,), shape=(64,)) + {value})
"""


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def gigabyte(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


STRANGE = [
    (pipe, "is a pipe, no plain file"),
    (device, "is a device, no plain file"),
    (Path.mkdir, "is a folder, no plain file"),
    (gigabyte, f"has 1024 MiB: no file of more than {MOST >> 20} MiB is read"),
]
each_strange_file = pytest.mark.parametrize(("make", "why"), STRANGE, ids=lambda one: getattr(one, "__name__", ""))


@each_strange_file
def test_text(tmp_path, make, why):
    make(tmp_path / "x.py")
    files, path = Files(), str(tmp_path / "x.py")
    assert files.read(path) is None
    assert files.refusal(path) == why
    assert files.refusal(str(tmp_path / "none.py")) is None


def test_text_that_never_ends_and_says_that_it_is_empty(tmp_path):
    (tmp_path / "x.py").symlink_to("/proc/self/maps")
    assert Files().read(str(tmp_path / "x.py")) == ""


@each_strange_file
def test_settings(tmp_path, make, why):
    make(tmp_path / "tile-lsp.toml")
    files = Files()
    _, [problem], _ = workspace_settings([str(tmp_path)], files.read, refusal=files.refusal)
    assert problem.message == f"it {why}: no settings come from it"


@each_strange_file
@pytest.mark.parametrize(
    "line", ["from strange import N", "import strange", "from .strange import N", "from . import strange"]
)
async def test_module(tmp_path, make, why, line):
    (tmp_path / "strange.py").unlink(missing_ok=True)
    make(tmp_path / "strange.py")
    value = "N" if line.endswith("N") else "strange.N"
    async with workbench(tmp_path, {"k.py": KERNEL.format(line=line, value=value)}) as bench:
        await bench.open("k.py")
        view = bench.kernel("k.py")
        assert view.state is State.BLOCKED
        assert view.faults[0].message == f"`kernel` imports what can't be read: {bench.path('strange.py')} {why}"
        [problem] = bench.session.snapshot().files[bench.path("k.py")].problems
        assert (problem.code, problem.span.line) == ("unreadable", 3)
        assert not bench.ran()


async def test_a_strange_module_is_nothing_to_a_kernel_that_has_no_use_for_it(tmp_path):
    pipe(tmp_path / "strange.py")
    async with workbench(tmp_path, {"k.py": KERNEL.format(line="import strange", value="1.0")}) as bench:
        await bench.open("k.py")
        assert bench.kernel("k.py").state is State.FRESH
        # Mended: there it is.
        (tmp_path / "strange.py").unlink()
        bench.write("strange.py", "N = 2.0")
        await bench.edit("k.py", KERNEL.format(line="import strange", value="strange.N"))
        assert bench.kernel("k.py").state is State.FRESH


@pytest.mark.parametrize("path", ["/proc/self/maps", "long.bin"])
async def test_data(tmp_path, path):
    with (tmp_path / "long.bin").open("wb") as file:
        file.truncate(MOST + 1)
    line = f"N = float(open('{path}', 'rb').read(8)[0] * 0 + 2)"
    async with workbench(tmp_path, {"k.py": KERNEL.format(line=line, value="N")}) as bench:
        await bench.open("k.py")
        assert bench.kernel("k.py").state is State.FRESH
        assert bench.ran() == {"inferences": 1}
        await bench.edit("k.py", KERNEL.format(line=line, value="N") + "    # unrelated\n")
        assert not bench.ran()
        os.utime(tmp_path / "long.bin", (1, 1))
        bench.session.files_changed([bench.path("long.bin")])
        await bench.session.settled()
        assert bench.ran() == ({"inferences": 1} if path == "long.bin" else {})


async def test_header(tmp_path):
    pipe(tmp_path / "strange.cuh")
    text = '#include "strange.cuh"\n__global__ void kernel(float* x) { x[0] = 1.0f; }\n'
    async with workbench(tmp_path, {"k.cu": text}) as bench:
        await bench.open("k.cu")
        [problem] = bench.session.snapshot().files[bench.path("k.cu")].problems
        assert f"{bench.path('strange.cuh')} is a pipe, no plain file" in problem.message
