"""A fault for people, in the form that compilers use and editors parse.

kernels.py:12:9: error: tile shapes (128, 64) and (32, 128) can't be multiplied
 12 |     acc = ct.mma(a, b, acc)
    |           ^~~~~~~~~~~~~~~~~
kernels.py:40:11: note: called from here
 40 |     acc = multiply(A, B)
    |           ^~~~~~~~~~~~~~
help: …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tile_lsp.analysis.snapshot import ProblemView
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Fault, FaultKind

from .exits import Exit
from .source import Sources


def fault_lines(fault: Fault, chain: Sequence[SourceRange], kernel: SourceRange, sources: Sources) -> Iterator[str]:
    """`chain`: where the fault is now, innermost first. `kernel`: its name, for a fault of its that has no place."""
    first, *rest = fault.message.splitlines() or [""]
    place = chain[0] if chain else kernel if fault.kind is FaultKind.USER else None
    yield f"{sources.where(place) if place else 'tile-lsp'}: error: {first}"
    yield from rest
    if place:
        yield from sources.excerpt(place)
    for caller in chain[1:]:
        yield f"{sources.where(caller)}: note: called from here"
        yield from sources.excerpt(caller)
    if fault.help:
        yield f"help: {fault.help}"


def problem_lines(problem: ProblemView, path: str, sources: Sources) -> Iterator[str]:
    """Something wrong in the text itself: a syntax error, a comment that can't be read."""
    place = SourceRange(path, problem.span)
    yield f"{sources.where(place)}: {problem.severity}: {problem.message}"
    yield from sources.excerpt(place)


def exit_code(faults: Sequence[Fault], *, wrong: bool = False) -> Exit:
    """The kernel's faults go first: with the environment mended they would still be there. `wrong`: so is its text."""
    if wrong or any(fault.kind is FaultKind.USER for fault in faults):
        return Exit.KERNEL
    return Exit.ENVIRONMENT if faults else Exit.OK
