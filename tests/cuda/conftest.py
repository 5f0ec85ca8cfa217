"""NVRTC by cuda.bindings in our own environment: the extra `cuda`."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.workbench import Workbench, workbench
from tile_lsp.ide.hover import hover
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.stage import Stage

CURSOR = "‸"


class Cuda:
    """One warm interpreter, and a file a case."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self._count = 0

    async def open(self, code: str, **headers: str) -> str:
        """The name of a file that holds the code; inferred. `headers`: by name without `.cuh`, beside it."""
        self._count += 1
        for header, text in headers.items():
            self.bench.write(f"{header}.cuh", textwrap.dedent(text))
        name = f"case{self._count}.cu"
        self.bench.write(name, textwrap.dedent(code))
        await self.bench.open(name)
        return name

    async def hover(self, code: str) -> str:
        """What is said at the cursor, as plain text."""
        text = textwrap.dedent(code)
        before = text[: text.index(CURSOR)]
        name = await self.open(text.replace(CURSOR, ""))
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode())
        found = hover(self.bench.session.snapshot(), self.bench.path(name), line, column)
        assert found is not None, self.bench.kernel(name).faults
        return found.markup.plain().replace(name, "case.cu")

    async def faults(self, code: str, **headers: str) -> list[tuple[str, list[str]]]:
        """Messages, each with the source that it stands at and the call sites around it."""
        name = await self.open(code, **headers)
        inference = self.bench.kernel(name).inference
        found = inference.faults if inference is not None and inference.faults else self.bench.kernel(name).faults
        return [(fault.message, self.sources(name, fault)) for fault in found]

    async def warnings(self, code: str) -> list[tuple[str, str | None, list[str]]]:
        name = await self.open(code)
        inference = self.bench.kernel(name).inference
        assert inference is not None
        assert not inference.faults
        found = [remark for remark in inference.remarks if remark.code and remark.code.startswith("#")]
        return [(remark.message, remark.code, self.sources(name, remark)) for remark in found]

    def sources(self, name: str, found: object) -> list[str]:
        """File, line and text of each place of a chain."""
        view = self.bench.kernel(name)
        texts = []
        for place in view.positions.chain(found.chain):  # type: ignore[attr-defined]
            line = Path(place.path).read_text(encoding="utf-8").split("\n")[place.span.line - 1].encode()
            end = place.span.end_column if place.span.end_line == place.span.line else None
            where = "" if place.path.endswith(name) else f"{Path(place.path).name}:"
            texts.append(f"{where}{place.span.line}: {line[place.span.column : end].decode()}")
        return texts

    async def show(self, code: str, stage: Stage, **headers: str) -> Artifact:
        return await self.bench.show(await self.open(code, **headers), stage)

    async def fault(self, code: str, stage: Stage) -> Fault:
        name = await self.open(code)
        made = await self.bench.session.artifact(self.bench.path(name), self.bench.kernel(name).name, stage)
        assert isinstance(made, Fault)
        return made

    def lines(self, name: str, artifact: Artifact, word: str) -> set[int]:
        """The lines of the file that the lines with a word in them come from."""
        view = self.bench.kernel(name)
        found: set[int] = set()
        for text, chains in zip(artifact.text.split("\n"), artifact.lines, strict=False):
            if word in text:
                found.update(place.span.line for chain in chains for place in view.positions.chain(chain)[:1])
        return found


def missing() -> str | None:
    lacks = [name for name in ("cuda.bindings", "cuda.pathfinder") if importlib.util.find_spec(name) is None]
    return f"{', '.join(lacks)} is not here: pip install '.[cuda]'" if lacks else None


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cuda(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cuda]:
    if (lack := missing()) is not None:
        pytest.skip(lack)
    async with workbench(tmp_path_factory.mktemp("cuda"), {}, targets=["sm_90"]) as bench:
        yield Cuda(bench)
