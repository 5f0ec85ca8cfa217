"""A session for each version of triton, which `make test` puts into environments of their own under build/venvs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.workbench import Workbench, workbench

VENVS = Path(__file__).parents[2] / "build" / "venvs"
VERSIONS = sorted(path.name for path in VENVS.glob("triton-*") if (path / "bin" / "python").exists())


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=VERSIONS or ["none"])
async def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workbench]:
    """One for all tests of a module: each writes files of its own."""
    if not VERSIONS:
        pytest.skip("no triton: `make test` installs it")
    python = str(VENVS / request.param / "bin" / "python")
    async with workbench(tmp_path_factory.mktemp("triton"), {}, python=python, targets=["sm_90"]) as bench:
        bench.release = tuple(map(int, request.param.removeprefix("triton-").split(".")))
        yield bench
