"""The types of a kernel as a list: `line:column name: type`, in the order of the source.

Lines and columns are as editors count them: from 1, columns in characters.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tile_lsp.analysis.snapshot import FileView, KernelView
from tile_lsp.ide.jobs import line_name, where
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import TypeRecord

KINDS = frozenset({"param", "store", "declared"})
"""Names are listed where they are bound; the hover has every use and expression."""


class TypeRow(msgspec.Struct, frozen=True):
    chain: tuple[SourceRange, ...]
    """Where the name is bound, then the call sites through which the binding was reached."""
    record: TypeRecord
    text: str


def type_listing(kernel: KernelView, files: Mapping[str, FileView] = {}) -> tuple[TypeRow, ...]:
    """A row for each binding and each path by which it is reached; equal ones once.

    `files`: those whose text is known; in the others a character is taken for a byte.
    """
    rows: dict[tuple[object, ...], TypeRow] = {}
    for record in kernel.inference.types if kernel.inference else ():
        if record.kind not in KINDS or not record.name:
            continue
        chain = kernel.positions.chain(record.chain)
        if not chain:
            continue
        place = chain[0]
        prefix = "" if place.path == kernel.path else f"{place.path.rsplit('/', 1)[-1]}:"
        text = f"{prefix}{line_name(place, kernel.cells)}:{column(place, files)} {record.name}: {record.type}"
        if record.constant is not None:
            text += f" = {record.constant}"
        if len(chain) > 1:
            text += "  ← " + " ← ".join(where(caller, kernel.cells, kernel.path) for caller in chain[1:])
        rows.setdefault((chain, record.name, record.type, record.constant), TypeRow(chain, record, text))
    return tuple(
        sorted(rows.values(), key=lambda row: (row.chain[0].path != kernel.path, row.chain[0].path, row.chain[0].span))
    )


def column(place: SourceRange, files: Mapping[str, FileView]) -> int:
    """Where a range begins in its line: characters from 1."""
    file, (line, start, _, _) = files.get(place.path), place.span
    if file is None or line > len(file.lines):
        return start + 1
    return len(file.lines[line - 1].encode(errors="surrogatepass")[:start].decode(errors="ignore")) + 1
