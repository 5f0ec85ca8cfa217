"""Finding kernels in a snapshot: by name, and under the cursor."""

from __future__ import annotations

from tile_lsp.analysis.snapshot import KernelView, Snapshot
from tile_lsp.ide.type_index import typed_between


def kernel_named(snapshot: Snapshot, path: str, name: str) -> KernelView | None:
    file = snapshot.files.get(path)
    return next((kernel for kernel in file.kernels if kernel.name == name), None) if file else None


def kernels_at(snapshot: Snapshot, path: str, first: int, last: int) -> tuple[KernelView, ...]:
    """The kernels that lines belong to: those defined there, else those that inline the helper that stands there."""
    file = snapshot.files.get(path)
    if file is None:
        return ()
    own = tuple(kernel for kernel in file.kernels if kernel.span.line <= last and first <= kernel.span.end_line)
    if own:
        # A kernel inside another's function is the nearer one.
        return tuple(sorted(own, key=lambda kernel: kernel.span.end_line - kernel.span.line))
    found: dict[tuple[str, str], KernelView] = {}
    for entry in typed_between(snapshot, path, first, last):
        found.setdefault((entry.kernel.path, entry.kernel.name), entry.kernel)
    return tuple(found.values())
