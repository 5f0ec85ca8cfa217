"""The stage `types` as text: what each parameter and variable of a kernel, and of the helpers it calls, came to.

    matmul · examples/cutile/matmul.py
      34:12  A    → Array[float16,(?,?):(?,1)]
      37:5   acc  → Tile[float32,(128,128)]

    swizzle · called at 36:19
      14:5   rows → Tile[int32,()]

A helper that is called with several types has a line for each, with the calls that lead to it; where its language has a
name for what it is with those types, as for a template's instantiations, it has a section for each. An argument that
nobody gave says so: `(assumed)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tile_lsp.analysis.snapshot import KernelView
from tile_lsp.ide.documents import Link
from tile_lsp.ide.jobs import assumed
from tile_lsp.ide.type_listing import TypeRow
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import TypeRecord

from .scopes import scope_of
from .source import Sources, short_path

#: Where a name is bound, and the name.
_Binding = tuple[SourceRange, str]
#: The types of a binding, each with the ways that lead to it.
_Types = dict[str, list[Link]]
#: A line of the text, with the places that it is about.
Line = tuple[str, tuple[Link, ...]]


_SECOND = re.compile(r"\.\d+$")
"""What tells the members of one name apart: of no interest to people."""


def types_lines(
    rows: Sequence[TypeRow], kernel: KernelView, sources: Sources, *, plain: bool = False
) -> Iterator[Line]:
    """`plain`: for terminals that have no arrows."""
    guessed = {view.argument.name for view in assumed(kernel.job)} if kernel.job else set()
    members: dict[tuple[str, str], dict[_Binding, _Types]] = {}
    for row in rows:
        own = _is_own(row, kernel)
        place, name = row.chain[0], row.record.name or ""
        title = kernel.name if own else _title(row, sources)
        bindings = members.setdefault((row.record.chain[0].member, title), {})
        text = _type(row.record, is_assumed=own and row.record.kind == "param" and name in guessed)
        bindings.setdefault((place, name), {}).setdefault(text, []).append(row.chain)
    sections = sorted(members.items(), key=lambda section: (section[0][1] != kernel.name, bool(_calls_of(section[1]))))
    for index, ((_, title), bindings) in enumerate(sections):
        if index:
            yield "", ()
        yield from _section(title, bindings, kernel.path, sources, plain)


def _is_own(row: TypeRow, kernel: KernelView) -> bool:
    """Whether a binding is the kernel's own: it is reached by no call."""
    place = row.chain[0]
    if len(row.chain) > 1 or place.path != kernel.path:
        return False
    return kernel.span.contains(place.span.line, place.span.column)


def _title(row: TypeRow, sources: Sources) -> str:
    """The function that a binding is in; what is at the top of its file around it, where that can't be told."""
    place = row.chain[0]
    if row.record.scope is not None:
        return row.record.scope
    return scope_of(sources.scopes(place.path), place.span) or _SECOND.sub("", _member_name(row.record))


def _member_name(record: TypeRecord) -> str:
    return record.chain[0].member.rpartition("/")[2]


def _section(title: str, bindings: dict[_Binding, _Types], home: str, sources: Sources, plain: bool) -> Iterator[Line]:
    path = next(iter(bindings))[0].path
    calls = _calls_of(bindings)
    heading = [title]
    if path != home or not calls:
        heading.append(short_path(path))
    if calls:
        heading.append(f"called at {_calls(calls, path, sources)}")
    yield (", " if plain else " · ").join(heading), ()

    positions = [sources.position(place.path, place.span) for place, _ in bindings]
    position_width = max(map(len, positions))
    name_width = max(len(name) for _, name in bindings)
    arrow = "->" if plain else "→"
    for position, ((_, name), types) in zip(positions, bindings.items(), strict=True):
        for text, links in types.items():
            line = f"  {position:<{position_width}}  {name:<{name_width}} {arrow} {text}"
            if len(types) > 1 and calls:
                line += f"  when called at {_calls({link[1] for link in links if len(link) > 1}, path, sources)}"
            yield line, tuple(links)


def _type(record: TypeRecord, *, is_assumed: bool) -> str:
    """With what is known of a kernel's own parameters; a helper's have it from those."""
    text = record.type
    if record.constant is not None:
        text += f" = {record.constant}"
    known = ["assumed"] if is_assumed else []
    if record.kind == "param" and len(record.chain) == 1:
        known += [f"{name} {value}" for name, value in record.facts]
    return f"{text}  ({', '.join(known)})" if known else text


def _calls_of(bindings: dict[_Binding, _Types]) -> set[SourceRange]:
    return {link[1] for types in bindings.values() for links in types.values() for link in links if len(link) > 1}


def _calls(calls: set[SourceRange], home: str, sources: Sources) -> str:
    """`36:19, 52:23`; with the file where that is another one."""
    return ", ".join(
        sources.position(call.path, call.span) if call.path == home else sources.where(call)
        for call in sorted(calls, key=lambda call: (call.path, call.span))
    )
