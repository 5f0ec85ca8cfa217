"""Snapshots drawn by hand: for states, callers and faults that a real compiler gives only in passing.

A source is a text in which `‸` marks the cursor. Places of the drawn kernels are ranges of the source as it stands.
"""

from __future__ import annotations

import textwrap
from typing import Any

from tile_lsp.analysis.snapshot import ArgumentView, FileView, JobView, KernelView, ProblemView, Snapshot, State
from tile_lsp.model.job import Argument, Config, Job
from tile_lsp.model.location import Chain, Place, SourceRange, Span
from tile_lsp.model.outcome import Artifact, Fault, Inference, TypeRecord
from tile_lsp.model.stage import Stage

PATH = "/w/k.py"
CURSOR = "‸"


class Straight:
    """Positions whose members are files and whose places are ranges of them; members that are no file are unknown."""

    def resolve(self, place: Place) -> SourceRange | None:
        if not place.member.startswith("/w/"):
            return None
        return SourceRange(place.member, Span(place.line, place.column, place.end_line, place.end_column))

    def chain(self, chain: Chain) -> tuple[SourceRange, ...]:
        return tuple(found for place in chain if (found := self.resolve(place)) is not None)


class Source:
    def __init__(self, text: str, path: str = PATH) -> None:
        text = textwrap.dedent(text).lstrip("\n")
        self.path = path
        self.cursor: tuple[int, int] | None = None
        if CURSOR in text:
            before, _, after = text.partition(CURSOR)
            self.cursor = (before.count("\n") + 1, len(before.rpartition("\n")[2].encode()))
            text = before + after
        self.text = text
        self.lines = tuple(text.splitlines(keepends=True))

    def place(self, snippet: str, nth: int = 0) -> Place:
        """The range of the nth occurrence of a text, which has no line end in it."""
        index = -1
        for _ in range(nth + 1):
            index = self.text.index(snippet, index + 1)
        before = self.text[:index]
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode())
        return Place(self.path, line, column, line, column + len(snippet.encode()))

    def span(self, snippet: str, nth: int = 0) -> Span:
        return Span(*self.place(snippet, nth)[1:])

    def typed(self, kind: str, snippet: str, type_: str, *callers: Place, nth: int = 0, **more: Any) -> TypeRecord:
        name = snippet if snippet.isidentifier() else None
        return TypeRecord((self.place(snippet, nth), *callers), kind, type_, name=name, **more)

    def view(self, *kernels: KernelView, problems: tuple[ProblemView, ...] = ()) -> FileView:
        return FileView(self.path, self.text, self.lines, 1, kernels, problems)

    def kernel(
        self,
        name: str,
        *types: TypeRecord,
        jobs: tuple[JobView, ...] | None = None,
        state: State = State.FRESH,
        faults: tuple[Fault, ...] = (),
        positions: Any = None,
        **more: Any,
    ) -> KernelView:
        """A kernel that begins where its `def` stands, and ends with the file."""
        head = self.place(f"def {name}(")
        parameters = self.text[self.text.index(f"def {name}(") :].partition("(")[2].partition(")")[0]
        names = [parameter.split(":")[0].strip() for parameter in parameters.split(",") if parameter.strip()]
        start = head.column + len("def ")
        return KernelView(
            frontend="cutile",
            name=name,
            path=self.path,
            span=Span(head.line, 0, len(self.lines) + 1, 0),
            name_span=Span(head.line, start, head.line, start + len(name)),
            parameters=tuple((parameter, self.span(parameter)) for parameter in names),
            state=state,
            positions=positions or Straight(),
            jobs=(job(name),) if jobs is None else jobs,
            inference=Inference(types=types),
            faults=faults,
            **more,
        )


def job(
    kernel: str,
    *arguments: tuple[str, str, str],
    target: str | None = "sm_90",
    hints: tuple[tuple[str, Any], ...] = (),
    artifacts: dict[Stage, Artifact] | None = None,
    faults: tuple[Fault, ...] = (),
    version: str = "v1",
) -> JobView:
    """Arguments as (name, spec, origin)."""
    views = tuple(ArgumentView(Argument(name, spec), origin) for name, spec, origin in arguments)
    value = Job("cutile", kernel, version, tuple(view.argument for view in views), Config(target, hints))
    return JobView(value, views, "", artifacts or {}, faults)


def snapshot(*files: FileView) -> Snapshot:
    return Snapshot({file.path: file for file in files})
