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

from tile_lsp.analysis.snapshot import KernelView, ProblemView
from tile_lsp.engine.newer import CODE as NEWER
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Fault, FaultKind, Remark, Severity

from .exits import Exit
from .source import Sources, short_path

_MOST = 20
"""Problems of a file that are written out: one that has more is no source."""
_SYNTAX = "syntax"
"""The code of problems that are the file's: those in a kernel leave it without jobs, others do it no harm."""
_ASKED = "stage"
"""The code of a fault of the command line alone: it asks for what the target does not have."""


def fault_lines(fault: Fault, chain: Sequence[SourceRange], kernel: SourceRange, sources: Sources) -> Iterator[str]:
    """`chain`: where the fault is now, innermost first. `kernel`: its name, for a fault of its that has no place."""
    first, *rest = fault.message.splitlines() or [""]
    at_kernel = fault.kind is FaultKind.USER and fault.code != _ASKED
    place = chain[0] if chain else kernel if at_kernel else None
    severity = Severity.INFORMATION if fault.passed_over else Severity.ERROR
    yield f"{sources.where(place) if place else 'tile-lsp'}: {severity}: {first}"
    yield from rest
    if place:
        yield from sources.excerpt(place)
    for caller in chain[1:]:
        yield f"{sources.where(caller)}: note: called from here"
        yield from sources.excerpt(caller)
    if fault.help:
        yield f"help: {fault.help}"


def remark_lines(remark: Remark, chain: Sequence[SourceRange], kernel: SourceRange, sources: Sources) -> Iterator[str]:
    """As `fault_lines`, of a warning: the compiler's number goes with it."""
    place = chain[0] if chain else kernel
    number = f" {remark.code}" if remark.code and remark.code.startswith("#") else ""
    yield f"{sources.where(place)}: {remark.severity}{number}: {remark.message}"
    yield from sources.excerpt(place)
    for caller in chain[1:]:
        yield f"{sources.where(caller)}: note: called from here"
        yield from sources.excerpt(caller)


def problem_lines(problems: Sequence[ProblemView], path: str, sources: Sources) -> Iterator[str]:
    """What is wrong in the text itself: a syntax error, a comment that can't be read. Of many the first ones."""
    for problem in problems[:_MOST]:
        place = SourceRange(path, problem.span)
        yield f"{sources.where(place)}: {problem.severity}: {problem.message}"
        yield from sources.excerpt(place)
        if problem.written is not None:
            yield f"{sources.where(problem.written.place)}: note: written here"
            yield from sources.excerpt(problem.written.place)
    if len(problems) > _MOST:
        yield f"{short_path(path)}: note: {len(problems) - _MOST} more like these"


def is_wrong(problems: Sequence[ProblemView]) -> bool:
    """True if what is written of jobs has an error."""
    return any(problem.severity is Severity.ERROR and problem.code != _SYNTAX for problem in problems)


def jobless_code(kernel: KernelView, problems: Sequence[ProblemView]) -> Exit:
    """Of a kernel that has no jobs. Without a fault its text can't be read."""
    spans = [problem.span for problem in problems if problem.code == NEWER]
    if not kernel.faults and any(kernel.span.contains(span.line, span.column) for span in spans):
        return Exit.ENVIRONMENT
    return exit_code(kernel.faults, wrong=not kernel.faults)


def exit_code(faults: Sequence[Fault], *, wrong: bool = False) -> Exit:
    """The kernel's faults go first: with the environment mended they would still be there. `wrong`: so is its text."""
    users = [fault for fault in faults if fault.kind is FaultKind.USER and not fault.passed_over]
    if wrong or any(fault.code != _ASKED for fault in users):
        return Exit.KERNEL
    if users:
        return Exit.USAGE
    return Exit.OK if all(fault.passed_over for fault in faults) else Exit.ENVIRONMENT
