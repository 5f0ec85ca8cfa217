"""`tile-lsp show STAGE FILE::KERNEL`: one stage of a kernel, as text or as JSON."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Container
from typing import Any, NamedTuple

import msgspec

from tile_lsp.analysis.comments import read_comments
from tile_lsp.analysis.notebook import SUFFIX
from tile_lsp.analysis.snapshot import FileView, JobView, KernelView, Snapshot
from tile_lsp.engine.files import Files
from tile_lsp.engine.session import Session
from tile_lsp.ide.documents import Document, Link, document
from tile_lsp.ide.fault_places import fault_places
from tile_lsp.ide.jobs import arguments_line
from tile_lsp.ide.type_listing import type_listing
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import Artifact, Fault, Remark, Severity
from tile_lsp.model.stage import Stage

from .exits import Exit, UsageError
from .faults import exit_code, fault_lines, is_wrong, jobless_code, problem_lines, remark_lines
from .jobs import arguments_json, place_json
from .names import choose_kernel, choose_stage, parse_pairs, parse_selector
from .output import can_write, write, write_bytes, write_error
from .source import Sources
from .types_text import types_lines
from .visible import visible
from .workspace import OneFile

#: Stages that no target, hint or symbol changes: one answer for all configs of the same arguments.
_SHARED = frozenset({Stage.TYPES, Stage.HIR, Stage.TYPED})

#: A document, and the path of its kernel's file, to what is shown of them.
Draw = Callable[[Document, str], str]


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
    draw: Draw | None = None
    """What to make of a listing, in place of the listing itself."""


class Shown(NamedTuple):
    """What came of one job."""

    job: JobView
    text: str
    links: tuple[tuple[Link, ...], ...]
    """For each line of `text`, the places that it came from, most specific first, each with its call sites after it."""
    faults: tuple[Fault, ...] = ()
    data: bytes = b""
    remarks: tuple[Remark, ...] = ()
    """Warnings, and what is said besides."""


def run(request: ShowRequest) -> Exit:
    return asyncio.run(_run(request))


async def _run(request: ShowRequest) -> Exit:
    selector = parse_selector(request.kernel)
    file = OneFile.at(selector.path, request.python)
    analysed = file.analyse().kernels
    kernels = {kernel.site.qualname: kernel.frontend for kernel in analysed}
    name = choose_kernel(selector.kernel, list(kernels), selector.path)
    frontend = kernels[name]
    stage = Stage(choose_stage(request.stage, frontend.stages))
    if stage is Stage.CUBIN and not request.as_json and sys.stdout.isatty():
        raise UsageError("a cubin is no text: redirect standard output to a file, or ask for --json")

    # What another kernel's comment has wrong is nothing that was asked for.
    others = {(p.span, p.message) for kernel in analysed if kernel.site.qualname != name for p in kernel.problems}
    comment = _comment(request)
    if comment:
        for problem in file.analyse({name: comment}).problems:
            if problem.span.line == 0:  # of no line of the file: of the options
                raise UsageError(problem.message)
    async with file.session() as session:
        if comment:
            session.override(selector.path, name, comment)
        session.open(selector.path, kernels=(name,))
        try:
            return await _show(session, selector.path, name, stage, request, others)
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


async def _show(
    session: Session, path: str, name: str, stage: Stage, request: ShowRequest, others: Container[tuple[Span, str]]
) -> Exit:
    """`others`: where and what the problems are that are other kernels'."""
    await session.settled(path)
    file, kernel = _view(session, path, name)
    sources = Sources(Files().read)
    problems = [problem for problem in file.problems if (problem.span, problem.message) not in others]
    wrong = is_wrong(problems)
    for line in problem_lines(problems, path, sources):
        write_error(line)
    jobs = _distinct(kernel.jobs) if stage in _SHARED else kernel.jobs
    if not jobs:
        _report(kernel.faults, kernel, None, sources)
        return Exit.KERNEL if wrong else jobless_code(kernel, problems)
    if stage is Stage.TYPES:
        all_shown = [_show_types(session, path, name, index, sources) for index in map(kernel.jobs.index, jobs)]
    else:
        outcomes = await asyncio.gather(*(session.artifact(path, name, stage, job.job) for job in jobs))
        _, kernel = _view(session, path, name)
        all_shown = [
            _show_artifact(session.snapshot(), kernel, stage, job, outcome, request.draw)
            for job, outcome in zip(jobs, outcomes, strict=True)
        ]
    faults: list[Fault] = []
    remarks: list[Remark] = []
    for index, shown in enumerate(all_shown):
        if request.as_json:
            write(f"{msgspec.json.encode(_as_json(kernel, stage, shown)).decode()}\n")
        elif stage is Stage.CUBIN:
            write_bytes(shown.data)
        else:
            if index and shown.text:
                write("\n")
            if stage is Stage.TYPES and len(all_shown) > 1:
                write(f"{arguments_line(shown.job.job)}\n")
            write(visible(shown.text))
        # Jobs that share what failed have one fault between them.
        _report(tuple(fault for fault in shown.faults if fault not in faults), kernel, shown.job, sources)
        faults += shown.faults
        for remark in shown.remarks:
            if remark not in remarks:
                remarks.append(remark)
                place = SourceRange(kernel.path, kernel.name_span)
                for line in remark_lines(remark, kernel.positions.chain(remark.chain), place, sources):
                    write_error(line)
    nothing = bool(faults) and not any(shown.text or shown.data for shown in all_shown)
    return exit_code(faults, wrong=wrong or (nothing and all(fault.passed_over for fault in faults)))


def _view(session: Session, path: str, name: str) -> tuple[FileView, KernelView]:
    file = session.snapshot().files[path]
    return file, next(kernel for kernel in file.kernels if kernel.name == name)


def _distinct(jobs: tuple[JobView, ...]) -> tuple[JobView, ...]:
    """The first of those that have the same arguments."""
    return tuple({job.job.arguments: job for job in reversed(jobs)}.values())[::-1]


def _show_types(session: Session, path: str, name: str, index: int, sources: Sources) -> Shown:
    """Of the job at `index` among the kernel's."""
    session.select_job(path, name, index)
    _, kernel = _view(session, path, name)
    lines = list(types_lines(type_listing(kernel), kernel, sources, plain=not can_write("→·")))
    text = "".join(f"{line}\n" for line, _ in lines)
    remarks = kernel.inference.remarks if kernel.inference is not None else ()
    said = tuple(remark for remark in remarks if remark.severity in (Severity.WARNING, Severity.INFORMATION))
    return Shown(kernel.jobs[index], text, tuple(links for _, links in lines), kernel.faults, remarks=said)


def _show_artifact(
    snapshot: Snapshot,
    kernel: KernelView,
    stage: Stage,
    job: JobView,
    outcome: Artifact | Fault,
    draw: Draw | None,
) -> Shown:
    if isinstance(outcome, Fault):
        return Shown(job, "", (), (outcome,))
    if stage is Stage.CUBIN:
        return Shown(job, outcome.text, (), data=outcome.data)
    served = document(snapshot, kernel, job.job, stage, outcome)
    if draw is not None:
        return Shown(job, draw(served, kernel.path), ())
    return Shown(job, served.text, served.links)


def _report(faults: tuple[Fault, ...], kernel: KernelView, job: JobView | None, sources: Sources) -> None:
    name = SourceRange(kernel.path, kernel.name_span)
    for fault in dict.fromkeys(each for one in faults for each in one.each):
        for line in fault_lines(fault, fault_places(kernel, fault, job), name, sources):
            write_error(line)


def _as_json(kernel: KernelView, stage: Stage, shown: Shown) -> dict[str, Any]:
    """Lines are 1-based (a cell's in a notebook), columns are 0-based and count UTF-8 bytes, ends are exclusive."""
    return {
        "file": kernel.path,
        "kernel": kernel.name,
        "stage": stage,
        "job": shown.job.job,
        "key": shown.job.job.key,
        "arguments": arguments_json(shown.job),
        "text": shown.text,
        "lines": [[[_location(kernel, place) for place in link] for link in links] for links in shown.links],
        **({"data": shown.data} if stage is Stage.CUBIN else {}),
        "faults": [
            {
                "kind": fault.kind,
                "message": fault.message,
                "code": fault.code,
                "help": fault.help,
                "chain": [_location(kernel, place) for place in fault_places(kernel, fault, shown.job)],
            }
            for fault in shown.faults
        ],
        "notes": [note.message for note in kernel.notes],
    }


def _location(kernel: KernelView, place: SourceRange) -> dict[str, Any]:
    span = place.span._asdict()
    if place.path.endswith(SUFFIX):
        begin = place_json(kernel.cells, span["line"])
        span = {**span, **begin, "end_line": span["end_line"] - span["line"] + begin["line"]}
    return {"file": place.path, **span}
