"""What comments and settings say of a template's arguments and of configs, checked against the kernel, word by word."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

import msgspec

from tile_lsp.analysis.comments import CommentItem, JobComment
from tile_lsp.frontends.base import Problem
from tile_lsp.model.job import Scalar
from tile_lsp.model.location import Span
from tile_lsp.model.settings import KernelSettings

from .hints import HINTS, check_hint, parse_hint
from .targets import check_target


class Given(msgspec.Struct, frozen=True):
    """What one source gives."""

    arguments: Mapping[str, str] = {}
    targets: tuple[str, ...] = ()
    hints: Mapping[str, Scalar] = {}
    command_line: frozenset[str] = frozenset()
    """Names of arguments that stand in no file: they were given on the command line."""


def read_settings(settings: KernelSettings, parameters: Sequence[str]) -> Given:
    """What the settings give for a kernel. What is not CUDA's is passed over: settings are for all front ends."""
    arguments = {name: text.strip() for name, text in settings.arguments.items() if name in parameters}
    chosen = tuple(target for target in dict.fromkeys(settings.targets) if check_target(target) is None)
    hints = {name: value for name, value in settings.hints.items() if check_hint(name, value) is None}
    return Given(arguments, chosen, hints)


def read_comment(
    comment: JobComment, parameters: Sequence[str], others: Sequence[str]
) -> tuple[Given, tuple[Problem, ...]]:
    """What a comment gives. `parameters`: the template's; `others`: the function's, which have their types already."""
    problems = [Problem(problem.message, problem.span) for problem in comment.problems]
    arguments: dict[str, str] = {}
    hints: dict[str, Scalar] = {}
    targets: tuple[str, ...] = ()
    command_line: set[str] = set()
    seen: set[str] = set()
    for item in comment.items:
        word = item.name.removeprefix("@")
        if item.name in seen:
            problems.append(Problem(f"{item.name} is given twice", item.name_span))
        elif item.name in parameters:
            arguments[item.name] = item.value
            if item.value_span.line == 0:
                command_line.add(item.name)
        elif word == "target":
            targets = _targets(item, problems)
        elif word in HINTS:
            value = parse_hint(item.value)
            message = check_hint(word, value)
            if message is None:
                hints[word] = value
            else:
                problems.append(Problem(message, item.value_span))
        else:
            problems.append(Problem(_unknown(item.name, parameters, others), item.name_span))
        seen.add(item.name)
    return Given(arguments, targets, hints, frozenset(command_line)), tuple(problems)


def _targets(item: CommentItem, problems: list[Problem]) -> tuple[str, ...]:
    found: list[str] = []
    start = 0
    for part in item.value.split(","):
        span = _part(item, start, start + len(part))
        start += len(part) + 1
        target = part.strip()
        message = check_target(target) if target else "a target is missing between the commas"
        if message is not None:
            problems.append(Problem(message, span if target else item.value_span))
        elif target in found:
            problems.append(Problem(f"{target} is given twice", span))
        else:
            found.append(target)
    return tuple(found)


def _unknown(name: str, parameters: Sequence[str], others: Sequence[str]) -> str:
    if name in others:
        return f"`{name}` has its type already; a comment gives arguments of the template, a target or options"
    close = difflib.get_close_matches(name, [*parameters, "target", *HINTS], n=1, cutoff=0.5)
    if close:
        advice = f"did you mean `{close[0]}`?"
    elif parameters:
        advice = f"the template has {', '.join(parameters)}"
    else:
        advice = "the kernel is no template"
    return f"`{name}` is neither a template's parameter nor an option; {advice}"


def _part(item: CommentItem, start: int, end: int) -> Span:
    """The span of characters of an item's value."""
    span = item.value_span
    first = span.column + len(item.value[:start].encode())
    return Span(span.line, first, span.line, first + max(1, len(item.value[start:end].encode())))
