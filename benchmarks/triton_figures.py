"""Triton: an edit to new types, another config of a known kernel, and the first compile, beside triton by hand."""

from __future__ import annotations

import asyncio
import itertools
import json
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
PYTHON = max((ROOT / "build" / "venvs").glob("triton-*/bin/python"), default=Path("nowhere"))
EXAMPLES = ROOT / "examples" / "triton"
TARGET = "sm_90"


class Case(NamedTuple):
    """A kernel, and how an edit changes its meaning: each number gives another version."""

    file: str
    kernel: str
    arguments: dict[str, str]
    edited: tuple[str, str]
    cursor: str

    def text(self, number: int) -> str:
        old, new = self.edited
        text = (EXAMPLES / self.file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        return text.replace(old, new.format(number))

    @property
    def comment(self) -> str:
        return "# tile-lsp: " + " ".join(f"{name}={spec}" for name, spec in self.arguments.items())


ADD = Case(
    "add.py",
    "add",
    {**dict.fromkeys(("x_ptr", "y_ptr", "output_ptr"), "*fp32:16"), "n": "i32:16", "BLOCK": "1024"},
    ("output = x + y\n", "output = x + y * {}\n"),
    "offsets = pid",
)
MATMUL = Case(
    "matmul.py",
    "matmul",
    {
        **dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16:16"),
        **dict.fromkeys(("m", "n", "k", "stride_am", "stride_ak", "stride_bk", "stride_bn"), "i32:16"),
        **dict.fromkeys(("stride_cm", "stride_cn"), "i32:16"),
        **dict(zip(("TILE_M", "TILE_N", "TILE_K", "GROUP"), ("128", "64", "32", "8"), strict=True)),
        "EVEN_K": "True",
        "ACTIVATION": "'leaky_relu'",
    },
    ("leaky_relu(acc, 0.01)", "leaky_relu(acc, 0.01 * {})"),
    "acc = tl.zeros",
)


class Bench(NamedTuple):
    folder: Path
    session: Session
    by_hand: ByHand
    numbers: Iterator[int]

    async def open(self, case: Case) -> str:
        path = str(self.folder / case.file)
        await self.by_hand("kernel", name=case.kernel, path=f"/by/hand/{case.file}", arguments=case.arguments)
        self.session.override(path, case.kernel, f"{case.comment} num_warps=4 num_stages=3 target={TARGET}")
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
        ROOT / "benchmarks" / "triton_baseline.py",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
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
    return ratio(f"triton: edit → types, {case.kernel}", ours[2:], by_hand[2:], limit, "code generator in process")


async def second_config(it: Bench, case: Case, limit: float) -> Figure:
    path = await it.open(case)
    await it.by_hand("infer", name=case.kernel, text=case.text(1))
    ours, by_hand = [], []
    before = it.session.stats().inferences
    for stages, registers in itertools.product((2, 3, 4, 5), (None, 128, 168)):
        options = {"num_warps": 4, "num_stages": stages, **({"maxnreg": registers} if registers else {})}
        words = " ".join(f"{name}={value}" for name, value in options.items())

        async def ask(words: str = words) -> None:
            it.session.override(path, case.kernel, f"{case.comment} {words} target={TARGET}")
            made = await it.session.artifact(path, case.kernel, Stage.CUBIN)
            assert isinstance(made, Artifact), made

        by_hand.append(await it.by_hand("codegen", name=case.kernel, options=options))
        ours.append(await timed(ask))
    inferences = it.session.stats().inferences - before
    note = f"stages after TTIR alone; {inferences} inferences"
    # The first of each side loads libraries.
    figure = ratio(f"triton: another config, {case.kernel}", ours[2:], by_hand[2:], limit, note)
    return figure._replace(holds=figure.holds and inferences == 0)


async def first_compile(case: Case, limit: float, samples: int = 3) -> Figure:
    """To a cubin, once a server has started, beside a script from its start to its end."""
    ours, by_hand = [], []
    for number in range(samples):
        async with bench() as it:
            path = it.folder / case.file
            path.write_text(case.text(number + 1), encoding="utf-8")
            await it.session.environment(str(path))

            async def compile_it(it: Bench = it, path: Path = path) -> None:
                it.session.override(str(path), case.kernel, f"{case.comment} num_warps=4 target={TARGET}")
                it.session.open(str(path), kernels=(case.kernel,))
                made = await it.session.artifact(str(path), case.kernel, Stage.CUBIN)
                assert isinstance(made, Artifact), made

            async def run_script(it: Bench = it, path: Path = path) -> None:
                process = await asyncio.create_subprocess_exec(
                    PYTHON,
                    ROOT / "benchmarks" / "triton_baseline.py",
                    "--script",
                    path,
                    case.kernel,
                    json.dumps(case.arguments),
                    env={**environment(it.folder), "TRITON_CACHE_DIR": str(it.folder / "triton")},
                )
                assert await process.wait() == 0

            by_hand.append(await timed(run_script))
            ours.append(await timed(compile_it))
    return ratio(f"triton: first compile, {case.kernel}", ours, by_hand, limit, "a script that calls triton.compile")
