"""Run the product over every kernel of a checkout, with no comment added, and print what came of it.

    python -m tests.survey PATH... [--targets sm_90,sm_100] [--python INTERPRETER] [--every N[+FIRST]] [--json FILE]

PATH is a file or a folder. A line for each kernel: how many typed ranges, which targets have code, and, where something
is lacking, the first line of why; what is launched and was not recognised has a line too. Then the table: kernels
recognised, loaded, typed, compiled, and those that are written for another version of their compiler, which are counted
apart. Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import collections
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tile_lsp.analysis.snapshot import KernelView
from tile_lsp.engine.session import Session
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.settings import decode
from tile_lsp.model.stage import Stage

LOADED, COMPILED = 0.99, 0.90

#: What a file holds that a front end looks at: a cheap look before a costly one.
_WORDS = (
    (b"kernel", re.compile(rb"cuda\.tile|cuda import tile")),
    (b"jit", re.compile(rb"\btriton\b")),
    (b"cuda", re.compile(rb"\bnumba\b")),
    (b"__global__", re.compile(rb"\{")),
)
#: What no argument could mend: the kernel names what this triton, or any of this vendor's, does not have, or calls what
#: it has in a way that it refuses whatever the values are.
_OTHER_VERSION = re.compile(
    r"module 'triton[\w.]*' has no attribute|cannot import name '\w+' from 'triton|No module named 'triton\.|"
    r"^(dot|load|store|range|sum|max|arange|jit|autotune|Config|\w*Layout\.__init__)\(\) got an unexpected keyword|"
    r"too many indices for tensor of rank 0|Feature '.*' not supported on .target|"
    r"has been removed; call|Block pointers have been removed|is gone from triton|'dtype' object is not callable|"
    r"key contains names that are not kernel arguments|Cannot access global variable \w+ from within @jit|"
    r"JIT functions do not support \*\*meta|'tuple_type' object has no attribute '(scalar|is_ptr)'|"
    r"marked as constexpr and listed in do_not_specialize|"
    r"must be of type tl\.constexpr|is not a constexpr$|'builder' object has no attribute|"
    r"got an unexpected keyword argument '_(semantic|builder|generator)'|"
    r"unsupported tensor index: <triton\.language\.core\.slice|"
    r"has no attribute '(make_block_ptr|advance|libdevice|_experimental_\w+)'",
    re.MULTILINE,
)


class Outcome(NamedTuple):
    path: str
    frontend: str
    kernel: str
    types: int
    """Records."""
    targets: tuple[str, ...]
    """Those with code."""
    loaded: bool
    """The kernel object was had: what failed after that, if anything, is its compilation."""
    other_version: bool
    """It uses what this version of its compiler does not have."""
    faults: tuple[str, ...]
    seconds: float


async def survey(
    files: Sequence[Path], targets: Sequence[str], python: str, cache: str, limit: float, frontends: frozenset[str]
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    limits = {"inference": limit, "tool": limit}
    settings, problems = decode(
        {"targets": list(targets), "python": python, "cache": {"directory": cache}, "timeouts": limits}
    )
    assert not problems
    by_root: dict[Path, list[Path]] = {}
    for path in files:
        by_root.setdefault(_root(path), []).append(path)
    for root, paths in by_root.items():
        session = Session(settings, roots=[str(root)], idle_delay=None)
        try:
            for path in paths:
                outcomes += await _survey_file(session, path, frontends)
        finally:
            await session.close()
    return outcomes


async def _survey_file(session: Session, path: Path, frontends: frozenset[str]) -> list[Outcome]:
    session.open(str(path))
    await session.inferred(str(path))
    file = session.snapshot().files.get(str(path))
    found = []
    for kernel in file.kernels if file else ():
        if frontends and kernel.frontend not in frontends:
            continue
        found.append(await _outcome(session, str(path), kernel.name))
        print(_line(found[-1]), flush=True)
    session.close_file(str(path))
    if not frontends or "triton" in frontends:
        names = {outcome.kernel.rpartition(".")[2] for outcome in found}
        for missed in sorted(_launched(path) - names):
            found.append(Outcome(str(path), "triton", missed, 0, (), False, False, ("not recognised",), 0.0))
            print(_line(found[-1]), flush=True)
    return found


_JIT = re.compile(r"(triton|gluon)\.jit\b|^jit\b")


def _launched(path: Path) -> set[str]:
    """Functions that Triton compiles and that the file launches, found without the product: `name[grid](…)`."""
    text = path.read_text(errors="replace")
    try:
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return set()
    made = {f.name for f in functions if any(_JIT.search(ast.unparse(each)) for each in f.decorator_list)}
    return made & set(re.findall(r"\b(\w+)\[[^\]]*\]\(", text))


async def _outcome(session: Session, path: str, name: str) -> Outcome:
    started = time.perf_counter()
    view = next(kernel for kernel in session.snapshot().files[path].kernels if kernel.name == name)
    faults: list[Fault] = list(view.faults)
    reached = []
    seen: set[str] = set()
    for job in view.jobs:
        # Of an autotuner's configs the first is enough here, of those that a launch would not leave out.
        target = job.job.config.target or "?"
        if target in seen:
            continue
        stage = Stage.AMDGCN if target.startswith("gfx") else Stage.SASS
        shown = await session.artifact(path, name, stage, job.job)
        if not isinstance(shown, Fault) or not (shown.passed_over or shown.code == "resources"):
            seen.add(target)
        if isinstance(shown, Fault):
            faults.append(shown)
        elif shown.text:
            reached.append(target)
    messages = tuple(dict.fromkeys(fault.message for fault in faults))
    types = len(view.inference.types) if view.inference else 0
    return Outcome(
        path,
        view.frontend,
        name,
        types if not (view.inference and view.inference.faults) else 0,
        tuple(reached),
        bool(reached) or _is_loaded(view, faults),
        any(_OTHER_VERSION.search(message) for message in messages) or _is_launched_otherwise(view, messages),
        messages,
        time.perf_counter() - started,
    )


def _is_launched_otherwise(view: KernelView, messages: Sequence[str]) -> bool:
    """True if the file's own launch gives a block a length that other vendors' compilers allow."""
    if not any("arange's range must be a power of 2" in message for message in messages):
        return False
    given = [a.argument.spec for a in (view.job.arguments if view.job else ()) if a.origin == "launch"]
    return any(text.isdecimal() and int(text) & (int(text) - 1) for text in given)


def _is_loaded(view: KernelView, faults: Sequence[Fault]) -> bool:
    """True if something of the kernel was typed, or the fault is one of its compilation."""
    if view.inference is not None and view.inference.types:
        return True
    codes = {"signature", "heuristics", "options", "MLIR", "resources", "CompilationError"}
    return bool(faults) and all(fault.kind is FaultKind.USER and fault.code in codes for fault in faults)


def find_files(path: Path) -> Iterator[Path]:
    found = (file for suffix in ("*.py", "*.cu", "*.cuh") for file in path.rglob(suffix))
    candidates = [path] if path.is_file() else sorted(found)
    for candidate in candidates:
        text = candidate.read_bytes()
        if any(word in text and pattern.search(text) for word, pattern in _WORDS):
            yield candidate.resolve()


def _root(path: Path) -> Path:
    """The checkout that a file is in, or its folder."""
    for parent in path.parents:
        if (parent / ".git").exists() or (parent / "pyproject.toml").exists():
            return parent
    return path.parent


def _line(outcome: Outcome) -> str:
    why = f"  {outcome.faults[0].splitlines()[0][:140]}" if outcome.faults and outcome.faults[0] else ""
    name = f"{Path(outcome.path).name}::{outcome.kernel}"
    return f"{name:64} types {outcome.types:5}  {','.join(outcome.targets) or '-'}{why}"


def table(outcomes: Sequence[Outcome], targets: Sequence[str]) -> tuple[str, bool]:
    """The table, and whether the bars are met."""
    lines = [
        f"{'':10} {'kernels':>8} {'loaded':>8} {'typed':>8} {'compiled':>9} {'other version':>14} {'of the rest':>12}"
    ]
    good = True
    by_frontend: dict[str, list[Outcome]] = collections.defaultdict(list)
    for outcome in outcomes:
        by_frontend[outcome.frontend].append(outcome)
    for name, found in by_frontend.items():
        whole = sum(len(set(outcome.targets)) >= len(targets) for outcome in found)
        apart = sum(outcome.other_version and not outcome.targets for outcome in found)
        loaded = sum(outcome.loaded for outcome in found)
        typed = sum(bool(outcome.types) for outcome in found)
        share = whole / max(1, len(found) - apart)
        lost = sum(not outcome.loaded and not outcome.other_version for outcome in found)
        good = good and share >= COMPILED and lost <= (1 - LOADED) * len(found)
        lines.append(f"{name:10} {len(found):8} {loaded:8} {typed:8} {whole:9} {apart:14} {share:12.1%}")
    return "\n".join(lines), good


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.survey", description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--targets", default="sm_90")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--every", default="1", help="take each Nth file; N+FIRST: from that one on")
    parser.add_argument("--frontends", default="", help="look at kernels of these only")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one step of one kernel")
    parser.add_argument("--json", type=Path, help="write the outcomes there")
    arguments = parser.parse_args()
    targets = arguments.targets.split(",")
    every, _, first = arguments.every.partition("+")
    files = [path for given in arguments.paths for path in list(find_files(given))[int(first or 0) :: int(every)]]
    wanted = frozenset(arguments.frontends.split(",")) - {""}
    with tempfile.TemporaryDirectory() as cache:
        outcomes = asyncio.run(survey(files, targets, arguments.python, cache, arguments.timeout, wanted))
    if arguments.json:
        arguments.json.write_text(json.dumps([outcome._asdict() for outcome in outcomes], indent=1))
    text, good = table(outcomes, targets)
    reasons = collections.Counter(
        re.sub(r"'[^']*'|\d+", "…", outcome.faults[0].splitlines()[0])[:110]
        for outcome in outcomes
        if not outcome.targets and outcome.faults and outcome.faults[0]
    )
    print(f"\n{len(files)} files, for {arguments.targets}\n{text}\n")
    for reason, count in reasons.most_common(30):
        print(f"{count:5}  {reason}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
