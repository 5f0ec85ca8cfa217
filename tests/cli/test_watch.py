"""`tile-lsp watch`: from outside, as a pipe sees it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.support.patience import PATIENCE

KERNEL = """\
import cuda.tile as ct

# tile-lsp: x=f32[4096] y=f32[4096] target=sm_90
@ct.kernel
def copy(x, y):
    ct.store(y, index=(ct.bid(0),), tile=ct.load(x, index=(ct.bid(0),), shape=(64,)))
"""


async def until(process: asyncio.subprocess.Process, *words: str) -> str:
    """The next line that holds all the words."""
    while True:
        line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
        assert line, f"ended before a line with {words}"
        if all(word in line for word in words):
            return line


async def test_each_change_is_a_line_until_it_is_interrupted(tmp_path: Path):
    kernels = tmp_path / "my kernels"
    kernels.mkdir()
    (kernels / "unrelated.py").write_text("raise SystemExit\n")
    file = kernels / "copy.py"
    file.write_text(KERNEL)
    watch = [sys.executable, "-m", "tile_lsp", "watch", str(kernels), "--python", sys.executable]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    # What a shell starts in the background ignores interrupts, and hands that down.
    heeding = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = await asyncio.create_subprocess_exec(
        *watch, stdout=asyncio.subprocess.PIPE, env=environment, preexec_fn=heeding
    )
    try:
        await until(process, "copy.py::copy", "sm_90", "compiled", "registers")
        file.write_text(KERNEL.replace("ct.load", "ct.lode"))
        await until(process, "copy.py::copy", "error", "lode")
        file.write_text(KERNEL)
        await until(process, "copy.py::copy", "sm_90", "registers")
        file.write_text(KERNEL.replace("shape=(64,)", "shape=(64"))
        await until(process, "copy.py::copy", "error", "never closed")
        file.write_text(KERNEL)
        await until(process, "copy.py::copy", "sm_90", "registers")
        file.unlink()
        await until(process, "copy.py::copy", "removed")
        (kernels / "new").mkdir()
        (kernels / "new" / "more.py").write_text(KERNEL.replace("64", "128"))
        await until(process, "more.py::copy", "sm_90", "compiled")
        data = tmp_path / "shape.txt"
        data.write_text("64")
        reading = f"from pathlib import Path\nN = int(Path({str(data)!r}).read_text())\n{KERNEL}"
        (kernels / "reads.py").write_text(reading.replace("shape=(64,)", "shape=(N,)"))
        await until(process, "reads.py::copy", "sm_90", "compiled")
        data.write_text("no number")
        await until(process, "reads.py::copy", "error", "no number")
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 130
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
