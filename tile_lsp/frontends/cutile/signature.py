"""What comments and settings say of a kernel's arguments and configs, checked against the kernel, word by word."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from tile_lsp.analysis.comments import CommentItem, JobComment
from tile_lsp.frontends.base import Problem
from tile_lsp.model.job import Config, Scalar
from tile_lsp.model.location import Span
from tile_lsp.model.settings import KernelSettings

from . import versions
from .annotations import Annotation
from .assume import as_launched
from .hints import HINTS, check_hint, check_symbol, parse_hint
from .spec import (
    ArraySpec,
    ConstantSpec,
    ExpressionSpec,
    ListSpec,
    ScalarSpec,
    Spec,
    SpecFault,
    TupleSpec,
    is_constant,
    parse,
)

_CONFIG_WORDS = ("target", "symbol", *HINTS)


class Expected(msgspec.Struct, frozen=True):
    """One parameter as the kernel has it."""

    name: str
    annotation: Annotation
    used_as_array: Callable[[], str | None] = lambda: None
    """Why it has to be an array, if its use shows that. Asked only in doubt: use is what takes time to find out."""


class Given(msgspec.Struct, frozen=True):
    """What one source gives."""

    arguments: Mapping[str, Spec] = {}
    targets: tuple[str, ...] = ()
    hints: Mapping[str, Scalar] = {}
    symbol: str | None = None
    command_line: frozenset[str] = frozenset()
    """Names of arguments that stand in no file: they were given on the command line."""


def read_comment(
    comment: JobComment, parameters: Sequence[Expected], captured: Collection[str]
) -> tuple[Given, tuple[Problem, ...]]:
    """What a comment gives. `captured`: parameters of functions around the kernel, which it may bind as well."""
    return _CommentReader(comment, parameters, captured).read()


def read_settings(
    settings: KernelSettings, parameters: Sequence[Expected], span: Span
) -> tuple[Given, tuple[Problem, ...]]:
    """What the settings give for a kernel; problems stand at `span`, the kernel's name, and name the setting.

    Arguments for other kernels of a glob are passed over.
    """
    problems: list[Problem] = []
    arguments: dict[str, Spec] = {}
    by_name = {parameter.name: parameter for parameter in parameters}
    for name, text in settings.arguments.items():
        parameter = by_name.get(name)
        if parameter is None:
            continue
        spec = _checked(text, parameter)
        if isinstance(spec, SpecFault):
            problems.append(Problem(spec.message, span, setting=("arguments", name)))
        else:
            arguments[name] = spec
    targets = tuple(
        target
        for target in dict.fromkeys(settings.targets)
        if not _failed(versions.check_target(target), ("targets",), span, problems)
    )
    hints = {
        name: value
        for name, value in settings.hints.items()
        if not _failed(check_hint(name, value), ("hints", name), span, problems)
    }
    return Given(arguments, targets, hints), tuple(problems)


def configs(given: Iterable[Given]) -> tuple[Config, ...]:
    """The configs that sources ask for, the strongest source first: a config for each target."""
    sources = list(given)
    targets = next((source.targets for source in sources if source.targets), ())
    hints: dict[str, Scalar] = {}
    for source in reversed(sources):
        hints.update(source.hints)
    symbol = next((source.symbol for source in sources if source.symbol is not None), None)
    # Sorted, so that the order in which hints are written makes no other job.
    ordered = tuple(sorted(hints.items()))
    return tuple(Config(target, ordered, symbol) for target in targets) or (Config(None, ordered, symbol),)


def check_argument(parameter: Expected, spec: Spec) -> str | None:
    """A message if a parameter can't be that."""
    annotation, name = parameter.annotation, parameter.name
    if annotation.kind == "constant" and not is_constant(spec):
        example = {"bool": "True", "float": "1e-5", "str": '"text"'}.get(annotation.type or "", "128")
        return f"{name} is a {annotation.text}: give it a value, such as {name}={example}, not a type"
    if annotation.kind == "constant" and isinstance(spec, ConstantSpec):
        return _check_constant(parameter, spec)
    if annotation.kind in ("array", ""):
        if isinstance(spec, ArraySpec):
            return _check_static_axes(parameter, spec)
        if not isinstance(spec, (ListSpec, TupleSpec, ExpressionSpec)):
            why = parameter.used_as_array()
            if annotation.kind == "array" or why is not None:
                because = f" ({why})" if why else ""
                return f"{name} is an array{because}: give its type, such as {name}=f16[?,?]"
    if annotation.kind == "list" and not isinstance(spec, ListSpec):
        return f"{name} is a list of arrays: give its type, such as {name}=list[f16[?,?]]"
    if annotation.kind == "tuple":
        return _check_tuple(parameter, spec)
    if annotation.kind == "scalar" and isinstance(spec, (ArraySpec, ListSpec)):
        return f"{name} is a scalar ({annotation.text}): give its type, such as {name}={annotation.dtype or 'i32'}"
    if annotation.dtype is not None and isinstance(spec, ScalarSpec) and spec.dtype != annotation.dtype:
        return f"{name} is {annotation.dtype}, as its annotation says, not {spec.dtype}"
    return None


def _check_constant(parameter: Expected, spec: ConstantSpec) -> str | None:
    kind, value = parameter.annotation.type, spec.value
    if value is None or kind is None:
        return None
    fits = {"int": (int,), "float": (float, int), "bool": (bool,), "str": (str,)}[kind]
    if type(value) in fits:
        return None
    return f"{parameter.name} is a {parameter.annotation.text}, {spec} is {type(value).__name__}"


def _check_tuple(parameter: Expected, spec: Spec) -> str | None:
    annotation, name = parameter.annotation, parameter.name
    if isinstance(spec, ExpressionSpec):
        return None
    if not isinstance(spec, TupleSpec):
        return f"{name} is a tuple: give its items, such as {name}=(i32,128)"
    if annotation.items and not annotation.repeated and len(spec.items) != len(annotation.items):
        return f"{name} has {len(annotation.items)} items by its annotation, {spec} has {len(spec.items)}"
    for position, item in enumerate(spec.items):
        message = check_argument(Expected(f"{name}[{position}]", annotation.item(position)), item)
        if message is not None:
            return message
    return None


def _check_static_axes(parameter: Expected, spec: ArraySpec) -> str | None:
    rank = len(spec.dims)
    for axis in parameter.annotation.static_shape:
        if not -rank <= axis < rank:
            return f"by its annotation {parameter.name} has an axis {axis}; this array has rank {rank}"
        if spec.dims[axis].value is None:
            return f"by its annotation {parameter.name} has a known length along axis {axis}: write a number"
    return None


def _checked(text: str, parameter: Expected) -> Spec | SpecFault:
    spec = parse(text)
    if isinstance(spec, SpecFault):
        return spec
    message = check_argument(parameter, spec)
    if message is not None:
        return SpecFault(message, 0, len(text))
    return as_launched(spec, parameter.annotation)


class _CommentReader:
    def __init__(self, comment: JobComment, parameters: Sequence[Expected], captured: Collection[str]) -> None:
        self.comment = comment
        self.parameters = {parameter.name: parameter for parameter in parameters}
        self.captured = captured
        self.problems = [Problem(problem.message, problem.span) for problem in comment.problems]
        self.arguments: dict[str, Spec] = {}
        self.hints: dict[str, Scalar] = {}
        self.targets: tuple[str, ...] = ()
        self.symbol: str | None = None
        self.command_line: set[str] = set()

    def read(self) -> tuple[Given, tuple[Problem, ...]]:
        seen: set[str] = set()
        for item in self.comment.items:
            if item.name in seen:
                self.problem(f"{item.name} is given twice", item.name_span)
                continue
            seen.add(item.name)
            self.item(item)
        given = Given(self.arguments, self.targets, self.hints, self.symbol, frozenset(self.command_line))
        return given, tuple(self.problems)

    def problem(self, message: str, span: Span) -> None:
        self.problems.append(Problem(message, span))

    def item(self, item: CommentItem) -> None:
        # `@target=…` is the target even where the kernel has a parameter of that name.
        word = item.name.removeprefix("@")
        parameter = self.parameters.get(item.name)
        if parameter is not None:
            self.argument(item, parameter)
        elif word == "target":
            self.target(item)
        elif word in HINTS:
            value = parse_hint(word, item.value)
            message = check_hint(word, value)
            if message is None:
                self.hints[word] = value
            else:
                self.problem(message, item.value_span)
        elif word == "symbol":
            message = check_symbol(item.value)
            if message is None:
                self.symbol = item.value
            else:
                self.problem(message, item.value_span)
        elif item.name not in self.captured:
            self.unknown(item)

    def argument(self, item: CommentItem, parameter: Expected) -> None:
        spec = _checked(item.value, parameter)
        if isinstance(spec, SpecFault):
            self.problem(spec.message, _part(item, spec.start, spec.end))
            return
        self.arguments[item.name] = spec
        if item.value_span.line == 0:
            self.command_line.add(item.name)

    def target(self, item: CommentItem) -> None:
        targets: list[str] = []
        start = 0
        for part in item.value.split(","):
            span = _part(item, start, start + len(part))
            start += len(part) + 1
            target = part.strip()
            message = versions.check_target(target) if target else "a target is missing between the commas"
            if message is not None:
                self.problem(message, span if target else item.value_span)
            elif target in targets:
                self.problem(f"{target} is given twice", span)
            else:
                targets.append(target)
        self.targets = tuple(targets)

    def unknown(self, item: CommentItem) -> None:
        names = [*self.parameters, *self.captured, *_CONFIG_WORDS]
        close = difflib.get_close_matches(item.name, names, n=1, cutoff=0.5)
        lowered = {name.lower(): name for name in reversed(names)}
        best = lowered.get(item.name.lower()) or (close[0] if close else None)
        if best is not None:
            advice = f"did you mean `{best}`?"
        elif self.parameters:
            advice = f"the kernel has {', '.join(self.parameters)}"
        else:
            advice = "the kernel has no parameters"
        self.problem(f"`{item.name}` is neither a parameter nor a hint; {advice}", item.name_span)


def _part(item: CommentItem, start: int, end: int) -> Span:
    """The span of characters of an item's value."""
    span = item.value_span
    first = span.column + len(item.value[:start].encode())
    return Span(span.line, first, span.line, first + max(1, len(item.value[start:end].encode())))


def _failed(message: str | None, setting: tuple[str, ...], span: Span, problems: list[Problem]) -> bool:
    if message is not None:
        problems.append(Problem(message, span, setting=setting))
    return message is not None
