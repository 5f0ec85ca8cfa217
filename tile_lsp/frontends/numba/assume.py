"""What is left to assume of arguments that nobody gives, and other readings of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tile_lsp.frontends.base import Origin

from . import spec
from .usage import Use

_READINGS = ({"element": "int32"}, {"rank": 2}, {"scalar": "int64"}, {"element": "int32", "scalar": "int64"})


class Parameter(msgspec.Struct, frozen=True):
    """What is known of one parameter."""

    name: str
    use: Use
    given: str | None = None
    origin: Origin | None = None
    dtype: str | None = None
    """Of a launch that tells no more."""
    rank: int | None = None


class Assumed(msgspec.Struct, frozen=True):
    spec: str
    origin: Origin


def assume(parameters: Sequence[Parameter]) -> tuple[Assumed, ...]:
    return tuple(_assume(parameter, {}) for parameter in parameters)


def alternatives(parameters: Sequence[Parameter]) -> tuple[tuple[Assumed, ...], ...]:
    """Readings that differ from the first one and from each other, in the order to try them."""
    first = assume(parameters)
    found = {tuple(one.spec for one in first): first}
    for reading in _READINGS:
        other = tuple(_assume(parameter, reading) for parameter in parameters)
        found.setdefault(tuple(one.spec for one in other), other)
    return tuple(found.values())[1:]


def _assume(parameter: Parameter, reading: dict[str, object]) -> Assumed:
    if parameter.given is not None:
        assert parameter.origin is not None
        return Assumed(parameter.given, parameter.origin)
    use = parameter.use
    if use.array or parameter.rank or parameter.dtype:
        element = (
            parameter.dtype or use.element or ("int32" if use.integral else str(reading.get("element", "float32")))
        )
        rank = parameter.rank or use.rank or reading.get("rank", 1)
        assert isinstance(rank, int)
        return Assumed(spec.array(element, rank), Origin("assumed", use.why))
    if use.integer:
        return Assumed("int64", Origin("assumed", use.why))
    return Assumed(str(reading.get("scalar", "float32")), Origin("assumed", "it is used as a number"))
