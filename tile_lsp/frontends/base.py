"""What a front end is, on the server's side: what it recognises, its signature syntax, its config fields, its recipe.

The engine knows no compiler. It asks the front end which worker operations and tools lead to a stage, runs them, caches
every step by exactly what the step reads, and gives the bytes back to the front end to be read into artifacts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, overload, runtime_checkable

import msgspec

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.language import ClosureResult, Site, TextProblem
from tile_lsp.analysis.snapshot import Written
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.location import Chain, Span
from tile_lsp.model.outcome import Artifact, Fault, Severity
from tile_lsp.model.settings import Settings
from tile_lsp.model.stage import Stage


class Origin(msgspec.Struct, frozen=True):
    """Where an argument came from."""

    kind: str
    """`comment`, `settings`, `recorded`, `launch`, `default`, `annotation`, `assumed`, `command line`."""
    detail: str = ""
    """For people: `"used as an operand of ct.mma"`, `"matmul.py:3"`."""


class Readings(Sequence[tuple[Argument, ...]]):
    """Other readings of a job's arguments, worked out when somebody first asks: most jobs need none.

    Equal where what they are worked out from is.
    """

    def __init__(
        self,
        ground: object,
        work_out: Callable[[], Iterable[tuple[Argument, ...]]],
        after: Callable[[Closure, tuple[Argument, ...], Fault], Iterable[tuple[Argument, ...]]] | None = None,
    ) -> None:
        """`after`: more of them, where all have failed, from what one of them ended in."""
        self._ground = ground
        self._work_out = work_out
        self._after = after

    @functools.cached_property
    def _all(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(self._work_out())

    def after(self, closure: Closure, arguments: tuple[Argument, ...], fault: Fault) -> Iterable[tuple[Argument, ...]]:
        """Those to try once these arguments ended in this fault, the most likely first."""
        return self._after(closure, arguments, fault) if self._after is not None else ()

    @overload
    def __getitem__(self, index: int) -> tuple[Argument, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[Argument, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[Argument, ...] | tuple[tuple[Argument, ...], ...]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Readings) and self._ground == other._ground

    __hash__ = None  # type: ignore[assignment]


class JobSpec(msgspec.Struct, frozen=True):
    """A job before the engine has put the version and the toolchain in: arguments with their origins, and configs."""

    arguments: tuple[Argument, ...]
    origins: tuple[Origin, ...]
    """One for each argument."""
    configs: tuple[Config, ...]
    """One or more; a config without a target is resolved by the engine (workspace's setting, device, else an error)."""
    comment: JobComment | None = None
    alternatives: Sequence[tuple[Argument, ...]] = ()
    """Other readings of what was assumed, each as long as `arguments`, to be tried in turn should inference fail."""
    expressions: tuple[str, ...] = ()
    """Python in the arguments, evaluated in the kernel's module: what it names is part of the closure."""
    tuned: bool = False
    """One of several that are tried before the kernel is launched, the best of which is taken."""


class Problem(msgspec.Struct, frozen=True):
    """Something wrong in a comment or a setting, at the exact word."""

    message: str
    span: Span
    severity: Severity = Severity.ERROR
    code: str = "signature"
    setting: tuple[str, ...] = ()
    """Of a setting: its keys among those of a kernel, such as `("arguments", "x")`. `span` is then the kernel's name,
    and `message` leaves it to others to say where it is written.
    """
    written: Written | None = None
    """The key of such a setting, once it was looked for."""


class ToolRun(msgspec.Struct, frozen=True):
    """One start of an external tool. `{name}` in an argument stands for the file of input or output `name`."""

    tool: str
    """As the interpreter's `tools` table names it: `tileiras`, `tileirdisasm`."""
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    """Names of the blobs that it reads. Their content, the arguments and the tool's version are the whole cache key."""
    outputs: tuple[str, ...]
    """Names of the blobs that it writes; `stdout` stands for its standard output."""
    told: Callable[[str, Mapping[str, bytes]], Sequence[tuple[str, Chain]]] | None = None
    """What a failed run's words say, cause by cause, and where in the source each is, from the words and the inputs."""


class Language(Protocol):
    """How a file's text is read. Several front ends may share one; each file is of one.

    A workspace is the language's own view of files, made anew for each analysis, cheaply: what is known of a text is
    kept by the text. Sites and workspaces go from here to the front ends and back, and no one else looks into them.
    """

    drivers: str
    """Which drivers a worker for its front ends loads: all of Python's, where it is empty, else the one of that name.
    So nobody waits for a compiler that their files have no use for.
    """
    words: frozenset[str]
    """One of them stands in each file with a kernel."""

    def claims(self, path: str) -> bool:
        """True if the file is of this language, by its name."""
        ...

    def workspace(
        self,
        path: str,
        read: Callable[[str], str | None],
        *,
        roots: Sequence[str],
        editable: Mapping[str, str],
        settings: Settings,
    ) -> Any:
        """The view from a file. `read` gives the text of an absolute path, unsaved text first."""
        ...

    def problems(self, path: str, workspace: Any) -> Iterable[TextProblem]:
        """What of a file can't be read."""
        ...


class FrontEnd(Protocol):
    """One kernel language."""

    name: str
    language: Language
    comment: str
    """What begins a comment in the text of its kernels: `#`, `//`."""
    stages: tuple[Stage, ...]
    """In the order of lowering; also the order of the code actions."""
    targets: tuple[str, ...]
    """All that it compiles for."""

    def check_config(self, config: Config) -> str | None:
        """A message for people if target, hints or symbol can't be right, naming what would be."""
        ...

    def find_kernels(self, path: str, workspace: Any) -> Sequence[Site]:
        """Kernels of a file in source order."""
        ...

    def closure(
        self, site: Any, workspace: Any, bindings: Mapping[str, str], expressions: Sequence[str]
    ) -> ClosureResult:
        """What a kernel depends on. `bindings`: the items of its job comment; `expressions`: those of its arguments."""
        ...

    def inference_fields(self, config: Config, closure: Closure, arguments: Sequence[Argument]) -> Mapping[str, Scalar]:
        """Exactly those fields of the config that inference of this closure for these arguments reads."""
        ...

    def codegen_fields(self, config: Config) -> Mapping[str, Scalar]:
        """Exactly those fields of the config that the worker's `codegen` reads to make the blobs it returns."""
        ...

    def tool_for(self, blob: str, config: Config, generated: Mapping[str, Scalar]) -> ToolRun | Fault | None:
        """The tool run that makes `blob`, None where the worker's `codegen` makes it, or why this toolchain can't.

        `generated` are the plain values that codegen returned beside its blobs (`opt_level`).
        """
        ...

    def blobs_for(self, stage: Stage) -> tuple[str, ...]:
        """Names of the blobs that `read` needs for a stage. One that ends in `?` is left out where it can't be
        made: `read` then finds under that very name why, in words for people.
        """
        ...

    def read(self, stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
        """Pure: blobs to an artifact. Raises `ValueError` for blobs that it can't read."""
        ...

    def job_specs(
        self,
        kernel: Any,
        workspace: Any,
        comments: Sequence[JobComment],
        settings: Settings,
    ) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
        """Arguments and configs for a kernel, in the order of `design.md` §7, never empty: the unknown is assumed."""
        ...


class Parameter(msgspec.Struct, frozen=True):
    """One parameter of a compiled kernel, as assembly sees it."""

    name: str
    """In the words of the source: `"A"`, `"A.shape[0]"`."""
    offset: int
    """In the block of parameters, in bytes."""
    size: int


@runtime_checkable
class SplitsCodegen(Protocol):
    """A front end whose worker can generate less than all: what is looked at alone then costs nothing of the rest."""

    def part_of(self, blob: str) -> str:
        """The part that makes a blob, as the worker's `codegen` knows it; empty for what `codegen_fields` speaks of."""
        ...

    def part_fields(self, part: str, config: Config) -> Mapping[str, Scalar]:
        """Exactly those fields of the config that a part reads."""
        ...


@runtime_checkable
class NamesParameters(Protocol):
    """A front end that knows which parameters of the compiled kernel an argument becomes."""

    def parameters(self, arguments: Sequence[Argument], types: Mapping[str, str]) -> tuple[Parameter, ...]:
        """In their order; empty if that is not known. `types`: argument → its type as inference writes it, if known."""
        ...


@runtime_checkable
class Tunes(Protocol):
    """A front end whose kernels may come with configs that are tried, see `JobSpec.tuned`."""

    def passed_over(self, fault: Fault) -> str | None:
        """What is to be said of a fault in place of its message, if a config that has it is just not taken."""
        ...


@runtime_checkable
class BlobsByTarget(Protocol):
    """A front end for the targets of several vendors, whose stages differ or are read from other blobs."""

    def blobs_for_target(self, stage: Stage, target: str | None) -> tuple[str, ...]:
        """As `FrontEnd.blobs_for`."""
        ...

    def stages_for_target(self, target: str | None) -> tuple[Stage, ...]:
        """Those of `FrontEnd.stages` that there are for a target; all where there is none yet."""
        ...
