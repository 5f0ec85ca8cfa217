"""What every language gives of its text: kernels where they stand, closures, and the way back from places."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from tile_lsp.model.closure import Closure
from tile_lsp.model.location import Chain, Place, SourceRange, Span
from tile_lsp.model.outcome import Severity


class PositionMap(Protocol):
    """From places in normalised members to today's source ranges, and back. Immutable."""

    def resolve(self, place: Place) -> SourceRange | None:
        """Today's range of a place, or None for a member that isn't of this closure."""
        ...

    def chain(self, chain: Chain) -> tuple[SourceRange, ...]: ...

    def places_at(self, path: str, line: int, column: int | None = None) -> tuple[Place, ...]:
        """Places whose range today covers a position, or touches a line."""
        ...

    def prepare(self) -> None:
        """Work out what the first question would have to wait for. Any thread may do that."""
        ...


class Named(Protocol):
    """A parameter of a kernel. `span` covers the name alone."""

    @property
    def name(self) -> str: ...
    @property
    def span(self) -> Span: ...


@dataclasses.dataclass(frozen=True)
class CommentLine:
    """A line that holds only a comment. `text` starts at its leader (`#`, `//`); `span` covers it without trailing
    white space.
    """

    text: str
    span: Span


class Site(Protocol):
    """A kernel in the text, as far as every language has it. What more there is is between a language and its front
    ends.
    """

    @property
    def path(self) -> str: ...
    @property
    def qualname(self) -> str:
        """Unique in its file."""
        ...

    @property
    def span(self) -> Span:
        """The definition, with what stands before its name."""
        ...

    @property
    def name_span(self) -> Span: ...
    @property
    def parameters(self) -> Sequence[Named]: ...
    @property
    def broken(self) -> bool:
        """Recognised in text that can't be read."""
        ...

    @property
    def comment_lines(self) -> Sequence[CommentLine]:
        """The comment lines directly above, in order."""
        ...


class TextProblem(Protocol):
    """A region of a file that can't be read, or that names what isn't there."""

    @property
    def message(self) -> str: ...
    @property
    def span(self) -> Span: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def code(self) -> str: ...


@dataclasses.dataclass(frozen=True)
class Blocked:
    """Why there is no closure."""

    message: str
    at: SourceRange | None = None
    """The broken statement, or the definition that lacks something."""
    help: str | None = None
    """What to write to mend it."""
    syntax: bool = False
    """A needed definition is broken text: keep showing the last good types."""
    newer: bool = False
    """Broken to the Python of the server only: the kernels' own can read it."""


@dataclasses.dataclass(frozen=True)
class ClosureResult:
    """What a closure came to. Exactly one of `closure` and `blocked_by` is None."""

    closure: Closure | None
    positions: PositionMap
    files: frozenset[str]
    """Paths whose text the result was read from."""
    missing: frozenset[str] = frozenset()
    """Paths that were looked for in vain: should one appear, the result may change."""
    blocked_by: Blocked | None = None
    instances: tuple[str, ...] = ()
    """For a kernel made by a function: the calls that make one, the one this closure is of first."""


@runtime_checkable
class TellsComments(Protocol):
    """A language, or a front end that finds another one inside of it, that knows the job comments of a file from what
    looks like one in a string.
    """

    def job_comments(self, path: str, workspace: Any) -> Iterable[CommentLine]:
        """The lines that begin one, whether or not a kernel reads it."""
        ...


class BrokenStatement(Protocol):
    """A top-level statement that doesn't parse."""

    @property
    def text(self) -> str: ...
    @property
    def problem(self) -> TextProblem: ...


@runtime_checkable
class ReadByPython(Protocol):
    """A language that the server's own Python parses: another Python may be able to read more."""

    def broken(self, path: str, text: str) -> Sequence[BrokenStatement]: ...


@runtime_checkable
class AsksWhy(Protocol):
    """A view of a workspace that can say why it did not find what is there."""

    refusal: Callable[[str], str | None]
    """Why a file that is there was not read, after its name: `is a pipe, no plain file`. Set by who reads files."""


@runtime_checkable
class SeesFolders(Protocol):
    """A view of a workspace that looks around: who uses what a file defines stands in other files."""

    listing: Callable[[str], Sequence[str]]
    """Paths of the source files of a folder; empty where it is none. Set by who reads files."""
    consulted: set[str]
    """Files that were looked into beside those that a closure is made of: a change there may change what was found."""
