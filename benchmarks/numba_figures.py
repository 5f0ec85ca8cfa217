"""Numba-CUDA: an edit to new types, and another config of a known kernel, beside its own passes called by hand."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from tile_lsp.engine.session import Session
from tile_lsp.ide.hover import hover
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.settings import Cache, Settings
from tile_lsp.model.stage import Stage

from .figures import ByHand, Figure, environment, ratio, rest, timed

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / "build" / "venvs" / "numba" / "bin" / "python"
EXAMPLES = ROOT / "examples" / "numba"
TARGET = "sm_90"


class Case(NamedTuple):
    """A kernel, and how an edit changes its meaning: each number gives another version."""

    file: str
    kernel: str
    arguments: tuple[str, ...]
    edited: tuple[str, str]
    cursor: str

    def text(self, number: int) -> str:
        old, new = self.edited
        text = (EXAMPLES / self.file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        return text.replace(old, new.format(number))


SAXPY = Case(
    "saxpy.py",
    "saxpy",
    ("float32", "float32[::1]", "float32[::1]"),
    ("a * x[i] + y[i]", "a * x[i] + y[i] * {}"),
    "i = cuda.grid",
)
MATMUL = Case(
    "matmul.py",
    "matmul",
    ("float32[:,::1]", "float32[:,::1]", "float32[:,::1]"),
    ("+ TILE - 1) // TILE):", "+ TILE - 1) // TILE + {0} - {0}):"),
    "total = float32",
)


class Bench(NamedTuple):
    folder: Path
    session: Session
    by_hand: ByHand
    numbers: Iterator[int]

    async def open(self, case: Case) -> str:
        path = str(self.folder / case.file)
        await self.by_hand("kernel", name=case.kernel, path=f"/by/hand/{case.file}", arguments=case.arguments)
        self.session.override(path, case.kernel, f"# tile-lsp: target={TARGET}")
        self.session.open(path, case.text(next(self.numbers)), 1, kernels=(case.kernel,))
        await self.session.settled(path)
        return path


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    """A workspace with the examples, a session with an empty cache, and the process that works by hand."""
    folder = Path(tempfile.mkdtemp(prefix="tile-lsp-bench-"))
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, folder)
    settings = Settings(python=str(PYTHON), cache=Cache(directory=str(folder / "cache")))
    session = Session(settings, roots=[str(folder)], idle_delay=None)
    process = await asyncio.create_subprocess_exec(
        PYTHON,
        "-m",
        "benchmarks.numba_baseline",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=environment(folder),
    )
    try:
        yield Bench(folder, session, ByHand(process), itertools.count(1000))
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await session.close()
        shutil.rmtree(folder)


async def edit_to_types(it: Bench, case: Case, limit: float, samples: int = 15) -> Figure:
    path = await it.open(case)
    ours, by_hand = [], []

    async def edit(text: str) -> None:
        it.session.change(path, text, 2)
        await it.session.inferred(path)
        snapshot = it.session.snapshot()
        lines = snapshot.files[path].lines
        number = next(number for number, line in enumerate(lines, 1) if case.cursor in line)
        assert hover(snapshot, path, number, lines[number - 1].index(case.cursor)) is not None

    for _ in range(samples + 2):
        text = case.text(next(it.numbers))
        await rest(it.session)
        by_hand.append(await it.by_hand("infer", name=case.kernel, text=text))
        ours.append(await timed(lambda text=text: edit(text)))
    return ratio(f"numba: edit → types, {case.kernel}", ours[2:], by_hand[2:], limit, "its passes in process")


async def second_config(it: Bench, case: Case, limit: float) -> Figure:
    path = await it.open(case)
    await it.by_hand("infer", name=case.kernel, text=case.text(1))
    ours, by_hand = [], []
    before = it.session.stats().inferences
    for registers, fastmath in itertools.product((32, 40, 48, 64, 80), (False, True)):
        comment = f"# tile-lsp: target={TARGET} max_registers={registers} fastmath={fastmath}"

        async def ask(comment: str = comment) -> None:
            it.session.override(path, case.kernel, comment)
            made = await it.session.artifact(path, case.kernel, Stage.CUBIN)
            assert isinstance(made, Artifact), made

        options = {"max_registers": registers, "fastmath": fastmath}
        by_hand.append(await it.by_hand("codegen", name=case.kernel, options=options))
        ours.append(await timed(ask))
    inferences = it.session.stats().inferences - before
    note = f"codegen alone; {inferences} inferences"
    # The first of each side loads libraries.
    figure = ratio(f"numba: another config, {case.kernel}", ours[2:], by_hand[2:], limit, note)
    return figure._replace(holds=figure.holds and inferences == 0)
