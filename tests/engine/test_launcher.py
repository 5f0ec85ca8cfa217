"""Programs that a small process starts for the server: whatever happens, who waits gets an answer."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from tests.support.processes import named
from tile_lsp.engine.launcher import Launcher

PROGRAM = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(int(sys.argv[1]))"


@pytest.fixture
async def launcher() -> AsyncIterator[Launcher]:
    made = Launcher()
    yield made
    await made.close()


async def run(launcher: Launcher, folder: Path, *argv: str, limit: float = 60.0) -> int:
    env = dict(os.environ)
    return await launcher.run(argv, cwd=folder, env=env, out=folder / "out", err=folder / "err", limit=limit)


async def sleeping() -> psutil.Process:
    """The program, once it runs: nothing tells of that."""
    while not (found := named("sleep")):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return found[0]


@pytest.mark.parametrize("code", [0, 3])
async def test_status_and_output(launcher: Launcher, tmp_path: Path, code: int) -> None:
    assert await run(launcher, tmp_path, sys.executable, "-c", PROGRAM, str(code)) == code
    assert ((tmp_path / "out").read_text(), (tmp_path / "err").read_text()) == ("out\n", "err\n")


async def test_what_is_not_there(launcher: Launcher, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        await run(launcher, tmp_path, str(tmp_path / "nothing"))


async def test_a_program_that_takes_too_long_is_gone(launcher: Launcher, tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        await run(launcher, tmp_path, "sleep", "600", limit=0.2)
    assert not named("sleep")


async def test_killed_it_is_started_again(launcher: Launcher, tmp_path: Path) -> None:
    waiting = asyncio.ensure_future(run(launcher, tmp_path, "sleep", "600"))
    (await sleeping()).parent().kill()
    with pytest.raises(OSError, match="ended"):
        await waiting
    assert await run(launcher, tmp_path, sys.executable, "-c", PROGRAM, "0") == 0


async def test_closed_it_starts_nothing(tmp_path: Path) -> None:
    launcher = Launcher()
    waiting = asyncio.ensure_future(run(launcher, tmp_path, "sleep", "600"))
    await sleeping()
    await launcher.close()
    with pytest.raises(OSError, match="ended"):
        await waiting
    with pytest.raises(OSError, match="ended"):
        await run(launcher, tmp_path, "true")
