"""What comments and settings say of a kernel's arguments and configs, checked against the kernel, word by word."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from tile_lsp.analysis.comments import CommentItem, JobComment
from tile_lsp.frontends.base import Problem
from tile_lsp.model.job import Scalar
from tile_lsp.model.location import Span
from tile_lsp.model.settings import KernelSettings


class SpecFault(msgspec.Struct, frozen=True):
    """Why a text is no argument. `start` and `end` count characters of the text."""

    message: str
    start: int
    end: int


class Given(msgspec.Struct, frozen=True):
    """What one source gives."""

    arguments: Mapping[str, Any] = {}
    """As the front end reads their texts."""
    targets: tuple[str, ...] = ()
    hints: Mapping[str, Scalar] = {}
    symbol: str | None = None
    command_line: frozenset[str] = frozenset()
    """Names of arguments that stand in no file: they were given on the command line."""


class Vocabulary(msgspec.Struct, frozen=True):
    """What may be said of one kernel. Checks give a message, or None where there is nothing to say."""

    parameters: Sequence[str]
    read_argument: Callable[[str, str], Any]
    """Of a parameter's name and a text: the argument, or a `SpecFault`."""
    check_target: Callable[[str], str | None]
    hints: Collection[str]
    read_hint: Callable[[str, str], Scalar]
    check_hint: Callable[[str, Scalar], str | None]
    check_symbol: Callable[[str], str | None] | None = None
    """None where a kernel's symbol can't be chosen."""
    bound: Collection[str] = ()
    """Parameters of functions around the kernel: a comment may give them too, and others read them."""
    refused: Mapping[str, str] = {}
    """Names that one might well write, with what there is to say against each."""
    is_neither: str = "a parameter nor an option"
    has: str = "the kernel has"
    has_none: str = "the kernel has no parameters"


def read_settings(
    settings: KernelSettings, words: Vocabulary, span: Span, *, strict: bool = False
) -> tuple[Given, tuple[Problem, ...]]:
    """What the settings give for a kernel; problems stand at `span`, the kernel's name, and name the setting.

    Arguments for other kernels of a glob are passed over, and unless `strict` so are targets and hints that the front
    end does not know: settings are for all of them.
    """
    problems: list[Problem] = []
    arguments: dict[str, Any] = {}
    for name, text in settings.arguments.items():
        if name in words.parameters:
            made = words.read_argument(name, text)
            if isinstance(made, SpecFault):
                problems.append(Problem(made.message, span, setting=("arguments", name)))
            else:
                arguments[name] = made

    def holds(message: str | None, *setting: str) -> bool:
        if message is not None and strict:
            problems.append(Problem(message, span, setting=setting))
        return message is None

    targets = tuple(t for t in dict.fromkeys(settings.targets) if holds(words.check_target(t), "targets"))
    hints = {
        name: value for name, value in settings.hints.items() if holds(words.check_hint(name, value), "hints", name)
    }
    return Given(arguments, targets, hints), tuple(problems)


def read_comment(comment: JobComment, words: Vocabulary) -> tuple[Given, tuple[Problem, ...]]:
    """What a comment gives."""
    reader = _CommentReader(comment, words)
    seen: set[str] = set()
    for item in comment.items:
        if item.name in seen:
            reader.problem(f"{item.name} is given twice", item.name_span)
        else:
            reader.item(item)
        seen.add(item.name)
    given = Given(reader.arguments, reader.targets, reader.hints, reader.symbol, frozenset(reader.command_line))
    return given, tuple(reader.problems)


class _CommentReader:
    def __init__(self, comment: JobComment, words: Vocabulary) -> None:
        self.words = words
        self.problems = [Problem(problem.message, problem.span) for problem in comment.problems]
        self.arguments: dict[str, Any] = {}
        self.hints: dict[str, Scalar] = {}
        self.targets: tuple[str, ...] = ()
        self.symbol: str | None = None
        self.command_line: set[str] = set()

    def problem(self, message: str, span: Span) -> None:
        self.problems.append(Problem(message, span))

    def item(self, item: CommentItem) -> None:
        words = self.words
        # `@target=…` is the target even where the kernel has a parameter of that name.
        word = item.name.removeprefix("@")
        if item.name in words.parameters:
            self.argument(item)
        elif word == "target":
            self.target(item)
        elif word in words.hints:
            value = words.read_hint(word, item.value)
            if message := words.check_hint(word, value):
                self.problem(message, item.value_span)
            else:
                self.hints[word] = value
        elif word == "symbol" and words.check_symbol is not None:
            if message := words.check_symbol(item.value):
                self.problem(message, item.value_span)
            else:
                self.symbol = item.value
        elif word in words.refused:
            self.problem(words.refused[word], item.name_span)
        elif item.name not in words.bound:
            self.problem(f"`{item.name}` is neither {words.is_neither}; {self.advice(item.name)}", item.name_span)

    def argument(self, item: CommentItem) -> None:
        made = self.words.read_argument(item.name, item.value)
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
            message = self.words.check_target(target) if target else "a target is missing between the commas"
            if message is not None:
                self.problem(message, span if target else item.value_span)
            elif target in found:
                self.problem(f"{target} is given twice", span)
            else:
                found.append(target)
        self.targets = tuple(found)

    def advice(self, name: str) -> str:
        words = self.words
        symbol = ("symbol",) if words.check_symbol is not None else ()
        names = [*words.parameters, *words.bound, "target", *symbol, *words.hints]
        lowered = {known.lower(): known for known in reversed(names)}
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        best = lowered.get(name.lower()) or (close[0] if close else None)
        if best is not None:
            return f"did you mean `{best}`?"
        return f"{words.has} {', '.join(words.parameters)}" if words.parameters else words.has_none


def _part(item: CommentItem, start: int, end: int) -> Span:
    """The span of characters of an item's value."""
    span = item.value_span
    first = span.column + len(item.value[:start].encode())
    return Span(span.line, first, span.line, first + max(1, len(item.value[start:end].encode())))
