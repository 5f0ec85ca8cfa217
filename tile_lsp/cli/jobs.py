"""`tile-lsp jobs FILE`: each kernel of a file with its jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from tile_lsp.analysis.notebook import cell_position
from tile_lsp.analysis.snapshot import ArgumentView, FileView, JobView, KernelView
from tile_lsp.engine.files import Files
from tile_lsp.ide.fault_places import fault_places
from tile_lsp.ide.jobs import job_label, line_name
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Fault

from .exits import Exit, UsageError
from .faults import exit_code, fault_lines, is_wrong, jobless_code, problem_lines
from .names import checked_file
from .output import write, write_error
from .source import Sources, short_path
from .workspace import OneFile


def run(path: str, python: str | None, *, as_json: bool) -> Exit:
    return asyncio.run(_run(OneFile.at(checked_file(path), python), as_json))


async def _run(one: OneFile, as_json: bool) -> Exit:
    async with one.session() as session:
        session.open(one.path)
        await session.settled(one.path)
        snapshot = session.snapshot()
    file = snapshot.files.get(one.path)
    if file is None:
        one.analyse()  # which says why
        raise UsageError(f"{short_path(one.path)} is gone")
    if as_json:
        write(f"{msgspec.json.encode(_as_json(file)).decode()}\n")
    else:
        write("".join(f"{line}\n" for line in _as_text(file)))
    sources = Sources(Files().read)
    codes = {Exit.KERNEL} if is_wrong(file.problems) else set()
    for line in problem_lines(file.problems, file.path, sources):
        write_error(line)
    for kernel in file.kernels:
        # A kernel with an error in it has its jobs all the same; one without a compiler has none.
        if not kernel.jobs:
            codes.add(jobless_code(kernel, file.problems))
        for fault, job in _of_jobs(kernel):
            codes.add(exit_code((fault,)))
            name = SourceRange(kernel.path, kernel.name_span)
            for line in fault_lines(fault, fault_places(kernel, fault, job), name, sources):
                write_error(line)
    return min(codes, default=Exit.OK)


def _of_jobs(kernel: KernelView) -> Iterator[tuple[Fault, JobView | None]]:
    """Why there are none, or which of the arguments given can't be."""
    if not kernel.jobs:
        yield from ((fault, None) for fault in kernel.faults)
    found = {}
    for job in kernel.jobs:
        for fault in (*(kernel.faults if job is kernel.job else ()), *job.faults):
            if fault.argument is not None:
                found.setdefault((fault, job.written.get(fault.argument)), job)
    yield from ((fault, job) for (fault, _), job in found.items())


def _as_text(file: FileView) -> Iterator[str]:
    if not file.kernels:
        yield f"{short_path(file.path)}: no kernels"
    for index, kernel in enumerate(file.kernels):
        if index:
            yield ""
        line = line_name(SourceRange(file.path, kernel.name_span), file.cells)
        yield f"{short_path(file.path)}:{line}: {kernel.name} ({kernel.frontend})"
        for jobs in _by_arguments(kernel):
            yield from _arguments(jobs[0])
            width = max(len(job_label(job)) for job in jobs)
            for job in jobs:
                yield f"    {job_label(job):<{width}}  {job.job.key}"


def _by_arguments(kernel: KernelView) -> list[list[JobView]]:
    groups: dict[tuple[ArgumentView, ...], list[JobView]] = {}
    for job in kernel.jobs:
        groups.setdefault(job.arguments, []).append(job)
    return list(groups.values())


def _arguments(job: JobView) -> Iterator[str]:
    if not job.arguments:
        return
    name_width = max(len(view.argument.name) for view in job.arguments)
    spec_width = max(len(view.argument.spec) for view in job.arguments)
    for view in job.arguments:
        origin = f"{view.origin}: {view.detail}" if view.detail else view.origin
        yield f"  {view.argument.name:<{name_width}}  {view.argument.spec:<{spec_width}}  {origin}"


def _as_json(file: FileView) -> dict[str, Any]:
    return {"file": file.path, "kernels": [_kernel(kernel) for kernel in file.kernels]}


def _kernel(kernel: KernelView) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "frontend": kernel.frontend,
        **place_json(kernel.cells, kernel.name_span.line),
        "column": kernel.name_span.column,
        "jobs": [
            {
                "key": view.job.key,
                "label": job_label(view),
                "target": view.job.config.target,
                "hints": dict(view.job.config.hints),
                "arguments": arguments_json(view),
                "job": view.job,
            }
            for view in kernel.jobs
        ],
        "faults": [fault.message for fault in kernel.faults],
        "notes": [note.message for note in kernel.notes],
    }


def place_json(cells: Sequence[int], line: int) -> dict[str, int]:
    """A line of a file; of a notebook, a cell and the line in it."""
    if not cells:
        return {"line": line}
    cell, within = cell_position(cells, line)
    return {"cell": cell, "line": within}


def arguments_json(job: JobView) -> list[dict[str, str]]:
    return [
        {"name": view.argument.name, "type": view.argument.spec, "origin": view.origin, "detail": view.detail}
        for view in job.arguments
    ]
