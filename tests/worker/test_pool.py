"""The pool: one start for many callers, cancellation, holders, restarts, and the mode without fork."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.closures import HEADER, closure, request
from tests.support.processes import below, numbered, outlive, status
from tests.support.workers import Bench, eventually
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.workers import CodegenRequest, Environment, Generated, HolderGone, Limits, WorkerPool
from tile_lsp.model.outcome import Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

KERNEL = """
@ct.kernel
def kernel(a):
    x = ct.full((8,), 1, ct.float32)
"""


async def test_one_start_for_any_number_of_callers_and_names_of_an_interpreter():
    pool = WorkerPool()
    try:
        found = await asyncio.gather(*(pool.environment(sys.executable) for _ in range(5)))
        assert all(isinstance(environment, Environment) for environment in found)
        await pool.environment(found[0].executable)
        assert pool.starts == 1
    finally:
        await pool.close()


async def test_a_caller_that_gives_up_takes_no_start_from_the_others():
    pool = WorkerPool()
    try:
        first = asyncio.ensure_future(pool.environment(sys.executable))
        second = asyncio.ensure_future(pool.environment(sys.executable))
        await asyncio.sleep(0)
        first.cancel()
        assert isinstance(await second, Environment)
        assert pool.starts == 1
    finally:
        await pool.close()


async def test_cancelling_kills_the_worker(bench: Bench, tmp_path: Path):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    source = f"import os, time\nopen({str(fifo)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n{KERNEL}"
    task = asyncio.ensure_future(bench.infer(source, "a=f16[64]"))
    pid = int(await asyncio.to_thread(fifo.read_text))
    (process,) = numbered([pid])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not await asyncio.to_thread(outlive, [process])
    assert not (await bench.infer(KERNEL, "a=f16[64]")).faults


async def test_what_the_next_worker_is_told_ahead_runs_for_the_requests_alone(bench: Bench, tmp_path: Path):
    loads = tmp_path / "loads"
    source = f"open({str(loads)!r}, 'a').write('x')\n{KERNEL}"
    for number in (1, 2, 3):
        assert not (await bench.infer(source, f"a=f16[{64 * number}]")).faults
        assert loads.read_text() == "x" * number


async def test_superseded_work_leaves_no_process_behind(bench: Bench):
    await bench.infer(KERNEL, "a=f16[64]")
    source = f"import time\ntime.sleep(600)\n{KERNEL}"
    for turns in range(20):
        task = asyncio.ensure_future(bench.infer(source, "a=f16[64]"))
        # At every point of its way: before the fork, while it waits for a worker, while it loads.
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not (await bench.infer(KERNEL, "a=f16[64]")).faults
    asleep = [process for process in below() if status(process) != psutil.STATUS_ZOMBIE]
    # The process that forks, a spare, the holders, and what a kill has not reached yet.
    await eventually(lambda: sum(p.is_running() for p in asleep) <= 2 + len(bench.pool._holders))


async def test_attempts_are_counted(bench: Bench):
    before = (bench.counters.inferences, bench.counters.codegens)
    holder = await bench.held(KERNEL, "a=f16[64]")
    for _ in range(3):
        await bench.pool.codegen(holder, CodegenRequest(targets=("sm_90",)))
    assert (bench.counters.inferences, bench.counters.codegens) == (before[0] + 1, before[1] + 3)


async def test_the_holder_unused_for_longest_goes_first():
    pool = WorkerPool(limits=Limits(holders=2))
    bench = Bench(pool, Counters(), sys.executable)
    try:
        first, second = await bench.held(KERNEL, "a=f16[64]"), await bench.held(KERNEL, "a=f16[32]")
        await pool.codegen(first, CodegenRequest())
        third = await bench.held(KERNEL, "a=f16[16]")
        assert [holder.alive for holder in (first, second, third)] == [True, False, True]
        with pytest.raises(HolderGone):
            await pool.codegen(second, CodegenRequest())
    finally:
        await pool.close()


async def test_a_holder_that_somebody_waits_for_stays():
    pool = WorkerPool(limits=Limits(holders=1, jobs=1))
    bench = Bench(pool, Counters(), sys.executable)
    try:
        first = await bench.held(KERNEL, "a=f16[64]")
        # The one place to work in is taken by an inference, whose IR will be held as well.
        second = asyncio.ensure_future(bench.held(KERNEL, "a=f16[32]"))
        await asyncio.sleep(0)
        code = asyncio.ensure_future(pool.codegen(first, CodegenRequest(targets=("sm_90",))))
        assert (await second).alive
        assert isinstance(await code, Generated)
        third = await bench.held(KERNEL, "a=f16[16]")
        assert [holder.alive for holder in (first, second.result(), third)] == [False, False, True]
    finally:
        await pool.close()


async def test_without_fork_each_worker_is_started_from_scratch():
    pool = WorkerPool(limits=Limits(fork=False))
    bench = Bench(pool, Counters(), sys.executable)
    try:
        source = f"import os\nprint(os.getpid())\n{KERNEL}"
        one, two = await bench.result(source, "a=f16[64]"), await bench.result(source, "a=f16[64]")
        assert one.inference.output != two.inference.output
        assert one.inference.types == two.inference.types
        assert isinstance(await pool.codegen(one.holder, CodegenRequest(targets=("sm_90",))), Generated)
        crashed = await bench.fault(f"import os\nos._exit(4)\n{KERNEL}", "a=f16[64]")
        assert "ended itself with exit status 4" in crashed.message
        assert pool.starts == 1
    finally:
        await pool.close()


async def test_closing_leaves_no_process():
    pool = WorkerPool()
    bench = Bench(pool, Counters(), sys.executable)
    before = {process.pid for process in below()}
    await bench.held(KERNEL, "a=f16[64]")
    await pool.versions(sys.executable, ["msgspec"])
    started = [process for process in below() if process.pid not in before]
    assert started
    await pool.close()
    assert not await asyncio.to_thread(outlive, started)


async def test_answers_about_text_and_packages(bench: Bench):
    versions = await bench.pool.versions(bench.python, ["msgspec", "json", "cuda", "not_there_at_all"])
    assert set(versions) == {"msgspec", "cuda"}
    assert versions["msgspec"].startswith("msgspec ")
    parsed = await bench.pool.parse(bench.python, "x = 'é' + 1j\n")
    statement = parsed["tree"]["body"][0]
    assert (statement["_"], statement["lineno"], statement["end_col_offset"]) == ("Assign", 1, 13)
    assert statement["value"]["right"]["value"] == {"_literal": "1j"}
    failed = await bench.pool.parse(bench.python, "é = (\n")
    assert (failed["error"]["line"], failed["error"]["column"]) == (1, 5)


async def test_equal_inferences_are_byte_identical_in_every_process(bench: Bench):
    other = WorkerPool()
    source = HEADER + KERNEL
    try:
        one = (await bench.pool.infer(sys.executable, request(closure(source), "a=f16[64]"))).inference
        two = (await other.infer(sys.executable, request(closure(source), "a=f16[64]"))).inference
        assert one == two
    finally:
        await other.close()


@pytest.fixture
def hanging(tmp_path: Path) -> str:
    """An interpreter that never says anything."""
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\necho no module named site >&2\nexec sleep 1000\n")
    path.chmod(0o755)
    return str(path)


async def test_an_interpreter_that_hangs_is_told_and_may_be_given_up(hanging: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tile_lsp.engine.workers._SLOW", 0.01)
    told: list[tuple[str, bool]] = []
    waiting = asyncio.Event()

    def on_waiting(python: str, begun: bool) -> None:
        told.append((python, begun))
        waiting.set()

    pool = WorkerPool(on_waiting=on_waiting)
    try:
        asked = [asyncio.ensure_future(pool.environment(hanging)) for _ in range(3)]
        await waiting.wait()
        assert told == [(hanging, True)]
        pool.give_up(hanging)
        for fault in await asyncio.gather(*asked):
            assert isinstance(fault, Fault)
            assert fault.message.startswith(f"The interpreter {hanging} did not start while somebody waited for it")
            assert "tile-lsp.python" in (fault.help or "")
        assert told == [(hanging, True), (hanging, False)]
        # Not at each keystroke; but when somebody says so.
        assert isinstance(await pool.environment(hanging), Fault)
        assert pool.starts == 1
        pool.forget_environments()
        waiting.clear()
        again = asyncio.ensure_future(pool.environment(hanging))
        await waiting.wait()
        assert pool.starts == 2
        again.cancel()
    finally:
        await pool.close()


async def test_an_interpreter_that_never_starts_is_told_with_its_last_words(hanging: str):
    pool = WorkerPool(limits=Limits(start=0.5))
    try:
        fault = await pool.environment(hanging)
        assert isinstance(fault, Fault)
        assert fault.message == (
            f"The interpreter {hanging} did not start within 0.5 s, and was stopped. Its last words:\n"
            "no module named site"
        )
    finally:
        await pool.close()
