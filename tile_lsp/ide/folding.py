"""Folding in a served document: the header, functions, blocks and regions."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tile_lsp.ide.documents import Document
from tile_lsp.ide.outline import Part, outline
from tile_lsp.ide.stages import FORMATS


class Fold(msgspec.Struct, frozen=True):
    """Lines are 0-based and inclusive."""

    first: int
    last: int
    comment: bool = False


def folds(document: Document) -> tuple[Fold, ...]:
    leader = FORMATS[document.stage].comment
    header = next((index for index, row in enumerate(document.rows) if not row.startswith(leader)), 0) - 1
    found = [Fold(0, header, comment=True)] if header > 0 else []
    return (*found, *_of(outline(document)))


def _of(parts: tuple[Part, ...]) -> Iterator[Fold]:
    for part in parts:
        if part.last > part.first:
            yield Fold(part.first, part.last)
        yield from _of(part.parts)
