"""Which parameter of a Python function gets which argument of a call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

_Value = TypeVar("_Value")


def by_parameter(
    parameters: ast.arguments,
    arguments: Sequence[_Value],
    keywords: Mapping[str, _Value],
    default: Callable[[ast.expr], _Value],
    missing: _Value,
) -> dict[str, _Value]:
    """The values that a call binds, `*args` and `**kwargs` left out. One that is not passed is what `default` makes of
    its default, or `missing`; what is passed too much is passed over.
    """
    by_position = [*parameters.posonlyargs, *parameters.args]
    defaults = dict(zip(reversed(by_position), reversed(parameters.defaults), strict=False))
    defaults |= {p: d for p, d in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True) if d is not None}
    bound = {parameter.arg: value for parameter, value in zip(by_position, arguments, strict=False)}
    for parameter in (*by_position, *parameters.kwonlyargs):
        name = parameter.arg
        if name in bound:
            continue
        if name in keywords:
            bound[name] = keywords[name]
        else:
            bound[name] = default(defaults[parameter]) if parameter in defaults else missing
    return bound
