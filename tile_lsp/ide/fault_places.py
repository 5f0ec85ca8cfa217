"""Where a fault is: in the kernel's text, or where the argument is written that it is of."""

from __future__ import annotations

from tile_lsp.analysis.snapshot import JobView, KernelView
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Fault


def fault_places(kernel: KernelView, fault: Fault, job: JobView | None = None) -> tuple[SourceRange, ...]:
    """Innermost first; empty where only the kernel's name is left. `job`: whose fault it is, else the active one's."""
    places = kernel.positions.chain(fault.chain) if fault.chain else ()
    written = argument_place(kernel, fault, job)
    return places if written is None else (*places, written)


def argument_place(kernel: KernelView, fault: Fault, job: JobView | None = None) -> SourceRange | None:
    """The item of a comment, or the key of a settings file, that gives the argument which a fault is of."""
    job = job or kernel.job
    return job.written.get(fault.argument) if job is not None and fault.argument is not None else None
