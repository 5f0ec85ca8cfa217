"""nvdisasm parked, batched and cold: what ran, what is left behind, what becomes of tools that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import signal
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

import psutil
import pytest

from tests.support.patience import PATIENCE
from tests.support.processes import below, command, named, outlive, status
from tile_lsp.analysis import disassembly
from tile_lsp.engine import disassembler as module
from tile_lsp.engine.disassembler import DISASSEMBLY, Disassembler
from tile_lsp.engine.launcher import Launcher
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.tools import Tool
from tile_lsp.model.outcome import Fault, FaultKind

from .conftest import Case, Tools
from .corpus import KERNELS

linux = pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")


class Bench(NamedTuple):
    make: Callable[..., Disassembler]
    counters: Counters
    nvdisasm: Tool
    folder: pathlib.Path
    """Where temporary folders are made."""
    others: frozenset[int]
    """Processes that other tests of this run left to the test runner."""

    def children(self, recursive: bool = False) -> list[psutil.Process]:
        """Less what starts tools, which stays."""
        found = psutil.Process().children(recursive)
        return [one for one in found if one.pid not in self.others and "launchpad.py" not in command(one)]


@pytest.fixture
async def bench(tools: Tools, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    """Whatever a test does, no process and no file is left when it has closed its disassemblers."""
    temporary = tmp_path / "temporary files"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(module, "_folders", lambda: [str(temporary)])
    counters = Counters()
    others = frozenset(child.pid for child in below())
    launcher = Launcher()
    made: list[Disassembler] = []

    def make(**options: object) -> Disassembler:
        made.append(Disassembler(counters, launcher, **options))  # type: ignore[arg-type]
        return made[-1]

    bench = Bench(make, counters, Tool("nvdisasm", str(tools.bin / "nvdisasm"), "13.4"), temporary, others)
    yield bench
    for disassembler in made:
        await disassembler.close()
    await launcher.close()
    await until(lambda: not bench.children(recursive=True))
    await until(lambda: not list(temporary.iterdir()))


def script(bench: Bench, body: str) -> Tool:
    """A tool in the place of nvdisasm, which it knows as `$real`."""
    path = bench.folder.parent / "nvdisasm"
    path.write_text(f'#!/bin/sh\nreal="{bench.nvdisasm.path}"\n{body}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Tool("nvdisasm", str(path), body)


def wanted(tools: Tools, case: Case) -> dict[str, bytes]:
    return {DISASSEMBLY: disassembly.encode(tools.disassemble(case.cubin))}


@linux
async def test_after_the_first_they_are_warm(bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools) -> None:
    disassembler = bench.make()
    for number, kernel in enumerate(("vadd", "matmul", "talk")):
        case = corpus[kernel, "sm_90"]
        made = await disassembler.disassemble(bench.nvdisasm, case.path.read_bytes())
        assert made == wanted(tools, case)
        assert (disassembler.runs["cold"], disassembler.runs["warm"]) == (1, number)
        await disassembler.settled()
    assert disassembler.runs["parked"] == 3
    assert bench.counters.tools == {"nvdisasm": 3}


@linux
async def test_prepared_ahead_the_first_is_warm_too(
    bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools
) -> None:
    disassembler = bench.make()
    disassembler.prepare(bench.nvdisasm, "sm_100")
    await disassembler.settled()
    case = corpus["attention", "sm_100"]
    assert await disassembler.disassemble(bench.nvdisasm, case.path.read_bytes()) == wanted(tools, case)
    assert disassembler.runs["warm"] == 1
    assert disassembler.runs["cold"] == 0


async def test_many_at_once_share_runs(bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools) -> None:
    disassembler = bench.make(park=False)
    cases = [corpus[kernel, "sm_80"] for kernel in KERNELS]
    cubins = [case.path.read_bytes() for case in cases]
    made = await asyncio.gather(*(disassembler.disassemble(bench.nvdisasm, cubin) for cubin in cubins))
    assert made == [wanted(tools, case) for case in cases]
    assert disassembler.runs["cold"] <= 2
    assert bench.counters.tools["nvdisasm"] <= 2


@linux
async def test_many_at_once_with_one_parked(bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools) -> None:
    disassembler = bench.make()
    disassembler.prepare(bench.nvdisasm, "sm_80")
    await disassembler.settled()
    cases = [corpus[kernel, "sm_80"] for kernel in KERNELS]
    codes = [disassembly.sections(case.cubin) for case in cases]
    made = await asyncio.gather(*(disassembler.texts(bench.nvdisasm, "sm_80", code) for code in codes))
    assert made == [tools.disassemble(case.cubin) for case in cases]
    assert disassembler.runs["cold"] == 0
    assert disassembler.runs["warm"] == 1
    assert disassembler.runs["batched"] == len(cases)


@linux
async def test_each_architecture_has_its_own_up_to_a_limit(
    bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools
) -> None:
    disassembler = bench.make(most_parked=2)
    for target in ("sm_80", "sm_90", "sm_100"):
        disassembler.prepare(bench.nvdisasm, target)
        await disassembler.settled()
    assert len(parked()) == 2
    for target in ("sm_100", "sm_90", "sm_80"):
        case = corpus["vadd", target]
        assert await disassembler.disassemble(bench.nvdisasm, case.path.read_bytes()) == wanted(tools, case)
    assert (disassembler.runs["warm"], disassembler.runs["cold"]) == (2, 1)


@linux
async def test_idle_ones_go(bench: Bench) -> None:
    disassembler = bench.make(idle=0.0)
    disassembler.prepare(bench.nvdisasm, "sm_90")
    await until(lambda: disassembler.runs["parked"])
    await until(lambda: not bench.children())
    await disassembler.settled()
    assert disassembler.runs == {"parked": 1}


@linux
async def test_a_tool_that_opens_its_input_otherwise_is_started_cold(
    bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools
) -> None:
    """It takes its code at the first open, as a later version may: never is the placeholder taken for an answer."""
    tool = script(bench, 'cp "$3" "$3.copy"; exec "$real" -b "$2" "$3.copy"')
    disassembler = bench.make()
    case = corpus["vadd", "sm_90"]
    for number in (1, 2):
        assert await disassembler.disassemble(tool, case.path.read_bytes()) == wanted(tools, case)
        await disassembler.settled()
        assert disassembler.runs["cold"] == number
    assert disassembler.runs["warm"] == 0
    assert disassembler.runs["parked"] == 0


@linux
async def test_a_file_system_without_leases(
    bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_folders", lambda: ["/proc", "/nowhere"])
    disassembler = bench.make()
    case = corpus["vadd", "sm_90"]
    for _ in range(2):
        assert await disassembler.disassemble(bench.nvdisasm, case.path.read_bytes()) == wanted(tools, case)
        await disassembler.settled()
    assert disassembler.runs == {"cold": 2}


@linux
async def test_a_parked_process_that_was_killed_costs_one_cold_run(
    bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools
) -> None:
    disassembler = bench.make()
    disassembler.prepare(bench.nvdisasm, "sm_90")
    await disassembler.settled()
    for process in parked():
        process.kill()
    case = corpus["vadd", "sm_90"]
    assert await disassembler.disassemble(bench.nvdisasm, case.path.read_bytes()) == wanted(tools, case)
    assert disassembler.runs["cold"] == 1


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_the_helper_killed_takes_nvdisasm_along(bench: Bench, how: signal.Signals) -> None:
    disassembler = bench.make()
    disassembler.prepare(bench.nvdisasm, "sm_90")
    await disassembler.settled()
    (process,) = parked()
    helper = process.parent()
    assert helper is not None
    helper.send_signal(how)
    assert not await asyncio.to_thread(outlive, [process])


@linux
async def test_a_dead_server_leaves_nothing(bench: Bench) -> None:
    """Killed outright, with one process parked."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import asyncio, sys, tempfile\n"
        "from tile_lsp.engine import disassembler as module\n"
        "from tile_lsp.engine.launcher import Launcher\n"
        "from tile_lsp.engine.stats import Counters\n"
        "from tile_lsp.engine.tools import Tool\n"
        "async def main():\n"
        "    module._folders = lambda: [tempfile.gettempdir()]\n"
        "    disassembler = module.Disassembler(Counters(), Launcher())\n"
        "    disassembler.prepare(Tool('nvdisasm', sys.argv[1], '13.4'), 'sm_90')\n"
        "    await disassembler.settled()\n"
        "    print('parked', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n",
        bench.nvdisasm.path,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(bench.folder)},
    )
    assert server.stdout is not None
    assert (await server.stdout.readline()).strip() == b"parked"
    left = psutil.Process(server.pid).children(recursive=True)
    assert len(left) == 3  # the helper, nvdisasm, and what starts tools
    assert list(bench.folder.iterdir())
    server.kill()
    await server.wait()
    assert not await asyncio.to_thread(outlive, left)
    assert list(bench.folder.iterdir()) == []


@linux
@pytest.mark.parametrize("moment", ["trying", "starting", "parked", "running"])
async def test_closed_at_any_moment(bench: Bench, corpus: dict[tuple[str, str], Case], moment: str) -> None:
    """What is left is checked by the fixture."""
    disassembler = bench.make()
    disassembler.prepare(bench.nvdisasm, "sm_90")
    if moment == "trying":
        await until(lambda: bench.children())
    elif moment == "starting":
        await until(lambda: disassembler.runs["parked"])
    else:
        await disassembler.settled()
    request = None
    if moment == "running":
        code = disassembly.sections(corpus["matmul", "sm_90"].cubin)
        request = asyncio.ensure_future(disassembler.texts(bench.nvdisasm, "sm_90", code))
        await asyncio.sleep(0.004)
    await disassembler.close()
    if request is not None:
        with contextlib.suppress(asyncio.CancelledError):
            await request
    refused = await disassembler.texts(bench.nvdisasm, "sm_90", [bytes(16)])
    assert isinstance(refused, Fault)


async def test_cancelling_one_leaves_the_others(
    bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools
) -> None:
    disassembler = bench.make(park=False)
    case = corpus["vadd", "sm_90"]
    code = disassembly.sections(case.cubin)
    requests = [asyncio.ensure_future(disassembler.texts(bench.nvdisasm, "sm_90", code)) for _ in range(3)]
    await until(lambda: bench.counters.tools["nvdisasm"])
    requests[1].cancel()
    made = await asyncio.gather(*requests, return_exceptions=True)
    assert made[0] == made[2] == tools.disassemble(case.cubin)
    assert isinstance(made[1], asyncio.CancelledError)
    assert disassembler.runs["cold"] == 1


async def test_cancelling_all_stops_the_run(bench: Bench, corpus: dict[tuple[str, str], Case]) -> None:
    tool = script(bench, "exec sleep 600")
    disassembler = bench.make(park=False)
    code = disassembly.sections(corpus["vadd", "sm_90"].cubin)
    requests = [asyncio.ensure_future(disassembler.texts(tool, "sm_90", code)) for _ in range(2)]
    await until(lambda: bench.children(recursive=True))
    for request in requests:
        request.cancel()
    await asyncio.gather(*requests, return_exceptions=True)
    await disassembler.settled()


async def test_one_damaged_section_costs_the_others_nothing(
    bench: Bench, corpus: dict[tuple[str, str], Case], tools: Tools
) -> None:
    case = corpus["vadd", "sm_90"]
    disassembler = bench.make(park=False)
    good, bad = await asyncio.gather(
        disassembler.texts(bench.nvdisasm, "sm_90", disassembly.sections(case.cubin)),
        disassembler.texts(bench.nvdisasm, "sm_90", [b"\xff" * 32]),
    )
    assert good == tools.disassemble(case.cubin)
    assert isinstance(bad, Fault)
    assert bad.kind is FaultKind.ENVIRONMENT


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo 'something is amiss' >&2; exit 3", "something is amiss"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("echo nonsense", "was not understood"),
        ("exec sleep 600", "longer than 0.3 s"),
    ],
)
async def test_a_failing_tool_is_the_environments_fault(
    bench: Bench, corpus: dict[tuple[str, str], Case], body: str, words: str
) -> None:
    disassembler = bench.make(limit=0.3 if "sleep" in body else PATIENCE)
    made = await disassembler.disassemble(script(bench, body), corpus["vadd", "sm_90"].path.read_bytes())
    assert isinstance(made, Fault)
    assert made.kind is FaultKind.ENVIRONMENT
    assert words in made.message
    assert made.help
    await disassembler.settled()


async def test_no_tool_and_no_cubin(bench: Bench, corpus: dict[tuple[str, str], Case]) -> None:
    disassembler = bench.make()
    missing = await disassembler.disassemble(
        Tool("nvdisasm", "/nowhere/nvdisasm", ""), corpus["vadd", "sm_90"].path.read_bytes()
    )
    assert isinstance(missing, Fault)
    assert "could not be started" in missing.message
    damaged = await disassembler.disassemble(bench.nvdisasm, b"no cubin")
    assert isinstance(damaged, Fault)
    assert damaged.kind is FaultKind.ENVIRONMENT
    assert await disassembler.texts(bench.nvdisasm, "sm_90", []) == []
    await disassembler.settled()


async def until(condition: Callable[[], object]) -> None:
    """For what other processes do, of which nothing tells."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def parked() -> list[psutil.Process]:
    """nvdisasm processes that stand still."""
    return [process for process in named("nvdisasm") if status(process) == psutil.STATUS_STOPPED]
