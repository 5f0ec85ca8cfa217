"""`tile-lsp show STAGE FILE::KERNEL`: one stage of a kernel, as text or as JSON."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from tile_lsp.analysis.comments import read_comments
from tile_lsp.analysis.snapshot import FileView, JobView, KernelView
from tile_lsp.engine.files import Files
from tile_lsp.engine.session import Session
from tile_lsp.ide.documents import Link, document
from tile_lsp.ide.jobs import arguments_line
from tile_lsp.ide.type_listing import type_listing
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.stage import Stage

from .exits import Exit, UsageError
from .faults import exit_code, fault_lines, problem_lines
from .jobs import arguments_json
from .names import choose_kernel, choose_stage, closest, parse_pairs, parse_selector
from .output import can_write, write, write_bytes, write_error
from .source import Sources
from .types_text import types_lines
from .workspace import OneFile, find_kernels

#: Stages that no target, hint or symbol changes: one answer for all configs of the same arguments.
_SHARED = frozenset({Stage.TYPES, Stage.HIR, Stage.TYPED})


class ShowRequest(NamedTuple):
    """The command line as it came."""

    stage: str
    kernel: str
    arguments: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    python: str | None = None
    as_json: bool = False
    stats: bool = False


class Shown(NamedTuple):
    """What came of one job."""

    job: JobView
    text: str
    links: tuple[tuple[Link, ...], ...]
    """For each line of `text`, the places that it came from, most specific first, each with its call sites after it."""
    faults: tuple[Fault, ...] = ()
    data: bytes = b""


def run(request: ShowRequest) -> Exit:
    return asyncio.run(_run(request))


async def _run(request: ShowRequest) -> Exit:
    selector = parse_selector(request.kernel)
    file = OneFile.at(selector.path, request.python)
    kernels = find_kernels(file)
    name = choose_kernel(selector.kernel, list(kernels), selector.path)
    frontend = kernels[name]
    stage = Stage(choose_stage(request.stage, frontend.stages))
    if stage is Stage.CUBIN and not request.as_json and sys.stdout.isatty():
        raise UsageError("a cubin is no text: redirect standard output to a file, or ask for --json")

    async with file.session() as session:
        if comment := _comment(request):
            session.override(selector.path, name, comment)
        session.open(selector.path, kernels=(name,))
        try:
            return await _show(session, selector.path, name, stage, request)
        finally:
            if request.stats:
                write_error(msgspec.json.encode(session.stats()).decode())


def _comment(request: ShowRequest) -> str | None:
    """The options as the job comment that they stand for."""
    items = [f"{name}={value}" for name, value in parse_pairs("--arg", request.arguments).items()]
    if request.targets:
        items.append(f"target={','.join(request.targets)}")
    items += [f"{name}={value}" for name, value in parse_pairs("--hint", request.hints).items()]
    if not items:
        return None
    text = f"# tile-lsp: {' '.join(items)}"
    for comment in read_comments([(text, Span(0, 0, 0, len(text)))]):
        for problem in comment.problems:
            raise UsageError(f"{' '.join(items)}: {problem.message}")
    return text


async def _show(session: Session, path: str, name: str, stage: Stage, request: ShowRequest) -> Exit:
    await session.settled(path)
    file, kernel = _view(session, path, name)
    _check(file, kernel, request)
    sources = Sources(Files().read)
    for problem in file.problems:
        for line in problem_lines(problem, path, sources):
            write_error(line)
    faults: list[Fault] = []
    jobs = _distinct(kernel.jobs) if stage in _SHARED else kernel.jobs
    for index, job in enumerate(jobs):
        shown = await _shown(session, path, name, stage, job, sources)
        _, kernel = _view(session, path, name)
        if request.as_json:
            write(f"{msgspec.json.encode(_as_json(kernel, stage, shown)).decode()}\n")
        elif stage is Stage.CUBIN:
            write_bytes(shown.data)
        else:
            if index and shown.text:
                write("\n")
            write(shown.text)
        _report(shown.faults, kernel, sources)
        faults += shown.faults
    if not jobs:
        _report(kernel.faults, kernel, sources)
        faults += kernel.faults
    return exit_code(faults)


def _view(session: Session, path: str, name: str) -> tuple[FileView, KernelView]:
    file = session.snapshot().files[path]
    return file, next(kernel for kernel in file.kernels if kernel.name == name)


def _check(file: FileView, kernel: KernelView, request: ShowRequest) -> None:
    """Raises `UsageError` for options that the kernel can't take."""
    parameters = [name for name, _ in kernel.parameters]
    for name in parse_pairs("--arg", request.arguments):
        if name not in parameters:
            raise UsageError(f"{kernel.name} has no parameter {name}{closest(name, parameters)}")
    for problem in file.problems:
        if problem.span.line == 0:  # of no line of the file: of the options
            raise UsageError(problem.message)


def _distinct(jobs: tuple[JobView, ...]) -> tuple[JobView, ...]:
    """The first of those that have the same arguments."""
    return tuple({job.job.arguments: job for job in reversed(jobs)}.values())[::-1]


async def _shown(session: Session, path: str, name: str, stage: Stage, job: JobView, sources: Sources) -> Shown:
    _, kernel = _view(session, path, name)
    session.select_job(path, name, [view.job for view in kernel.jobs].index(job.job))
    outcome = await session.artifact(path, name, stage, job.job) if stage is not Stage.TYPES else None
    snapshot = session.snapshot()
    _, kernel = _view(session, path, name)
    if stage is Stage.TYPES:
        lines = list(_types(kernel, sources))
        text = "".join(f"{line}\n" for line, _ in lines)
        return Shown(job, text, tuple(links for _, links in lines), kernel.faults)
    if isinstance(outcome, Fault):
        return Shown(job, "", (), (outcome,))
    assert isinstance(outcome, Artifact)
    if stage is Stage.CUBIN:
        return Shown(job, outcome.text, (), data=outcome.data)
    served = document(snapshot, kernel, job.job, stage, outcome)
    return Shown(job, served.text, served.links)


def _types(kernel: KernelView, sources: Sources) -> Iterator[tuple[str, tuple[Link, ...]]]:
    if len(kernel.jobs) > 1 and kernel.job is not None:
        yield arguments_line(kernel.job.job), ()
    plain = not can_write("→·")
    yield from types_lines(type_listing(kernel), kernel.path, sources, plain=plain)


def _report(faults: tuple[Fault, ...], kernel: KernelView, sources: Sources) -> None:
    name = SourceRange(kernel.path, kernel.name_span)
    for fault in dict.fromkeys(faults):
        for line in fault_lines(fault, kernel.positions.chain(fault.chain), name, sources):
            write_error(line)


def _as_json(kernel: KernelView, stage: Stage, shown: Shown) -> dict[str, Any]:
    """Lines are 1-based, columns are 0-based and count UTF-8 bytes, ends are exclusive."""
    return {
        "file": kernel.path,
        "kernel": kernel.name,
        "stage": stage,
        "job": shown.job.job,
        "key": shown.job.job.key,
        "arguments": arguments_json(shown.job),
        "text": shown.text,
        "lines": [[[_location(place) for place in link] for link in links] for links in shown.links],
        **({"data": shown.data} if stage is Stage.CUBIN else {}),
        "faults": [
            {
                "kind": fault.kind,
                "message": fault.message,
                "code": fault.code,
                "help": fault.help,
                "chain": [_location(place) for place in kernel.positions.chain(fault.chain)],
            }
            for fault in shown.faults
        ],
        "notes": [note.message for note in kernel.notes],
    }


def _location(place: SourceRange) -> dict[str, Any]:
    return {"file": place.path, **place.span._asdict()}
