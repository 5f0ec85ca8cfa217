"""Stages as documents: an artifact's text under a header that says whose it is, with the source lines it came from.

Everything that names a line of the source is put in here, from the positions of the moment: an edit that only moves
lines gives the same listing with other annotations.
"""

from __future__ import annotations

import functools

import msgspec

from tile_lsp.analysis.snapshot import KernelView, Snapshot, State
from tile_lsp.ide.fault_places import fault_places
from tile_lsp.ide.jobs import NEVER_READ, arguments_line, config_label, where
from tile_lsp.ide.stages import FORMATS
from tile_lsp.ide.type_listing import type_listing
from tile_lsp.model.job import Job
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.stage import Stage

Link = tuple[SourceRange, ...]
"""One place in the source, innermost first, then the call sites that it was inlined at."""


class Document(msgspec.Struct, frozen=True):
    """A served text, by lines: `links` and `origins` have one item for each."""

    stage: Stage
    rows: tuple[str, ...]
    links: tuple[tuple[Link, ...], ...]
    origins: tuple[int, ...]
    """The 0-based line of the artifact that a line shows; -1 for lines that were put in."""
    job: Job | None = None
    """The one that is shown."""
    state: State = State.FRESH
    """How the text stands to the source."""
    problems: tuple[str, ...] = ()
    """Why it is not fresh."""

    @property
    def stale(self) -> bool:
        """True if this is not what the present text compiles to."""
        return self.state is not State.FRESH

    @property
    def text(self) -> str:
        return "".join(f"{row}\n" for row in self.rows)

    @property
    def language(self) -> str:
        return FORMATS[self.stage].language


def document(
    snapshot: Snapshot,
    kernel: KernelView,
    job: Job | None,
    stage: Stage,
    outcome: Artifact | Fault,
    last: Artifact | None = None,
) -> Document:
    """The text to serve for a stage of a kernel.

    For a fault, the message, then `last`, the newest listing known, marked as stale.
    """
    leader = FORMATS[stage].comment
    lines = _Lines()
    fault = outcome if isinstance(outcome, Fault) else None
    artifact = last if isinstance(outcome, Fault) else outcome
    state = State.FAILED if fault is not None else kernel.state if kernel.state is State.STALE else State.FRESH
    for line in _header(kernel, job, stage):
        lines.add(f"{leader} {line}")
    if kernel.state is State.STALE:
        lines.add(f"{leader} {_stale(snapshot, kernel, artifact is not None)}")
    if fault is not None:
        for line in _fault(kernel, fault):
            lines.add(f"{leader} {line}")
        if artifact is not None:
            lines.add(f"{leader} the last version that compiled:")
    lines.add("")
    if artifact is not None:
        _body(lines, snapshot, kernel, artifact, leader, linked=job is None or _is_current(kernel, job))
    problems = (fault.message,) if fault is not None else ()
    return lines.document(stage, job, state, problems)


def types_document(snapshot: Snapshot, kernel: KernelView) -> Document:
    """The types of a kernel's active job as a document; made from the snapshot alone."""
    leader = FORMATS[Stage.TYPES].comment
    lines = _Lines()
    job = kernel.job.job if kernel.job else None
    faults = tuple(dict.fromkeys((*kernel.faults, *(kernel.inference.faults if kernel.inference else ()))))
    for line in _header(kernel, job, Stage.TYPES):
        lines.add(f"{leader} {line}")
    if kernel.state is State.STALE:
        lines.add(f"{leader} {_stale(snapshot, kernel, kernel.inference is not None)}")
    for fault in faults:
        for line in _fault(kernel, fault):
            lines.add(f"{leader} {line}")
    lines.add("")
    for row in type_listing(kernel, snapshot.files):
        lines.add(row.text, (row.chain,))
    return lines.document(Stage.TYPES, job, kernel.state, tuple(fault.message for fault in faults))


class _Lines:
    def __init__(self) -> None:
        self.rows: list[str] = []
        self.links: list[tuple[Link, ...]] = []
        self.origins: list[int] = []

    def add(self, line: str, links: tuple[Link, ...] = (), origin: int = -1) -> None:
        self.rows.append(line)
        self.links.append(links)
        self.origins.append(origin)

    def document(self, stage: Stage, job: Job | None, state: State, problems: tuple[str, ...]) -> Document:
        return Document(stage, tuple(self.rows), tuple(self.links), tuple(self.origins), job, state, problems)


def _header(kernel: KernelView, job: Job | None, stage: Stage) -> list[str]:
    if job is None:
        return [f"{FORMATS[stage].title} of {kernel.name}"]
    lines = [f"{FORMATS[stage].title} of {kernel.name} for {config_label(job.config)}"]
    if job.arguments:
        lines.append(arguments_line(job))
    view = next((view for view in kernel.jobs if view.job == job), None)
    names = [argument.argument.name for argument in view.arguments if argument.origin == "assumed"] if view else []
    if names:
        lines.append(f"assumed: {', '.join(names)}")
    return lines


def _stale(snapshot: Snapshot, kernel: KernelView, known: bool) -> str:
    """`known`: an older version is shown."""
    file = snapshot.files.get(kernel.path)
    wrong = [problem for problem in file.problems if problem.code == "syntax"] if file is not None else []
    places = [f" ({where(SourceRange(kernel.path, one.span), kernel.cells)}: {one.message})" for one in wrong[:1]]
    shown = "this is the last version that could be read" if known else NEVER_READ
    return f"stale: the text is broken{''.join(places)}, {shown}"


def _fault(kernel: KernelView, fault: Fault) -> list[str]:
    places = fault_places(kernel, fault)
    prefix = f"{where(places[0], kernel.cells)}: " if places else ""
    text = f"{prefix}error: {fault.message}" + (f"\n{fault.help}" if fault.help else "")
    return text.splitlines()


def _is_current(kernel: KernelView, job: Job) -> bool:
    """False for a job of an earlier version of the kernel: its places mean nothing in today's text."""
    return any(view.job.version == job.version for view in kernel.jobs)


def _body(
    lines: _Lines, snapshot: Snapshot, kernel: KernelView, artifact: Artifact, leader: str, *, linked: bool
) -> None:
    current: tuple[tuple[str, int], ...] = ()
    rows = artifact.text.removesuffix("\n").split("\n")
    # Thousands of instructions come from some hundred places.
    link_of = functools.cache(kernel.positions.chain)
    for index, row in enumerate(rows):
        chains = artifact.lines[index] if linked and index < len(artifact.lines) else ()
        links = tuple(link for link in map(link_of, chains) if link)
        if links:
            source = tuple((place.path, place.span.line) for place in links[0])
            if source != current:
                current = source
                indent = row[: len(row) - len(row.lstrip())]
                lines.add(f"{indent}{leader} {source_line(snapshot, kernel, links[0])}", links[:1])
        lines.add(row, links, index)


def source_line(snapshot: Snapshot, kernel: KernelView, link: Link) -> str:
    """`"matmul.py:38: acc = ct.mma(a, b, acc)"`, with the call sites of inlined code after it."""
    place = link[0]
    file = snapshot.files.get(place.path)
    text = f"{where(place, kernel.cells, kernel.path)}:"
    if file is not None and place.span.line <= len(file.lines):
        text += f" {file.lines[place.span.line - 1].strip()}"
    for caller in link[1:]:
        text += f" ← {where(caller, kernel.cells, kernel.path)}"
    return text


def missing_document(stage: Stage, kernel: str, path: str) -> Document:
    """For a kernel that is not, or no longer, in its file."""
    message = f"{path} has no kernel {kernel}"
    row = f"{FORMATS[stage].comment} {message}"
    return Document(stage, (row,), ((),), (-1,), state=State.FAILED, problems=(message,))
