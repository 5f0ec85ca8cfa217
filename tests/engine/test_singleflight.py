"""Callers of one key share one attempt; the last one to leave ends it."""

from __future__ import annotations

import asyncio

import pytest

from tile_lsp.engine.singleflight import SingleFlight


class Work:
    """An attempt that is finished by the test, and counts."""

    def __init__(self) -> None:
        self.started = 0
        self.cancelled = 0
        self.result: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def __call__(self) -> str:
        self.started += 1
        try:
            return await asyncio.shield(self.result)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_many_callers_one_attempt():
    work, flight = Work(), SingleFlight[str]()
    callers = [asyncio.ensure_future(flight.run("key", work)) for _ in range(10)]
    await turns()
    work.result.set_result("bytes")
    assert await asyncio.gather(*callers) == ["bytes"] * 10
    assert work.started == 1
    assert len(flight) == 0


async def test_another_key_is_another_attempt_meanwhile():
    slow, fast, flight = Work(), Work(), SingleFlight[str]()
    waiting = asyncio.ensure_future(flight.run("slow", slow))
    fast.result.set_result("fast")
    assert await flight.run("fast", fast) == "fast"
    assert not waiting.done()
    slow.result.set_result("slow")
    assert await waiting == "slow"


async def test_a_caller_that_leaves_does_not_disturb_the_others():
    work, flight = Work(), SingleFlight[str]()
    leaver, stayer = (asyncio.ensure_future(flight.run("key", work)) for _ in range(2))
    await turns()
    leaver.cancel()
    await turns()
    work.result.set_result("bytes")
    assert await stayer == "bytes"
    assert work.cancelled == 0


async def test_the_last_caller_to_leave_ends_the_work_and_a_new_one_starts_afresh():
    work, flight = Work(), SingleFlight[str]()
    caller = asyncio.ensure_future(flight.run("key", work))
    await turns()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    fresh = asyncio.ensure_future(flight.run("key", work))
    await turns()
    assert (work.started, work.cancelled) == (2, 1)
    work.result.set_result("bytes")
    assert await fresh == "bytes"


async def test_an_error_reaches_every_caller_and_is_not_kept():
    work, flight = Work(), SingleFlight[str]()
    callers = [asyncio.ensure_future(flight.run("key", work)) for _ in range(2)]
    await turns()
    work.result.set_exception(OSError("disk"))
    assert [type(error) for error in await asyncio.gather(*callers, return_exceptions=True)] == [OSError, OSError]
    assert len(flight) == 0
