"""Inlay hints: types at assignments, resources at the kernel's name."""

from __future__ import annotations

import re

import msgspec

from tile_lsp.analysis.snapshot import Snapshot
from tile_lsp.ide.jobs import job_label, where
from tile_lsp.ide.resources import resources_brief, resources_line
from tile_lsp.ide.type_index import Typed, typed_between
from tile_lsp.model.location import Span

_WIDTH = 60
"""Longer types are cut: the tooltip has the whole."""
_ROOM = 43
"""Characters of hints that VS Code shows on a line, unless it is told otherwise. What can be said in fewer is."""
_WORD = re.compile(r"\w+|\W")


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
    hints = [_type_hint(span, entries) for span, entries in stores.items() if not all(map(_says_itself, entries))]
    for kernel in file.kernels:
        if kernel.job and first <= kernel.name_span.line <= last and (brief := resources_brief(kernel.job, _ROOM)):
            span = kernel.name_span
            tooltip = f"{job_label(kernel.job)}: {resources_line(kernel.job)}"
            hints.append(InlayHint(span.end_line, span.end_column, brief, tooltip, "resources"))
    return tuple(sorted(hints, key=lambda hint: (hint.line, hint.column)))


def _says_itself(entry: Typed) -> bool:
    """A constant with no room in a hint, such as a layout, stands in the text."""
    return entry.record.constant is not None and len(entry.record.type) > _WIDTH


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
    return InlayHint(span.end_line, span.end_column, f": {_together(list(by_type))}", "\n".join(rows), "type")


def _together(types: list[str]) -> str:
    """`"Tile[float16|bfloat16,(128,64)]"` for types that differ in one word, else one after the other."""
    rows = [_WORD.findall(type_) for type_ in types]
    if len({len(row) for row in rows}) == 1:
        columns = [tuple(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
        differing = [column for column in columns if len(column) > 1]
        if len(differing) == 1 and all(word.isalnum() for word in differing[0]):
            types = ["".join("|".join(column) for column in columns)]
    label = " | ".join(types)
    if len(label) > _ROOM - 2 and len(types) > 1:
        label = f"{types[0]} | {len(types) - 1} more"
    return label if len(label) <= _WIDTH - 2 else label[: _WIDTH - 3] + "…"
