"""cuTile, and what no language has a part in: the server's start, its memory, its answers under load."""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from tile_lsp.engine.session import Session
from tile_lsp.engine.stats import Stats
from tile_lsp.model.settings import Cache, Settings
from tile_lsp.model.stage import Stage

from .client import Client
from .workplace import TARGET, Bench, Case, Figure, Language, environment, ratio, timed

CUTILE = Language("", "baseline", "front end", "codegen")
OCCUPANCIES = [{"occupancy": number} for number in range(1, 18)]
MATMUL = Case(
    "matmul.py",
    "matmul",
    {
        "A": "f16[4096,4096]",
        "B": "f16[4096,4096]",
        "C": "f32[4096,4096]",
        "tm": "128",
        "tn": "128",
        "tk": "64",
    },
    ("GROUP = 8\n", "GROUP = {}\n"),
    "acc = multiply(",
)
VECTOR_ADD = Case(
    "vector_add.py",
    "vector_add",
    {"a": "f32[1048576]", "b": "f32[1048576]", "c": "f32[1048576]", "tile": "1024"},
    ("tile=x + y)", "tile=x + y * {})"),
    "x = ct.load",
)
ATTENTION = Case(
    "attention.py",
    "attention",
    {
        "Q": "f16[4,32,2048,128]",
        "K": "f16[4,8,2048,128]",
        "V": "f16[4,8,2048,128]",
        "Out": "f16[4,32,2048,128]",
        "scale": "f32",
        "group": "4",
        "depth": "128",
        "tile_m": "128",
        "tile_n": "64",
        "causal": "True",
    },
    ("LOG2_E = math.log2(math.e)", "LOG2_E = math.log2(math.e) + {} * 1e-9"),
    "first_query = ct.bid(0)",
)


def ran(before: Stats, after: Stats) -> int:
    """Compiler and tool runs between two looks."""
    return (
        after.inferences
        - before.inferences
        + after.codegens
        - before.codegens
        + sum(after.tools.values())
        - sum(before.tools.values())
    )


async def edit_to_sass(it: Bench, case: Case, limit: float, samples: int = 5) -> Figure:
    path = await it.open(case)
    await it.artifact(path, case, Stage.SASS)  # whatever is kept warm is warm
    ours, by_hand = [], []

    async def edit(text: str) -> None:
        it.session.change(path, text, 2)
        await it.artifact(path, case, Stage.SASS)

    for _ in range(samples):
        text = it.text(case)
        seconds = await it.by_hand("infer", name=case.kernel, text=text)
        seconds += await it.by_hand("codegen", name=case.kernel, target=TARGET)
        by_hand.append(seconds + await it.by_hand("disassemble", name=case.kernel))
        ours.append(await timed(lambda text=text: edit(text)))
        await it.session._disassembler.settled()  # as between two edits of a person
    return ratio(f"edit → SASS, {case.kernel}", ours, by_hand, limit, "front end, tileiras, nvdisasm")


async def many_configs(it: Bench, case: Case, limit: float, count: int = 8) -> Figure:
    path = await it.open(case)
    await it.by_hand("infer", name=case.kernel, text=it.text(case, 1))
    by_hand = []
    jobs = []
    for occupancy in range(1, count + 1):
        it.override(path, case, f"occupancy={occupancy}")
        await it.session.settled(path)
        (kernel,) = it.session.snapshot().files[path].kernels
        assert kernel.job is not None
        jobs.append(kernel.job.job)
        await it.session.artifact(path, case.kernel, Stage.CUBIN, kernel.job.job)
        await it.by_hand("codegen", name=case.kernel, target=TARGET, options={"occupancy": occupancy})
        by_hand.append(await it.by_hand("disassemble", name=case.kernel))

    async def all_of_them() -> None:
        await asyncio.gather(
            *(it.session.artifact(path, case.kernel, Stage.SASS, job) for job in jobs),
        )

    ours = await timed(all_of_them)
    total = sum(by_hand)
    return Figure(
        f"SASS of {count} configs, {case.kernel}",
        ours,
        f"≤ {limit} ×",
        ours <= limit * total,
        total,
        f"{count} × nvdisasm",
    )


async def same_meaning(it: Bench, case: Case, samples: int = 20) -> Figure:
    """A comment above the kernel, another one each time."""
    path = await it.open(case)
    await it.artifact(path, case, Stage.PTX)
    text = it.text(case)
    it.session.change(path, text, 1)
    await it.session.inferred(path)
    before = it.session.stats()

    async def edit(number: int) -> None:
        it.session.change(path, f"# {number}\n\n{text}", 2)
        await it.session.inferred(path)
        it.show_hover(path, case)

    ours = [await timed(lambda number=number: edit(number)) for number in range(samples)]
    started = ran(before, it.session.stats())
    seconds = statistics.median(ours)
    return Figure(
        f"edit that keeps the version, {case.kernel}",
        seconds,
        "≤ 10 ms, 0 runs",
        seconds <= 0.010 and started == 0,
        note=f"{started} compiler runs",
    )


async def start(it: Bench, samples: int = 7) -> list[Figure]:
    """From the start of the process to the answer to `initialize`; and the server's memory after a hover with types."""
    seconds, memory = [], 0.0
    for _ in range(samples + 1):  # the first one compiles the modules
        begin = time.perf_counter()
        client = await Client.start(environment(it.folder))
        await client.initialize(it.folder, {})
        seconds.append(time.perf_counter() - begin)
        await client.end()
    client = await Client.start(environment(it.folder))
    await _opened(client, it.folder, MATMUL)
    memory = psutil.Process(client.process.pid).memory_info().rss / 1e6
    await client.end()
    middle = statistics.median(seconds[1:])
    return [
        Figure("start → initialized", middle, "≤ 300 ms", middle <= 0.300),
        Figure("memory of the server, workers left out", memory, "≤ 100 MB", memory <= 100, unit="MB"),
    ]


async def _opened(client: Client, folder: Path, case: Case) -> dict[str, Any]:
    """Start work on a file and wait until a hover has its types. Returns the hover's parameters."""
    await client.initialize(folder, {"python": sys.executable, "targets": [TARGET]})
    path = folder / case.file
    text = CUTILE.text(case, 0)
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    client.tell("textDocument/didOpen", {"textDocument": document})
    line = next(number for number, line in enumerate(text.splitlines()) if case.cursor in line)
    position = {"line": line, "character": text.splitlines()[line].index(case.cursor)}
    parameters = {"textDocument": {"uri": path.as_uri()}, "position": position}
    while True:
        answer = await client.ask("textDocument/hover", parameters)
        if answer is not None and "Tile" in json.dumps(answer):
            return parameters
        await asyncio.sleep(0.05)


async def warm_hovers(it: Bench, samples: int = 300) -> list[Figure]:
    """Over stdio: with nothing to do, and while every kernel of the workspace compiles for target after target."""
    client = await Client.start(environment(it.folder))
    parameters = await _opened(client, it.folder, MATMUL)

    async def measure(pause: float) -> list[float]:
        times = []
        for _ in range(samples):
            seconds, answer = await client.timed("textDocument/hover", parameters)
            assert answer is not None
            times.append(seconds)
            await asyncio.sleep(pause)
        return sorted(times)

    idle = await measure(0.0)
    stop = asyncio.Event()
    load = asyncio.ensure_future(_load(client, it.folder, stop))
    await asyncio.sleep(0.5)
    busy = await measure(0.02)
    stop.set()
    compiled = await load
    await client.end()
    return [_percentiles("warm hover, idle", idle), _percentiles(f"warm hover, {compiled} kernels compiling", busy)]


async def _load(client: Client, folder: Path, stop: asyncio.Event) -> int:
    """Edit and compile other files without a pause; returns how many versions were compiled."""
    compiled = 0
    for number in itertools.count(1):
        if stop.is_set():
            return compiled
        for case in (ATTENTION, VECTOR_ADD):
            uri = (folder / case.file).as_uri()
            text = CUTILE.text(case, 10_000 + number)
            if number == 1:
                document = {"uri": uri, "languageId": "python", "version": number, "text": text}
                client.tell("textDocument/didOpen", {"textDocument": document})
            else:
                identity = {"uri": uri, "version": number}
                client.tell("textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": text}]})
            asked = {"textDocument": {"uri": uri}, "kernel": case.kernel, "stage": "sass"}
            await client.ask("tile/document", asked)
            compiled += 1
    raise AssertionError


def _percentiles(path: str, times: list[float]) -> Figure:
    p50, p95 = times[len(times) // 2], times[len(times) * 95 // 100]
    return Figure(path, p95, "p95 ≤ 10 ms", p95 <= 0.010, note=f"p50 {p50 * 1e3:.1f} ms, p95 shown")


async def reopen(it: Bench, count: int = 100) -> Figure:
    """A workspace of many kernels, opened again by a new process' session."""
    folder = it.folder / "many"
    folder.mkdir()
    for number in range(count // 10):
        kernels = [
            f"# tile-lsp: x=f32[4096] n=128\n@ct.kernel\ndef k{number}_{index}(x, n: ct.Constant[int]):\n"
            f"    i = ct.bid(0)\n    t = ct.load(x, index=(i,), shape=(n,)) * {number * 10 + index}\n"
            f"    ct.store(x, index=(i,), tile=t)\n"
            for index in range(10)
        ]
        (folder / f"m{number}.py").write_text("import cuda.tile as ct\n\n\n" + "\n\n".join(kernels))
    settings = Settings(python=sys.executable, cache=Cache(directory=str(folder / "cache")))

    async def once() -> tuple[float, Stats]:
        session = Session(settings, roots=[str(folder)], idle_delay=None)
        await session.environment(str(folder / "m0.py"))

        async def everything() -> None:
            for path in sorted(folder.glob("*.py")):
                session.open(str(path))
            await session.settled()

        seconds = await timed(everything)
        stats = session.stats()
        await session.close()
        return seconds, stats

    first, _ = await once()
    again, stats = await once()
    started = ran(Stats(), stats)
    return Figure(
        f"reopen a workspace of {count} kernels",
        again,
        "0 runs",
        started == 0,
        note=f"{started} compiler runs; first time {first * 1e3:.0f} ms",
    )
