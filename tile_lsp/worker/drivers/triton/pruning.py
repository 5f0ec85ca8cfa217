"""`prune_configs_by`: whether the autotuner would try a job's config at all, as far as what is known of its arguments
tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from .signature import AUTO, constant_of, literal

_DROPPED = (("dropped by", "early_config_prune"),)
_UNDECIDED = (("kept or not by", "early_config_prune"),)


def facts(
    prune: Callable[..., Any],
    configs: Sequence[Any],
    kernel: Any,
    arguments: Mapping[str, str],
    evaluate: Callable[[str], Any],
) -> dict[str, tuple[tuple[str, str], ...]]:
    """By parameter of the config: that it is dropped, or that this hangs on what only a launch knows."""
    constants = {parameter.name for parameter in kernel.params if parameter.is_constexpr}
    written = {name: spec for name, spec in arguments.items() if spec != AUTO}
    known = {name: constant_of(spec, evaluate) for name, spec in written.items() if name in constants}
    own = _of_job(configs, known)
    if own is None:
        return {}
    passed = {name: _passed(spec, evaluate) for name, spec in written.items() if name not in constants}
    try:
        kept = list(prune(list(configs), passed, **{name: known[name] for name in known if name not in own}))
        dropped = not any(config.kwargs == own for config in kept)
    except Exception:
        # Of the user's function, which may ask for anything that a launch has.
        return dict.fromkeys(own, _UNDECIDED)
    return dict.fromkeys(own, _DROPPED) if dropped else {}


def _of_job(configs: Sequence[Any], known: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values of the config that the job has; None where they are of none."""
    for config in configs:
        own = dict(config.kwargs)
        if own and all(name not in known or known[name] == value for name, value in own.items()):
            return own
    return None


def _passed(spec: str, evaluate: Callable[[str], Any]) -> Any:
    """The value of an argument that is no constant, where the job has one and not only its type."""
    if spec.startswith("="):
        return evaluate(spec[1:])
    try:
        return literal(spec)
    except ValueError:
        return _Unknown()


class _Unknown:
    """A number or an array of a launch: whoever looks at it can't go on."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise LookupError("only a launch knows it")

    __eq__ = __ne__ = __bool__ = __hash__ = __index__ = __len__ = __iter__ = _refuse  # type: ignore[assignment]
