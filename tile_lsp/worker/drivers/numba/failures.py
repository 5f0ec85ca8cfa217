"""All errors of an inference, where it goes on after the first."""

from __future__ import annotations

from typing import Any, Protocol

from .api import typeinfer


class Failure:
    """One constraint that does not hold, and what failed inside of the function that it calls."""

    def __init__(self, error: BaseException, location: Any, inner: list[Failure]) -> None:
        self.error = error
        self.location = location
        self.inner = inner


class Collector(Protocol):
    """What the errors are noted in."""

    _partial: bool
    _failures: list[Failure]
    """Of the constraint at hand: what failed in the functions that it calls."""
    _unbuilt: list[Failure]
    """Of the function at hand: statements that there is no constraint for."""


def collect(compiler: Collector) -> None:
    """From here on, once a process; where the compiler is not partial, inference goes as it always does."""
    stock = typeinfer.ConstraintNetwork.propagate

    stock_constrain = typeinfer.TypeInferer.constrain_statement

    def constrain_statement(self: Any, inst: Any) -> None:
        try:
            stock_constrain(self, inst)
        except Exception as error:
            if not compiler._partial:
                raise
            # What a name of the module can't be ends inference as a whole: here, the other errors are wanted too.
            location = getattr(getattr(inst, "value", None), "loc", None) or inst.loc
            compiler._unbuilt.append(Failure(error, location, []))

    typeinfer.TypeInferer.constrain_statement = constrain_statement

    def propagate(self: Any, infer: Any) -> list[Any]:
        if not compiler._partial:
            return stock(self, infer)
        found: list[Any] = []
        for constraint in self.constraints:
            outer, compiler._failures = compiler._failures, []
            location = constraint.loc
            try:
                with infer.warnings.catch_warnings(filename=location.filename, lineno=location.line):
                    constraint(infer)
            except Exception as error:
                found.append(Failure(error, location, compiler._failures))
            finally:
                compiler._failures = outer
        return found

    typeinfer.ConstraintNetwork.propagate = propagate
