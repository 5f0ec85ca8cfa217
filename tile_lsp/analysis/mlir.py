"""MLIR text with locations, as Triton prints its IRs: the text without them, and the source of each line."""

from __future__ import annotations

import re

from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from .tileir import Locations, spread_over_regions

_ALIAS = re.compile(r"(#loc[\w.$-]*) = loc\((.*)\)\s*")
_LOCATION = r"(?:#loc[\w.$-]*|\"(?:[^\"\\]|\\.)*\"\(#loc[\w.$-]*\)|callsite\(#loc[\w.$-]* at #loc[\w.$-]*\)|unknown)"
_INNER = re.compile(rf" loc\(({_LOCATION})\)")


def read(stage: Stage, text: str) -> Artifact:
    """Columns in the text count from 1. Never raises: a location that is not understood is left out."""
    aliases: dict[str, str] = {}
    lines: list[str] = []
    locations: list[str | None] = []
    for line in text.split("\n"):
        if line.startswith("#loc"):
            if match := _ALIAS.fullmatch(line):
                aliases[match[1]] = match[2]
            continue
        start = line.rfind(" loc(") if line.endswith(")") else -1
        location = line[start + 5 : -1] if start >= 0 else None
        # Arguments of a function and of a block have locations of their own, within their line.
        body = _INNER.sub("", line[:start] if start >= 0 else line)
        if start < 0 and (found := list(_INNER.finditer(line))):
            location = found[0][1]
        lines.append(body)
        locations.append(location)
    while lines and not lines[-1].strip():
        lines.pop()
        locations.pop()
    reader = Locations(aliases)
    chains = [_own(reader.chain(location)) if location else () for location in locations]
    spread_over_regions(lines, chains)
    return Artifact(
        stage=stage, text="\n".join(lines) + "\n", lines=tuple((chain,) if chain else () for chain in chains)
    )


def _own(chain: Chain) -> Chain:
    """Without places of installed libraries, which no closure has, and those that name no place."""
    return tuple(
        Place(place.member, place.line, place.column - 1)
        for place in chain
        if place.line > 0 and not place.member.startswith("/")
    )
