"""How the values that a name became are laid out over threads: read from the TTGIR of the job, where it is at hand."""

from __future__ import annotations

import re

from tile_lsp.model.location import Place
from tile_lsp.model.outcome import Artifact

_ENCODING = re.compile(r"(#\w+) = (#[\w.]+<.*>)\s*")
_RESULT = re.compile(r"\s*%(?P<name>[A-Za-z_]\w*?)(?:_\d+)?(?::\d+)? = ")
_USED = re.compile(
    r"(?:tensor|memdesc)<[^#<>]*(?:<[^<>]*>[^#<>]*)?, (?P<alias>#\w+)(?P<rest>[^<>]*)>|#ttg\.slice<\{[^}]*\}>"
)
_MOST = 4


def layouts_of(artifact: Artifact, name: str, place: Place) -> tuple[tuple[str, str], ...]:
    """(layout's name, what it is) of each value of that name in the function of `place`, most used first."""
    encodings: dict[str, str] = {}
    counts: dict[str, int] = {}
    for index, line in enumerate(artifact.text.split("\n")):
        if line.startswith("#"):
            if match := _ENCODING.fullmatch(line):
                encodings[match[1]] = match[2]
            continue
        match = _RESULT.match(line)
        if match is None or match["name"] != name:
            continue
        chains = artifact.lines[index] if index < len(artifact.lines) else ()
        if not any(chain and chain[0].member == place.member for chain in chains):
            continue
        # The result's type is the last one of the line.
        used = [found["alias"] for found in _USED.finditer(line) if found["alias"]]
        if used:
            counts[used[-1]] = counts.get(used[-1], 0) + 1
    ordered = sorted(counts, key=lambda alias: -counts[alias])[:_MOST]
    return tuple((alias, encodings.get(alias, "")) for alias in ordered)
