"""What the features see: an immutable picture of the workspace at one moment.

The engine makes it, the features of `ide/` are pure functions of it. Nothing in it waits.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from tile_lsp.analysis.language import PositionMap
from tile_lsp.model.closure import Note
from tile_lsp.model.job import Argument, Job
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import Artifact, Fault, Inference, Severity
from tile_lsp.model.stage import Stage


class State(enum.StrEnum):
    """How a kernel's types stand to the text."""

    FRESH = "fresh"
    COMPILING = "compiling"
    """An inference runs; what is shown is the last good one, if any."""
    STALE = "stale"
    """The text is broken; the last good types are shown."""
    FAILED = "failed"
    """Inference ended in a fault; types made before it are shown."""
    BLOCKED = "blocked"
    """Nothing ran: untrusted workspace, no interpreter, no front end. The fault says what mends it."""


class ArgumentView(msgspec.Struct, frozen=True):
    argument: Argument
    origin: str
    """`comment`, `settings`, `launch`, `default`, `annotation`, `assumed`, …"""
    detail: str = ""


class JobView(msgspec.Struct, frozen=True):
    job: Job
    """Target resolved, version and toolchain in place."""
    arguments: tuple[ArgumentView, ...]
    label: str
    """Short, for pickers and lenses: `"sm_90 · num_ctas=2"`."""
    artifacts: Mapping[Stage, Artifact] = {}
    """Those that are at hand without running anything."""
    faults: tuple[Fault, ...] = ()
    """Of code generation."""
    written: Mapping[str, SourceRange] = {}
    """Argument → the item of the job comment that gives it; the key of a setting, where that can't be right."""


class KernelView(msgspec.Struct, frozen=True):
    frontend: str
    name: str
    """Qualified: `"make_kernel.<locals>.kernel"`."""
    path: str
    span: Span
    """The whole definition, decorators included."""
    name_span: Span
    parameters: tuple[tuple[str, Span], ...]
    state: State
    positions: PositionMap
    jobs: tuple[JobView, ...] = ()
    active: int = 0
    """Index into `jobs` of the one that hovers and hints follow."""
    inference: Inference | None = None
    """For the active job."""
    cached: bool = False
    """Whether that was found, rather than made since the workspace was opened."""
    faults: tuple[Fault, ...] = ()
    """Of inference or of the environment."""
    notes: tuple[Note, ...] = ()
    cells: tuple[int, ...] = ()
    """`FileView.cells` of its file."""

    @property
    def job(self) -> JobView | None:
        return self.jobs[self.active] if self.jobs else None


class Written(msgspec.Struct, frozen=True):
    """The key of a setting, in its file, and what is wrong with it."""

    place: SourceRange
    message: str


class ProblemView(msgspec.Struct, frozen=True):
    """A problem of the text itself: a comment that can't be read, a syntax error."""

    message: str
    span: Span
    severity: Severity = Severity.ERROR
    code: str = "syntax"
    written: Written | None = None
    """Of a setting: it is to be marked there as well."""


class FileView(msgspec.Struct, frozen=True):
    path: str
    text: str
    lines: tuple[str, ...]
    version: int | None
    """The editor's document version; None where no editor holds the file."""
    kernels: tuple[KernelView, ...]
    problems: tuple[ProblemView, ...] = ()
    cells: tuple[int, ...] = ()
    """The first line of each cell of a notebook; empty for a file that is none."""


class Snapshot(msgspec.Struct, frozen=True):
    files: Mapping[str, FileView]
    """By absolute path."""
    world: int = 0
    trusted: bool = True

    def kernels(self) -> tuple[KernelView, ...]:
        return tuple(kernel for file in self.files.values() for kernel in file.kernels)
