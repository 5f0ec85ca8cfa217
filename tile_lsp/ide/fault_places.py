"""Where a fault is: in the kernel's text, or at the item of a comment that gives the argument which it is of."""

from __future__ import annotations

from tile_lsp.analysis.snapshot import JobView, KernelView
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Fault


def fault_places(kernel: KernelView, fault: Fault, job: JobView | None = None) -> tuple[SourceRange, ...]:
    """Innermost first; empty where only the kernel's name is left. `job`: whose fault it is, else the active one's."""
    places = kernel.positions.chain(fault.chain) if fault.chain else ()
    job = job or kernel.job
    item = job.written.get(fault.argument) if job is not None and fault.argument is not None else None
    return places if item is None else (*places, SourceRange(kernel.path, item))
