"""Hover inside a served document: the source line that an instruction came from, and how it was inlined."""

from __future__ import annotations

from tile_lsp.analysis.snapshot import Snapshot
from tile_lsp.ide.documents import Document, Link
from tile_lsp.ide.jobs import where
from tile_lsp.ide.links import sources_of
from tile_lsp.ide.markup import Block, Code, Items, Markup, Text

_SHOWN = 3
"""At most so many places for one line: optimised code may come from many."""


def document_hover(snapshot: Snapshot, document: Document, line: int) -> Markup | None:
    """For a line of the document (0-based); None where it came from nowhere in the workspace."""
    links = sources_of(document, line)
    if not links:
        return None
    blocks: list[Block] = []
    for link in links[:_SHOWN]:
        blocks += _link(snapshot, link)
    if len(links) > _SHOWN:
        blocks.append(Text(f"and {len(links) - _SHOWN} more places"))
    return Markup(tuple(blocks))


def _link(snapshot: Snapshot, link: Link) -> list[Block]:
    place = link[0]
    file = snapshot.files.get(place.path)
    cells = next((found.cells for each in link if (found := snapshot.files.get(each.path)) and found.cells), ())
    blocks: list[Block] = []
    if file is not None and place.span.line <= len(file.lines):
        blocks.append(Code(file.lines[place.span.line - 1].strip()))
    blocks.append(Text(f"`{where(place, cells)}`"))
    if len(link) > 1:
        blocks.append(Items(tuple(f"called at `{where(caller, cells)}`" for caller in link[1:])))
    return blocks
