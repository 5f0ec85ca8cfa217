"""What somebody looks at comes first, however much is waiting."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.support.workbench import workbench
from tile_lsp.engine.events import KernelChanged, SessionEvent
from tile_lsp.engine.turns import Slots, Turn, on_turn
from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage

KERNELS = 60
TEXT = "import cuda.tile as ct\n" + "".join(
    f"""

# tile-lsp: x=f32[4096] y=f32[4096] target=sm_90
@ct.kernel
def kernel_{number}(x, y):
    a = ct.load(x, index=(0,), shape=(64,))
    ct.store(y, index=(0,), tile=a + {number}.0)
"""
    for number in range(KERNELS)
)
LAST = f"kernel_{KERNELS - 1}"
FEW = 8 * (os.cpu_count() or 2)
"""Inferences that may have begun before the one that was asked for, or while it ran."""


async def test_the_one_asked_for_last_is_next_and_cancelled_ones_take_no_slot():
    slots, order = Slots(1), []

    async def work(name: str, turn: Turn) -> None:
        with on_turn(turn):
            async with slots:
                order.append(name)
                await asyncio.sleep(0)

    turns = {name: Turn() for name in "abcdef"}
    tasks = {name: asyncio.ensure_future(work(name, turn)) for name, turn in turns.items()}
    await asyncio.sleep(0)
    turns["e"].ask()
    turns["d"].ask()
    turns["f"].ask()
    tasks["f"].cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert "".join(order) == "adebc"
    async with slots:
        assert order


@pytest.mark.parametrize("early", [True, False], ids=["before it is read", "while others compile"])
async def test_a_kernel_in_sight_does_not_wait_for_those_above_it(tmp_path, early):
    begun: list[int] = []
    """Inferences, each time that the types of a kernel came."""

    def note(event: SessionEvent) -> None:
        if isinstance(event, KernelChanged) and bench.kernel("k.py", event.kernel).inference is not None:
            begun.append(session.stats().inferences)
            if event.kernel == LAST:
                seen.set()

    seen = asyncio.Event()
    async with workbench(tmp_path, {"k.py": TEXT}, on_event=note) as bench:
        session, path = bench.session, bench.path("k.py")
        line = TEXT[: TEXT.index(f"def {LAST}(")].count("\n") + 1
        if early:
            session.look(path, line, line + 3)
        session.open(path)
        await session.analysed(path)
        if not early:
            session.look(path, line, line + 3)
        await seen.wait()
        assert begun[-1] <= FEW < KERNELS


async def test_what_is_shown_does_not_wait_for_other_kernels(tmp_path):
    async with workbench(tmp_path, {"k.py": TEXT}, idle_delay=0.0) as bench:
        bench.session.open(bench.path("k.py"))
        await bench.session.analysed()
        shown = await bench.session.artifact(bench.path("k.py"), LAST, Stage.TILEIR)
        assert not isinstance(shown, Fault)
        # Others have the slots while its tools run.
        assert bench.session.stats().inferences < KERNELS
        assert bench.session.stats().codegens <= FEW
