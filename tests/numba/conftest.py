"""Numba-CUDA in an environment of its own, as a user would have it (`make venvs`)."""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.workbench import Workbench, workbench
from tile_lsp.ide.hover import hover
from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage

PYTHON = Path(__file__).parent.parent.parent / "build" / "venvs" / "numba" / "bin" / "python"
HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float32, float64, int32, types\n"
CURSOR = "‸"


@pytest.fixture(scope="session")
def python() -> str:
    if not PYTHON.exists():
        pytest.skip("numba-cuda is not here: make venvs")
    return str(PYTHON)


class Numba:
    """One warm interpreter, and a file a case."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self._count = 0

    async def open(self, code: str, **others: str) -> str:
        """The name of a file that holds the code, under the imports that most kernels need; inferred. `others`: modules
        beside it."""
        self._count += 1
        name = f"case{self._count}.py"
        for other, text in others.items():
            self.bench.write(f"{other}.py", HEAD + textwrap.dedent(text))
        self.bench.write(name, HEAD + textwrap.dedent(code))
        await self.bench.open(name)
        return name

    async def hover(self, code: str, **others: str) -> str:
        """What is said at the cursor, as plain text."""
        text = HEAD + textwrap.dedent(code)
        before = text[: text.index(CURSOR)]
        name = await self.open(code.replace(CURSOR, ""), **others)
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode())
        found = hover(self.bench.session.snapshot(), self.bench.path(name), line, column)
        assert found is not None, self.bench.kernel(name).faults
        return found.markup.plain()

    async def faults(self, code: str, **others: str) -> list[tuple[str, list[str]]]:
        """Messages, each with the source that it stands at and the call sites around it."""
        name = await self.open(code, **others)
        inference = self.bench.kernel(name).inference
        found = inference.faults if inference is not None and inference.faults else self.bench.kernel(name).faults
        return [(fault.message, self.sources(name, fault)) for fault in found]

    def sources(self, name: str, fault: Fault) -> list[str]:
        """The source at each place of a fault."""
        view = self.bench.kernel(name)
        found = []
        for place in view.positions.chain(fault.chain):
            text = Path(place.path).read_text(encoding="utf-8").split("\n")
            span = place.span
            line = text[span.line - 1].encode()
            found.append(line[span.column : span.end_column if span.end_line == span.line else None].decode())
        return found

    async def show(self, code: str, stage: Stage, **others: str):
        return await self.bench.show(await self.open(code, **others), stage)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def numba(python: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Numba]:
    async with workbench(tmp_path_factory.mktemp("numba"), {}, python=python, targets=["sm_90"]) as bench:
        yield Numba(bench)
