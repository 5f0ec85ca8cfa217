"""Where figures are taken: a workspace with a language's examples, a session, and beside it the same work by hand."""

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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tile_lsp.engine import collector
from tile_lsp.engine.session import Session
from tile_lsp.ide.hover import hover
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.settings import Cache, Settings
from tile_lsp.model.stage import Stage
from tile_lsp.server.run import SWITCH_INTERVAL

ROOT = Path(__file__).parent.parent
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
    ratio: float | None = None
    """Ours to by hand."""


class Language(NamedTuple):
    """A front end, its examples, and what calls its compiler by hand."""

    name: str
    """In front of its figures; empty for cuTile."""
    baseline: str
    """The module of `benchmarks` that does the same by hand: a JSON request a line, an answer in seconds."""
    front_end: str
    """What it calls for an edit."""
    code_generator: str
    """What it calls for another config."""
    python: Path = Path(sys.executable)

    @property
    def examples(self) -> Path:
        return ROOT / "examples" / (self.name or "cutile")

    def text(self, case: Case, number: int) -> str:
        """A case's file, edited."""
        old, new = case.edited
        text = (self.examples / case.file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        return text.replace(old, new.format(number))

    def figure(self, words: str) -> str:
        return f"{self.name}: {words}" if self.name else words


class Case(NamedTuple):
    """A kernel, and how an edit changes its meaning: each number gives another version."""

    file: str
    kernel: str
    arguments: Any
    """As the baseline takes them."""
    edited: tuple[str, str]
    cursor: str
    """The hover asks for the type of the first name of this text."""
    comment: str = ""
    """Arguments and hints that the job is given beside its target."""


class ByHand:
    """The process that calls compiler and tools by hand."""

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
    language: Language
    folder: Path
    session: Session
    by_hand: ByHand
    numbers: Iterator[int]
    """Never the same twice: what was compiled once is in the cache."""

    def text(self, case: Case, number: int | None = None) -> str:
        """The case's file, edited to be another one than before, or as that number makes it."""
        return self.language.text(case, next(self.numbers) if number is None else number)

    async def open(self, case: Case) -> str:
        path = str(self.folder / case.file)
        await self.by_hand("kernel", name=case.kernel, path=f"/by/hand/{case.file}", arguments=case.arguments)
        self.override(path, case)
        self.session.open(path, self.text(case), 1, kernels=(case.kernel,))
        await self.session.settled(path)
        return path

    def override(self, path: str, case: Case, hints: str = "") -> None:
        words = " ".join(filter(None, (case.comment, hints, f"target={TARGET}")))
        self.session.override(path, case.kernel, f"# tile-lsp: {words}")

    async def artifact(self, path: str, case: Case, stage: Stage) -> Artifact:
        made = await self.session.artifact(path, case.kernel, stage)
        if not isinstance(made, Artifact):
            raise RuntimeError(made.message)
        return made

    async def rest(self) -> None:
        """As between two edits of a person: what the last one set going is done, and the next worker is ready."""
        await self.session.settled()
        await asyncio.sleep(0.15)

    def show_hover(self, path: str, case: Case) -> None:
        """What an editor asks for after an edit."""
        snapshot = self.session.snapshot()
        for number, line in enumerate(snapshot.files[path].lines, 1):
            if case.cursor in line:
                assert hover(snapshot, path, number, line.index(case.cursor)) is not None
                return
        raise RuntimeError(f"{case.cursor!r} is nowhere in {path}")


@asynccontextmanager
async def bench(language: Language) -> AsyncIterator[Bench]:
    """A workspace with the examples, a session with an empty cache, and the baseline's process."""
    top = Path(tempfile.mkdtemp(prefix="tile-lsp-bench-"))
    folder = top / "workspace"
    folder.mkdir()
    for path in language.examples.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    settings = Settings(python=str(language.python), cache=Cache(directory=str(top / "store")))
    # As a server is set.
    sys.setswitchinterval(SWITCH_INTERVAL)
    collector.calm()
    session = Session(settings, roots=[str(folder)], idle_delay=None, park=True)
    process = await asyncio.create_subprocess_exec(
        language.python,
        "-m",
        f"benchmarks.{language.baseline}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**environment(folder), "CUDA_TILE_CACHE_DIR": "off", "PYTHONWARNINGS": "ignore"},
    )
    try:
        yield Bench(language, folder, session, ByHand(process), itertools.count(1000))
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await session.close()
        shutil.rmtree(top)


def environment(folder: Path) -> dict[str, str]:
    """For a workspace: a cache of its own beside it, nothing that leads tools to another toolkit, and compiled modules,
    as an installed server has them.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return {**kept, "XDG_CACHE_HOME": str(folder.parent / "cache"), "PYTHONPYCACHEPREFIX": str(folder.parent / "pyc")}


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Seconds; garbage is collected before, not in between, on both sides."""
    gc.collect()
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


def ratio(path: str, ours: list[float], by_hand: list[float], limit: float | None, note: str = "") -> Figure:
    """Of samples that were taken in turns: a machine that changes its pace changes both of a pair. `limit`: None where
    there is none, and the figure is for information.
    """
    mine, theirs = statistics.median(ours), statistics.median(by_hand)
    middle = statistics.median(one / other for one, other in zip(ours, by_hand, strict=True))
    holds = limit is None or middle <= limit
    return Figure(path, mine, f"≤ {limit} ×" if limit else "", holds, theirs, note, ratio=middle)


async def edit_to_types(it: Bench, case: Case, limit: float | None, samples: int = 15) -> Figure:
    path = await it.open(case)
    ours, by_hand = [], []

    async def edit(text: str) -> None:
        it.session.change(path, text, 2)
        await it.session.inferred(path)
        it.show_hover(path, case)

    for _ in range(samples + 2):
        text = it.text(case)
        await it.rest()
        by_hand.append(await it.by_hand("infer", name=case.kernel, text=text))
        await it.rest()
        ours.append(await timed(lambda text=text: edit(text)))
    name = it.language.figure(f"edit → types, {case.kernel}")
    return ratio(name, ours[2:], by_hand[2:], limit, f"{it.language.front_end}, in process")


async def second_config(it: Bench, case: Case, limit: float, options: Iterable[dict[str, Any]]) -> Figure:
    """Each of the options as hints of the job, and as the baseline takes them. The first two load libraries."""
    path = await it.open(case)
    await it.by_hand("infer", name=case.kernel, text=it.text(case, 1))
    ours, by_hand = [], []
    before = it.session.stats().inferences
    for chosen in options:
        words = " ".join(f"{name}={value}" for name, value in chosen.items())

        async def ask(words: str = words) -> None:
            it.override(path, case, words)
            await it.artifact(path, case, Stage.CUBIN)

        by_hand.append(await it.by_hand("codegen", name=case.kernel, target=TARGET, options=chosen))
        ours.append(await timed(ask))
    inferences = it.session.stats().inferences - before
    note = f"{it.language.code_generator} alone; {inferences} inferences"
    figure = ratio(it.language.figure(f"another config, {case.kernel}"), ours[2:], by_hand[2:], limit, note)
    return figure._replace(holds=figure.holds and inferences == 0)
