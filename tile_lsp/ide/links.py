"""Between a served document and the source: definition, references and highlights, both ways."""

from __future__ import annotations

from collections.abc import Iterable

from tile_lsp.ide.documents import Document, Link
from tile_lsp.model.location import SourceRange


def sources_of(document: Document, line: int) -> tuple[Link, ...]:
    """The places that a document's line (0-based) came from, most specific first."""
    return document.links[line] if 0 <= line < len(document.links) else ()


def definitions(document: Document, line: int) -> tuple[SourceRange, ...]:
    """Where a document's line is written in the source, innermost first, without its callers."""
    return tuple(dict.fromkeys(link[0] for link in sources_of(document, line)))


def lines_of(document: Document, path: str, first: int, last: int) -> tuple[int, ...]:
    """The document's lines (0-based) from lines `first` to `last` (1-based) of a file, inlined code included."""
    return tuple(
        index
        for index, links in enumerate(document.links)
        if document.origins[index] >= 0 and any(_touches(place, path, first, last) for link in links for place in link)
    )


def same_source(document: Document, line: int) -> tuple[int, ...]:
    """The lines of a document that came from the same source line as one of them, itself included."""
    links = sources_of(document, line)
    if not links:
        return ()
    place = links[0][0]
    own = (place.path, place.span.line)
    return tuple(index for index, other in enumerate(document.links) if other and _line_of(other[0]) == own)


def _line_of(link: Link) -> tuple[str, int]:
    return link[0].path, link[0].span.line


def _touches(place: SourceRange, path: str, first: int, last: int) -> bool:
    return place.path == path and place.span.line <= last and first <= place.span.end_line


def merge_ranges(lines: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Runs of consecutive lines as (first, last)."""
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return tuple((first, last) for first, last in runs)
