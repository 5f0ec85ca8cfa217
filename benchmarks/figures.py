"""The figures, each a ratio to the same tools called by hand, or an absolute limit."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from tile_lsp.engine.session import Session
from tile_lsp.engine.stats import Stats
from tile_lsp.ide.hover import hover
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.settings import Cache, Settings
from tile_lsp.model.stage import Stage

from .client import Client

EXAMPLES = Path(__file__).parent.parent / "examples" / "cutile"
TARGET = "sm_90"
_LEFT_OUT = ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH", "PYTHONDONTWRITEBYTECODE")


class Figure(NamedTuple):
    """One line of the result. Seconds, or what `unit` says."""

    path: str
    ours: float
    limit: str
    holds: bool
    by_hand: float | None = None
    note: str = ""
    unit: str = "ms"


class Case(NamedTuple):
    """A kernel, and how an edit changes its meaning: each number gives another version."""

    file: str
    kernel: str
    arguments: dict[str, str]
    edited: tuple[str, str]
    cursor: str
    """The hover asks for the type of the first name of this text."""

    def text(self, number: int) -> str:
        old, new = self.edited
        text = (EXAMPLES / self.file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        return text.replace(old, new.format(number))


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


class ByHand:
    """The process that calls compiler and tools by hand (`baseline.py`)."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def __call__(self, op: str, **fields: Any) -> float:
        """Seconds that it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{op} failed by hand")
        return json.loads(line)


class Bench(NamedTuple):
    folder: Path
    session: Session
    by_hand: ByHand
    numbers: Iterator[int]
    """Never the same twice: what was compiled once is in the cache."""

    async def open(self, case: Case) -> str:
        path = str(self.folder / case.file)
        await self.by_hand("kernel", name=case.kernel, path=f"/by/hand/{case.file}", arguments=case.arguments)
        self.session.override(path, case.kernel, f"# tile-lsp: target={TARGET}")
        self.session.open(path, case.text(next(self.numbers)), 1, kernels=(case.kernel,))
        await self.session.settled(path)
        return path

    async def artifact(self, path: str, case: Case, stage: Stage) -> Artifact:
        made = await self.session.artifact(path, case.kernel, stage)
        if not isinstance(made, Artifact):
            raise RuntimeError(made.message)
        return made


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    """A workspace with the examples, a session with an empty cache, and the baseline's process."""
    folder = Path(tempfile.mkdtemp(prefix="tile-lsp-bench-"))
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, folder)
    cache = Cache(directory=str(folder / "cache"))
    session = Session(Settings(python=sys.executable, cache=cache), roots=[str(folder)], idle_delay=None, park=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.baseline",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
        env={**environment(folder), "CUDA_TILE_CACHE_DIR": "off"},
    )
    try:
        yield Bench(folder, session, ByHand(process), itertools.count(1000))
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await session.close()
        shutil.rmtree(folder)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Seconds; garbage is collected before, not in between, on both sides."""
    gc.collect()
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


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


def ratio(path: str, ours: list[float], by_hand: list[float], limit: float | None, note: str = "") -> Figure:
    """`limit`: None where there is none, and the figure is for information."""
    mine, theirs = statistics.median(ours), statistics.median(by_hand)
    if limit is None:
        return Figure(path, mine, "", True, theirs, note)
    return Figure(path, mine, f"≤ {limit} ×", mine <= limit * theirs, theirs, note)


async def rest(session: Session) -> None:
    """As between two edits of a person: what the last one set going is done, and the next worker is ready."""
    await session.settled()
    await asyncio.sleep(0.15)


def show_hover(session: Session, path: str, case: Case) -> None:
    """What an editor asks for after an edit."""
    snapshot = session.snapshot()
    for number, line in enumerate(snapshot.files[path].lines, 1):
        if case.cursor in line:
            assert hover(snapshot, path, number, line.index(case.cursor)) is not None
            return
    raise RuntimeError(f"{case.cursor!r} is nowhere in {path}")


async def edit_to_types(bench: Bench, case: Case, limit: float | None, samples: int = 15) -> Figure:
    path = await bench.open(case)
    ours, by_hand = [], []

    async def edit(text: str) -> None:
        bench.session.change(path, text, 2)
        await bench.session.inferred(path)
        show_hover(bench.session, path, case)

    for _ in range(samples + 2):
        text = case.text(next(bench.numbers))
        await rest(bench.session)
        by_hand.append(await bench.by_hand("infer", name=case.kernel, text=text))
        ours.append(await timed(lambda text=text: edit(text)))
    return ratio(f"edit → types, {case.kernel}", ours[2:], by_hand[2:], limit, "front end in process")


async def edit_to_sass(bench: Bench, case: Case, limit: float, samples: int = 5) -> Figure:
    path = await bench.open(case)
    await bench.artifact(path, case, Stage.SASS)  # whatever is kept warm is warm
    ours, by_hand = [], []

    async def edit(text: str) -> None:
        bench.session.change(path, text, 2)
        await bench.artifact(path, case, Stage.SASS)

    for _ in range(samples):
        text = case.text(next(bench.numbers))
        seconds = await bench.by_hand("infer", name=case.kernel, text=text)
        seconds += await bench.by_hand("codegen", name=case.kernel, target=TARGET)
        by_hand.append(seconds + await bench.by_hand("disassemble", name=case.kernel))
        ours.append(await timed(lambda text=text: edit(text)))
        await bench.session._disassembler.settled()  # as between two edits of a person
    return ratio(f"edit → SASS, {case.kernel}", ours, by_hand, limit, "front end, tileiras, nvdisasm")


async def second_config(bench: Bench, case: Case, limit: float) -> Figure:
    path = await bench.open(case)
    await bench.by_hand("infer", name=case.kernel, text=case.text(1))
    ours, by_hand = [], []
    before = bench.session.stats().inferences
    for occupancy in range(1, 8):
        comment = f"# tile-lsp: target={TARGET} occupancy={occupancy}"

        async def ask(comment: str = comment) -> None:
            bench.session.override(path, case.kernel, comment)
            await bench.artifact(path, case, Stage.CUBIN)

        hints = {"occupancy": occupancy}
        by_hand.append(await bench.by_hand("codegen", name=case.kernel, target=TARGET, hints=hints))
        ours.append(await timed(ask))
    inferences = bench.session.stats().inferences - before
    figure = ratio(f"another config, {case.kernel}", ours, by_hand, limit, f"codegen alone; {inferences} inferences")
    return figure._replace(holds=figure.holds and inferences == 0)


async def many_configs(bench: Bench, case: Case, limit: float, count: int = 8) -> Figure:
    path = await bench.open(case)
    await bench.by_hand("infer", name=case.kernel, text=case.text(1))
    by_hand = []
    jobs = []
    for occupancy in range(1, count + 1):
        bench.session.override(path, case.kernel, f"# tile-lsp: target={TARGET} occupancy={occupancy}")
        await bench.session.settled(path)
        (kernel,) = bench.session.snapshot().files[path].kernels
        assert kernel.job is not None
        jobs.append(kernel.job.job)
        await bench.session.artifact(path, case.kernel, Stage.CUBIN, kernel.job.job)
        await bench.by_hand("codegen", name=case.kernel, target=TARGET, hints={"occupancy": occupancy})
        by_hand.append(await bench.by_hand("disassemble", name=case.kernel))

    async def all_of_them() -> None:
        await asyncio.gather(
            *(bench.session.artifact(path, case.kernel, Stage.SASS, job) for job in jobs),
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


async def same_meaning(bench: Bench, case: Case, samples: int = 20) -> Figure:
    """A comment above the kernel, another one each time."""
    path = await bench.open(case)
    await bench.artifact(path, case, Stage.PTX)
    text = case.text(next(bench.numbers))
    bench.session.change(path, text, 1)
    await bench.session.inferred(path)
    before = bench.session.stats()

    async def edit(number: int) -> None:
        bench.session.change(path, f"# {number}\n\n{text}", 2)
        await bench.session.inferred(path)
        show_hover(bench.session, path, case)

    ours = [await timed(lambda number=number: edit(number)) for number in range(samples)]
    started = ran(before, bench.session.stats())
    seconds = statistics.median(ours)
    return Figure(
        f"edit that keeps the version, {case.kernel}",
        seconds,
        "≤ 10 ms, 0 runs",
        seconds <= 0.010 and started == 0,
        note=f"{started} compiler runs",
    )


def environment(folder: Path) -> dict[str, str]:
    """A cache of its own, nothing that leads tools to another toolkit, and compiled modules, as an installed server has
    them.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return {**kept, "XDG_CACHE_HOME": str(folder / "xdg"), "PYTHONPYCACHEPREFIX": str(folder / "pyc")}


async def start(bench: Bench, samples: int = 7) -> list[Figure]:
    """From the start of the process to the answer to `initialize`; and the server's memory after a hover with types."""
    seconds, memory = [], 0.0
    for _ in range(samples + 1):  # the first one compiles the modules
        begin = time.perf_counter()
        client = await Client.start(environment(bench.folder))
        await client.initialize(bench.folder, {})
        seconds.append(time.perf_counter() - begin)
        await client.end()
    client = await Client.start(environment(bench.folder))
    await _opened(client, bench.folder, MATMUL)
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
    text = case.text(0)
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


async def warm_hovers(bench: Bench, samples: int = 300) -> list[Figure]:
    """Over stdio: with nothing to do, and while every kernel of the workspace compiles for target after target."""
    client = await Client.start(environment(bench.folder))
    parameters = await _opened(client, bench.folder, MATMUL)

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
    load = asyncio.ensure_future(_load(client, bench.folder, stop))
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
            text = case.text(10_000 + number)
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


async def reopen(bench: Bench, count: int = 100) -> Figure:
    """A workspace of many kernels, opened again by a new process' session."""
    folder = bench.folder / "many"
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
