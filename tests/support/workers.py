"""A pool of workers with short words for what tests ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from tests.support.closures import HEADER, closure, request
from tests.support.patience import PATIENCE
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.workers import Holder, InferResult, WorkerPool
from tile_lsp.model.closure import Closure
from tile_lsp.model.location import Chain
from tile_lsp.model.outcome import Fault, Inference


class Bench:
    def __init__(self, pool: WorkerPool, counters: Counters, python: str) -> None:
        self.pool = pool
        self.counters = counters
        self.python = python

    async def result(
        self, source: Closure | Mapping[str, str] | str, arguments: str = "", **fields: str
    ) -> InferResult:
        """`source`: a closure, or module text without its import of `ct`, with a kernel named `kernel`."""
        made = source if isinstance(source, Closure) else closure(_with_header(source))
        return await self.pool.infer(self.python, request(made, arguments, **fields))

    async def infer(self, source: Closure | Mapping[str, str] | str, arguments: str = "") -> Inference:
        """With the texts of the IR, which come later than the types."""
        result = await self.result(source, arguments)
        if result.listings is None:
            return result.inference
        listings = await result.listings
        assert not isinstance(listings, Fault), listings.message
        return msgspec.structs.replace(result.inference, hir=listings.hir, typed=listings.typed)

    async def held(self, source: Closure | Mapping[str, str] | str, arguments: str = "") -> Holder:
        """At rest: nothing of it is on its way any more."""
        result = await self.result(source, arguments)
        assert result.holder is not None, result.inference.faults
        assert result.listings is not None
        await result.listings
        return result.holder

    async def fault(self, source: Closure | Mapping[str, str] | str, arguments: str = "") -> Fault:
        inference = await self.infer(source, arguments)
        assert len(inference.faults) == 1, inference.faults
        return inference.faults[0]


def _with_header(source: Mapping[str, str] | str) -> Mapping[str, str] | str:
    if isinstance(source, str):
        import textwrap

        return HEADER + textwrap.dedent(source)
    return source


async def eventually(holds: Callable[[], bool]) -> None:
    """For what the kernel does in its own time."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110  (nobody tells us)
            await asyncio.sleep(0.01)


def spots(chain: Chain) -> list[str]:
    """`["main/helper:2:4-9", "main/kernel:5:8-20"]`; a `:line` alone where there is no column."""
    return [
        f"{place.member}:{place.line}" + (f":{place.column}-{place.end_column}" if place.column >= 0 else "")
        for place in chain
    ]


def types_of(inference: Inference, name: str, kind: str = "store") -> list[str]:
    """Types of a name, with its constants, in order."""
    return [
        record.type + (f" = {record.constant}" if record.constant is not None else "")
        for record in inference.types
        if record.name == name and record.kind == kind
    ]
