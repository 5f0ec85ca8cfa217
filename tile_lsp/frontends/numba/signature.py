"""What comments and settings say of a kernel's arguments and configs, checked against the kernel, word by word."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

import msgspec

from tile_lsp.analysis.comments import CommentItem, JobComment
from tile_lsp.frontends.base import Problem
from tile_lsp.model.job import Scalar
from tile_lsp.model.location import Span
from tile_lsp.model.settings import KernelSettings

from . import spec, targets
from .hints import HINTS, check_hint, parse_hint
from .spec import SpecFault


class Given(msgspec.Struct, frozen=True):
    """What one source gives."""

    arguments: Mapping[str, str] = {}
    targets: tuple[str, ...] = ()
    hints: Mapping[str, Scalar] = {}
    command_line: frozenset[str] = frozenset()
    """Names of arguments that stand in no file: they were given on the command line."""


def read_settings(settings: KernelSettings, parameters: Sequence[str], span: Span) -> tuple[Given, tuple[Problem, ...]]:
    """What the settings give for a kernel; problems stand at `span`. Targets and hints that are not Numba's are passed
    over: settings are for all front ends.
    """
    problems: list[Problem] = []
    arguments: dict[str, str] = {}
    for name, text in settings.arguments.items():
        if name not in parameters:
            continue
        made = spec.canonical(text)
        if isinstance(made, SpecFault):
            problems.append(Problem(made.message, span, setting=("arguments", name)))
        else:
            arguments[name] = made
    chosen = tuple(t for t in dict.fromkeys(settings.targets) if targets.check_target(t) is None)
    hints = {name: value for name, value in settings.hints.items() if check_hint(name, value) is None}
    return Given(arguments, chosen, hints), tuple(problems)


def read_comment(
    comment: JobComment, parameters: Sequence[str], captured: Collection[str]
) -> tuple[Given, tuple[Problem, ...]]:
    """What a comment gives. `captured`: parameters of functions around the kernel, which it may bind as well."""
    reader = _CommentReader(comment, parameters, captured)
    seen: set[str] = set()
    for item in comment.items:
        if item.name in seen:
            reader.problem(f"{item.name} is given twice", item.name_span)
            continue
        seen.add(item.name)
        reader.item(item)
    given = Given(reader.arguments, reader.targets, reader.hints, frozenset(reader.command_line))
    return given, tuple(reader.problems)


class _CommentReader:
    def __init__(self, comment: JobComment, parameters: Sequence[str], captured: Collection[str]) -> None:
        self.parameters = parameters
        self.captured = captured
        self.problems = [Problem(problem.message, problem.span) for problem in comment.problems]
        self.arguments: dict[str, str] = {}
        self.hints: dict[str, Scalar] = {}
        self.targets: tuple[str, ...] = ()
        self.command_line: set[str] = set()

    def problem(self, message: str, span: Span) -> None:
        self.problems.append(Problem(message, span))

    def item(self, item: CommentItem) -> None:
        # `@target=…` is the target even where the kernel has a parameter of that name.
        word = item.name.removeprefix("@")
        if item.name in self.parameters:
            self.argument(item)
        elif word == "target":
            self.target(item)
        elif word in HINTS:
            value = parse_hint(item.value)
            message = check_hint(word, value)
            if message is None:
                self.hints[word] = value
            else:
                self.problem(message, item.value_span)
        elif item.name not in self.captured:
            self.unknown(item)

    def argument(self, item: CommentItem) -> None:
        made = spec.canonical(item.value)
        if isinstance(made, SpecFault):
            self.problem(made.message, _part(item, made.start, made.end))
            return
        self.arguments[item.name] = made
        if item.value_span.line == 0:
            self.command_line.add(item.name)

    def target(self, item: CommentItem) -> None:
        found: list[str] = []
        start = 0
        for part in item.value.split(","):
            span = _part(item, start, start + len(part))
            start += len(part) + 1
            target = part.strip()
            message = targets.check_target(target) if target else "a target is missing between the commas"
            if message is not None:
                self.problem(message, span if target else item.value_span)
            elif target in found:
                self.problem(f"{target} is given twice", span)
            else:
                found.append(target)
        self.targets = tuple(found)

    def unknown(self, item: CommentItem) -> None:
        names = [*self.parameters, *self.captured, "target", *HINTS]
        close = difflib.get_close_matches(item.name, names, n=1, cutoff=0.5)
        if close:
            advice = f"did you mean `{close[0]}`?"
        elif self.parameters:
            advice = f"the kernel has {', '.join(self.parameters)}"
        else:
            advice = "the kernel has no parameters"
        self.problem(f"`{item.name}` is neither a parameter nor an option; {advice}", item.name_span)


def _part(item: CommentItem, start: int, end: int) -> Span:
    """The span of characters of an item's value."""
    span = item.value_span
    first = span.column + len(item.value[:start].encode())
    return Span(span.line, first, span.line, first + max(1, len(item.value[start:end].encode())))
