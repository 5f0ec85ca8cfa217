"""Run the product over every kernel of a checkout, with no comment added, and print what came of it.

    python -m tests.survey PATH... [--targets sm_90,sm_100,sm_120] [--python INTERPRETER] [--verbose]

PATH is a file or a folder. For each kernel: how many typed ranges, which targets have SASS, and, where something is
lacking, the first line of why. Exits with 1 if any kernel lacks something.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tile_lsp.engine.session import Session
from tile_lsp.model.outcome import Fault
from tile_lsp.model.settings import decode
from tile_lsp.model.stage import Stage


class Outcome(NamedTuple):
    path: str
    kernel: str
    types: int
    """Records."""
    targets: tuple[str, ...]
    """Those with SASS."""
    faults: tuple[str, ...]


async def survey(paths: Sequence[Path], targets: Sequence[str], python: str, cache: str) -> list[Outcome]:
    settings, problems = decode({"targets": list(targets), "python": python, "cache": {"directory": cache}})
    assert not problems
    outcomes = []
    for path in (found for given in paths for found in _files(given)):
        session = Session(settings, roots=[str(_root(path))], idle_delay=None)
        try:
            session.open(str(path))
            await session.inferred(str(path))
            file = session.snapshot().files.get(str(path))
            for kernel in file.kernels if file else ():
                outcomes.append(await _outcome(session, str(path), kernel.name))
                print(_line(outcomes[-1]), flush=True)
        finally:
            await session.close()
    return outcomes


async def _outcome(session: Session, path: str, name: str) -> Outcome:
    view = next(kernel for kernel in session.snapshot().files[path].kernels if kernel.name == name)
    faults = [fault.message for fault in view.faults]
    reached = []
    for job in view.jobs:
        target = job.job.config.target or "?"
        shown = await session.artifact(path, name, Stage.SASS, job.job)
        if isinstance(shown, Fault):
            faults.append(f"{target}: {shown.message}")
        elif shown.text:
            reached.append(target)
    types = len(view.inference.types) if view.inference and not view.inference.faults else 0
    return Outcome(path, name, types, tuple(reached), tuple(dict.fromkeys(faults)))


def _files(path: Path) -> Iterator[Path]:
    candidates = [path] if path.is_file() else sorted(path.rglob("*.py"))
    for candidate in candidates:
        text = candidate.read_bytes()
        if b"kernel" in text and (b"cuda.tile" in text or b"cuda import tile" in text):
            yield candidate.resolve()


def _root(path: Path) -> Path:
    """The checkout that a file is in, or its folder."""
    for parent in path.parents:
        if (parent / ".git").exists() or (parent / "pyproject.toml").exists():
            return parent
    return path.parent


def _line(outcome: Outcome) -> str:
    why = f"  {outcome.faults[0].splitlines()[0][:140]}" if outcome.faults else ""
    name = f"{Path(outcome.path).name}::{outcome.kernel}"
    return f"{name:60} types {outcome.types:5}  sass {','.join(outcome.targets) or '-'}{why}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.survey", description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--targets", default="sm_90,sm_100,sm_120")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    targets = arguments.targets.split(",")
    with tempfile.TemporaryDirectory() as cache:
        outcomes = asyncio.run(survey(arguments.paths, targets, arguments.python, cache))
    typed = sum(bool(outcome.types) for outcome in outcomes)
    whole = sum(len(outcome.targets) >= len(targets) for outcome in outcomes)
    print(f"\n{len(outcomes)} kernels: {typed} with types, {whole} with SASS for {arguments.targets}")
    return 0 if whole == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
