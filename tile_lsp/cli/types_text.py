"""The stage `types` as text: what each parameter and variable of a kernel, and of the helpers it calls, came to.

    matmul · examples/cutile/matmul.py
      34:12  A    → Array[float16,(?,?):(?,1)]
      37:5   acc  → Tile[float32,(128,128)]

    swizzle · called at 36:19
      14:5   rows → Tile[int32,()]

A helper that is called with several types has a line for each, with the calls that lead to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tile_lsp.ide.documents import Link
from tile_lsp.ide.type_listing import TypeRow
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import TypeRecord

from .source import Sources, short_path

#: Where a name is bound, and the name.
_Binding = tuple[SourceRange, str]
#: The types of a binding, each with the ways that lead to it.
_Types = dict[str, list[Link]]
#: A line of the text, with the places that it is about.
Line = tuple[str, tuple[Link, ...]]


def types_lines(rows: Sequence[TypeRow], home: str, sources: Sources, *, plain: bool = False) -> Iterator[Line]:
    """`home`: the path of the kernel's file. `plain`: for terminals that have no arrows."""
    members: dict[str, dict[_Binding, _Types]] = {}
    for row in rows:
        bindings = members.setdefault(row.record.chain[0].member, {})
        types = bindings.setdefault((row.chain[0], row.record.name or ""), {})
        types.setdefault(_type(row.record), []).append(row.chain)
    for index, (member, bindings) in enumerate(_kernel_first(members)):
        if index:
            yield "", ()
        yield from _section(member, bindings, home, sources, plain)


def _kernel_first(members: dict[str, dict[_Binding, _Types]]) -> list[tuple[str, dict[_Binding, _Types]]]:
    """Only the kernel's own bindings are reached by no call."""
    return sorted(members.items(), key=lambda member: bool(_calls_of(member[1])))


def _section(member: str, bindings: dict[_Binding, _Types], home: str, sources: Sources, plain: bool) -> Iterator[Line]:
    path = next(iter(bindings))[0].path
    calls = _calls_of(bindings)
    title = [member.rpartition("/")[2]]
    if path != home or not calls:
        title.append(short_path(path))
    if calls:
        title.append(f"called at {_calls(calls, path, sources)}")
    yield (", " if plain else " · ").join(title), ()

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


def _type(record: TypeRecord) -> str:
    """With what is known of a kernel's own parameters; a helper's have it from those."""
    text = record.type
    if record.constant is not None:
        text += f" = {record.constant}"
    if record.facts and record.kind == "param" and len(record.chain) == 1:
        text += f"  ({', '.join(f'{name} {value}' for name, value in record.facts)})"
    return text


def _calls_of(bindings: dict[_Binding, _Types]) -> set[SourceRange]:
    return {link[1] for types in bindings.values() for links in types.values() for link in links if len(link) > 1}


def _calls(calls: set[SourceRange], home: str, sources: Sources) -> str:
    """`36:19, 52:23`; with the file where that is another one."""
    return ", ".join(
        sources.position(call.path, call.span) if call.path == home else sources.where(call)
        for call in sorted(calls, key=lambda call: (call.path, call.span))
    )
