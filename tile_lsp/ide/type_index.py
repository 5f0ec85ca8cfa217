"""Type records by where they stand now.

Made once for each pair of inference and positions, which are immutable: a snapshot that changes elsewhere finds it
again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

import msgspec

from tile_lsp.analysis.positions import Positions
from tile_lsp.analysis.snapshot import KernelView, Snapshot
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import Inference, TypeRecord

_KEPT = 512


class Typed(msgspec.Struct, frozen=True):
    """A record with the range that it types, and the kernel whose active job it belongs to."""

    kernel: KernelView
    record: TypeRecord
    span: Span

    def callers(self) -> tuple[SourceRange, ...]:
        """The call sites through which the record was reached, innermost first."""
        return self.kernel.positions.chain(self.record.chain)[1:]


_Lines = dict[int, list[tuple[Span, TypeRecord]]]
_indexes: OrderedDict[tuple[int, int], tuple[Inference, Positions, dict[str, _Lines]]] = OrderedDict()


def _index(inference: Inference, positions: Positions) -> dict[str, _Lines]:
    key = (id(inference), id(positions))
    if (found := _indexes.get(key)) is not None:
        # The entry keeps both objects alive, so that their ids can't be given to others.
        _indexes.move_to_end(key)
        return found[2]
    paths: dict[str, _Lines] = {}
    for record in inference.types:
        if not record.chain or (place := positions.resolve(record.chain[0])) is None:
            continue
        lines = paths.setdefault(place.path, {})
        for line in range(place.span.line, place.span.end_line + 1):
            lines.setdefault(line, []).append((place.span, record))
    _indexes[key] = (inference, positions, paths)
    if len(_indexes) > _KEPT:
        _indexes.popitem(last=False)
    return paths


def typed_on(snapshot: Snapshot, path: str, line: int) -> Iterator[Typed]:
    """Records whose range touches a line, of every kernel in the workspace: a helper is typed by all that inline it."""
    for kernel in snapshot.kernels():
        if kernel.inference is None:
            continue
        for span, record in _index(kernel.inference, kernel.positions).get(path, {}).get(line, ()):
            yield Typed(kernel, record, span)


def typed_between(snapshot: Snapshot, path: str, first: int, last: int) -> Iterator[Typed]:
    """Records whose range begins on the lines `first` to `last`, inclusive."""
    for kernel in snapshot.kernels():
        if kernel.inference is None:
            continue
        lines = _index(kernel.inference, kernel.positions).get(path, {})
        for line in sorted(number for number in lines if first <= number <= last):
            for span, record in lines[line]:
                if span.line == line:
                    yield Typed(kernel, record, span)


def covers(span: Span, line: int, column: int) -> bool:
    """True if the character at the position is in the span."""
    return (span.line, span.column) <= (line, column) < (span.end_line, span.end_column)


def size(span: Span) -> tuple[int, int]:
    """Orders nested spans: the innermost is the least."""
    return (span.end_line - span.line, span.end_column - span.column if span.end_line == span.line else span.end_column)
