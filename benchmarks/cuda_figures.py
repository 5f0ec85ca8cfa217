"""CUDA C++: an edit to new types and to SASS, beside NVRTC and nvdisasm called by hand, and beside `nvcc -cubin`."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from tile_lsp.engine.session import Session
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.settings import Cache, Settings
from tile_lsp.model.stage import Stage

from .workplace import ByHand, Figure, environment, ratio, timed

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "cuda"


class Case(NamedTuple):
    """A kernel, and how an edit changes its meaning: each number gives another version."""

    file: str
    kernel: str
    edited: tuple[str, str]

    def text(self, number: int) -> str:
        old, new = self.edited
        text = (EXAMPLES / self.file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        return text.replace(old, new.format(number))

    def device(self, number: int) -> str:
        """What somebody would give to NVRTC by hand: the file up to its host code, without host headers."""
        head, _, _ = self.text(number).partition("int main()")
        return "".join(f"{line}\n" for line in head.split("\n") if not line.startswith("#include"))


VECTOR_ADD = Case("vector_add.cu", "vector_add", ("a[i] + b[i]", "a[i] + b[i] * {}"))
MATMUL = Case("matmul.cu", "matmul", ("C[row * n + column] = sum", "C[row * n + column] = sum * {}"))


def is_here() -> bool:
    return importlib.util.find_spec("cuda.bindings") is not None if importlib.util.find_spec("cuda") else False


class Bench(NamedTuple):
    folder: Path
    session: Session
    by_hand: ByHand
    numbers: Iterator[int]

    async def open(self, case: Case) -> str:
        path = str(self.folder / case.file)
        self.session.open(path, case.text(next(self.numbers)), 1, kernels=(case.kernel,))
        await self.session.settled(path)
        return path

    async def tool(self, path: str, name: str) -> str:
        found = await self.session.environment(path)
        assert not isinstance(found, Fault), found
        return found.tools[name].path

    async def show(self, path: str, case: Case) -> None:
        made = await self.session.artifact(path, case.kernel, Stage.SASS)
        assert isinstance(made, Artifact), made


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    """A workspace with the examples, a session with an empty cache, and the process that works by hand."""
    folder = Path(tempfile.mkdtemp(prefix="tile-lsp-bench-"))
    for path in EXAMPLES.iterdir():
        shutil.copy(path, folder)
    settings = Settings(python=sys.executable, targets=("sm_90",), cache=Cache(directory=str(folder / "cache")))
    session = Session(settings, roots=[str(folder)], idle_delay=None, park=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.cuda_baseline",
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


async def edit_to_types(it: Bench, case: Case, limit: float | None, samples: int = 11) -> Figure:
    """Diagnostics and types; by hand, NVRTC's own front end on the device code of the file, diagnostics alone."""
    path = await it.open(case)
    ours, by_hand = [], []

    async def edit(text: str) -> None:
        it.session.change(path, text, 2)
        await it.session.inferred(path)

    for _ in range(samples + 2):
        number = next(it.numbers)
        await asyncio.sleep(0.3)
        by_hand.append(await it.by_hand("check", text=case.device(number)))
        ours.append(await timed(lambda number=number: edit(case.text(number))))
    return ratio(f"cuda: edit → types, {case.kernel}", ours[2:], by_hand[2:], limit, "NVRTC's front end, no types")


async def edit_to_sass(it: Bench, case: Case, limit: float, *, nvcc: str = "", samples: int = 7) -> Figure:
    """By hand: NVRTC on the device code and nvdisasm on its cubin; with `nvcc`, that on the whole file instead."""
    path = await it.open(case)
    await it.show(path, case)  # whatever is kept warm is warm
    nvdisasm = await it.tool(path, "nvdisasm")
    ours, by_hand = [], []

    async def edit(text: str) -> None:
        it.session.change(path, text, 2)
        await it.show(path, case)

    for _ in range(samples + 1):
        number = next(it.numbers)
        await asyncio.sleep(0.3)
        if nvcc:
            seconds = await it.by_hand("nvcc", text=case.text(number), nvcc=nvcc)
        else:
            seconds = await it.by_hand("compile", text=case.device(number))
        by_hand.append(seconds + await it.by_hand("disassemble", nvdisasm=nvdisasm))
        ours.append(await timed(lambda number=number: edit(case.text(number))))
        await it.session._disassembler.settled()  # as between two edits of a person
    against = "nvcc -cubin, nvdisasm" if nvcc else "NVRTC, nvdisasm"
    name = f"cuda: edit → SASS, {case.kernel}" + (", against nvcc" if nvcc else "")
    return ratio(name, ours[1:], by_hand[1:], limit, against)


def find_nvcc() -> str | None:
    """The one beside the other tools of our interpreter, else PATH's."""
    for entry in sys.path:
        for found in sorted(Path(entry).glob("nvidia/cu*/bin/nvcc")):
            return str(found)
    return shutil.which("nvcc")
