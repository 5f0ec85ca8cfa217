"""Type records by where they stand now.

Made once for each pair of inference and positions, which are immutable: a snapshot that changes elsewhere finds it
again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property

import msgspec

from tile_lsp.analysis.language import PositionMap
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


class _Index:
    """Records by file and line. A member's records are resolved when somebody looks at its file, not before."""

    def __init__(self, inference: Inference, positions: PositionMap) -> None:
        self.inference = inference
        self.positions = positions
        self._lines: dict[str, dict[int, list[tuple[Span, TypeRecord]]]] = {}
        self._members: dict[str, list[TypeRecord]] = {}
        for record in inference.types:
            if record.chain:
                self._members.setdefault(record.chain[0].member, []).append(record)

    @cached_property
    def _files(self) -> dict[str, str | None]:
        """Member → the file that it stands in."""
        return {member: self._file(records) for member, records in self._members.items()}

    def _file(self, records: list[TypeRecord]) -> str | None:
        found = (self.positions.resolve(record.chain[0]) for record in records)
        return next((place.path for place in found if place is not None), None)

    def lines(self, path: str) -> dict[int, list[tuple[Span, TypeRecord]]]:
        """Records of a file by each line that their range touches."""
        found = self._lines.get(path)
        if found is None:
            found = self._lines[path] = {}
            for member, records in self._members.items():
                if self._files[member] != path:
                    continue
                for record in records:
                    if (place := self.positions.resolve(record.chain[0])) is not None:
                        span = place.span
                        for line in range(span[0], span[2] + 1):
                            found.setdefault(line, []).append((span, record))
        return found


_indexes: OrderedDict[tuple[int, int], _Index] = OrderedDict()


def _index(inference: Inference, positions: PositionMap) -> _Index:
    key = (id(inference), id(positions))
    if (found := _indexes.get(key)) is None:
        # It keeps both objects alive, so that their ids can't be given to others.
        found = _indexes[key] = _Index(inference, positions)
        if len(_indexes) > _KEPT:
            _indexes.popitem(last=False)
    _indexes.move_to_end(key)
    return found


def typed_on(snapshot: Snapshot, path: str, line: int) -> Iterator[Typed]:
    """Records whose range touches a line, of every kernel in the workspace: a helper is typed by all that inline it."""
    for kernel in snapshot.kernels():
        if kernel.inference is None:
            continue
        for span, record in _index(kernel.inference, kernel.positions).lines(path).get(line, ()):
            yield Typed(kernel, record, span)


def typed_between(snapshot: Snapshot, path: str, first: int, last: int) -> Iterator[Typed]:
    """Records whose range begins on the lines `first` to `last`, inclusive."""
    for kernel in snapshot.kernels():
        if kernel.inference is None:
            continue
        lines = _index(kernel.inference, kernel.positions).lines(path)
        for line in sorted(number for number in lines if first <= number <= last):
            for span, record in lines[line]:
                if span.line == line:
                    yield Typed(kernel, record, span)


def named_at(snapshot: Snapshot, path: str, line: int, column: int) -> Typed | None:
    """The innermost record of a name at a position, of kernels whose active job has one."""
    found = [
        entry for entry in typed_on(snapshot, path, line) if entry.record.name and covers(entry.span, line, column)
    ]
    return min(found, key=lambda entry: size(entry.span), default=None)


def covers(span: Span, line: int, column: int) -> bool:
    """True if the character at the position is in the span."""
    return (span.line, span.column) <= (line, column) < (span.end_line, span.end_column)


def size(span: Span) -> tuple[int, int]:
    """Orders nested spans: the innermost is the least."""
    return (span.end_line - span.line, span.end_column - span.column if span.end_line == span.line else span.end_column)
