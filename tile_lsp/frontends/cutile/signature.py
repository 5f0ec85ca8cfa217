"""What may be said of a kernel's arguments and configs, checked against its annotations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from tile_lsp.frontends.given import Given, SpecFault, Vocabulary
from tile_lsp.model.job import Config, Scalar

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
    TupleSpec,
    is_constant,
    parse,
)


class Expected(msgspec.Struct, frozen=True):
    """One parameter as the kernel has it."""

    name: str
    annotation: Annotation
    used_as_array: Callable[[], str | None] = lambda: None
    """Why it has to be an array, if its use shows that. Asked only in doubt: use is what takes time to find out."""


def vocabulary(parameters: Sequence[Expected], captured: Collection[str]) -> Vocabulary:
    """`captured`: parameters of functions around the kernel, which a comment may bind as well."""
    by_name = {parameter.name: parameter for parameter in parameters}
    return Vocabulary(
        tuple(by_name),
        lambda name, text: _checked(text, by_name[name]),
        versions.check_target,
        HINTS,
        parse_hint,
        check_hint,
        check_symbol,
        captured,
        is_neither="a parameter nor a hint",
    )


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
