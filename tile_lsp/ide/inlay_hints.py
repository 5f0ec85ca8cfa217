"""Inlay hints: types at assignments, resources at the kernel's name."""

from __future__ import annotations

import msgspec

from tile_lsp.analysis.snapshot import Snapshot
from tile_lsp.ide.jobs import where
from tile_lsp.ide.resources import resources_line
from tile_lsp.ide.type_index import Typed, typed_between
from tile_lsp.model.location import Span

_WIDTH = 60
"""Longer labels are cut: the hover has the whole."""


class InlayHint(msgspec.Struct, frozen=True):
    line: int
    column: int
    """In UTF-8 bytes: the hint stands before the character there."""
    label: str
    tooltip: str
    kind: str
    """`type` or `resources`."""


def inlay_hints(snapshot: Snapshot, path: str, first: int, last: int) -> tuple[InlayHint, ...]:
    """The hints of the lines `first` to `last`, inclusive, in the order of the text."""
    file = snapshot.files.get(path)
    if file is None:
        return ()
    stores: dict[Span, list[Typed]] = {}
    for entry in typed_between(snapshot, path, first, last):
        if entry.record.kind == "store":
            stores.setdefault(entry.span, []).append(entry)
    hints = [_type_hint(span, entries) for span, entries in stores.items()]
    for kernel in file.kernels:
        if kernel.job and first <= kernel.name_span.line <= last and (resources := resources_line(kernel.job)):
            span = kernel.name_span
            hints.append(
                InlayHint(span.end_line, span.end_column, _cut(f" {resources}"), kernel.job.label, "resources")
            )
    return tuple(sorted(hints, key=lambda hint: (hint.line, hint.column)))


def _type_hint(span: Span, entries: list[Typed]) -> InlayHint:
    by_type: dict[str, list[Typed]] = {}
    for entry in entries:
        by_type.setdefault(entry.record.type, []).append(entry)
    rows = []
    for type_, reached in by_type.items():
        places = dict.fromkeys(
            "".join([kernel.name, *(f" ← {where(place, kernel.cells)}" for place in entry.callers())])
            for entry in reached
            for kernel in (entry.kernel,)
        )
        rows.append(f"{type_}: " + ", ".join(places))
    return InlayHint(span.end_line, span.end_column, _cut(": " + " | ".join(by_type)), "\n".join(rows), "type")


def _cut(label: str) -> str:
    return label if len(label) <= _WIDTH else label[: _WIDTH - 1] + "…"
