"""One warm interpreter for all tests of a module: this one, or the one that TILE_LSP_TEST_PYTHON names."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.patience import PATIENCE
from tests.support.workers import Bench
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.workers import Limits, WorkerPool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench() -> AsyncIterator[Bench]:
    counters = Counters()
    pool = WorkerPool(limits=Limits(inference=PATIENCE, memory=1 << 30), counters=counters)
    yield Bench(pool, counters, os.environ.get("TILE_LSP_TEST_PYTHON", sys.executable))
    await pool.close()
