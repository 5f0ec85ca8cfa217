"""PTX text out of a cubin, with the source of each line.

The assembler keeps the PTX with its `.loc` lines blanked, so that columns are found the long way round: SASS made from
a PTX line has a source chain, and PTX lines with no blank between them had one `.loc`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from tile_lsp.model.location import Chain
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from .cubin import Cubin
from .disassembly import BYTES
from .sources import Sources

TEXT_SECTION = ".nv_debug_ptx_txt"
_SOURCES_BEGIN = ".nv_intermediate_source_section"
_LABEL = re.compile(r"\$?[\w$.]+:$")
_MOST = 4
"""Chains kept for one line."""


class Listing(msgspec.Struct, frozen=True):
    lines: tuple[str, ...]
    origins: tuple[int, ...]
    """For each line, its number (from 1) in the cubin's text, as line tables count; 0 for an added blank line."""
    groups: tuple[int, ...]
    """Lines of one group had one `.loc`."""


def listing(cubin: Cubin) -> Listing | None:
    """The text, blank lines dropped and indented; None where the cubin holds none (no line information asked for)."""
    data = cubin.section(TEXT_SECTION)
    if data is None:
        return None
    lines: list[str] = []
    origins: list[int] = []
    groups: list[int] = []
    depth = parens = group = 0
    blank = False
    for number, raw in enumerate(data.decode("utf-8", "replace").split("\0"), 1):
        line = raw.strip()
        if _SOURCES_BEGIN in line:
            break
        if not line:
            blank = True
            continue
        if blank:
            group += 1
            blank = False
            if lines and not depth and not parens:
                lines.append("")
                origins.append(0)
                groups.append(group)
        code = line.split("//", 1)[0]
        closes = code.startswith(("}", ")"))
        level = depth + parens - closes
        is_label = depth and _LABEL.fullmatch(code.strip()) is not None
        lines.append(line if is_label else "\t" * max(level, 0) + line)
        origins.append(number)
        groups.append(group)
        depth = max(depth + code.count("{") - code.count("}"), 0)
        parens = max(parens + code.count("(") - code.count(")"), 0)
    while lines and not lines[-1]:
        lines.pop()
        origins.pop()
        groups.pop()
    return Listing(tuple(lines), tuple(origins), tuple(groups))


def read(cubin: Cubin, typed: Artifact | None = None, sources: Sources | None = None) -> Artifact:
    """`typed`: Tile IR read by `tileir.read`, for columns. `sources`: what knows better than the cubin's tables.

    Raises `ValueError` for a cubin that is damaged or holds no PTX.
    """
    found = listing(cubin)
    if found is None:
        raise ValueError("the cubin holds no PTX: it was assembled without line information")
    own, grouped = _votes(cubin, found, sources or Sources(cubin, typed))
    chains = []
    for origin, group in zip(found.origins, found.groups, strict=True):
        # The line's own instructions first; a line that was folded into others has its group's.
        counted = own.get(origin, Counter()) if origin else Counter()
        best = [chain for chain, _ in counted.most_common(_MOST)]
        if origin and not best:
            best = [chain for chain, _ in grouped.get(group, Counter()).most_common(1)]
        chains.append(tuple(best))
    return Artifact(stage=Stage.PTX, text="\n".join(found.lines) + "\n", lines=tuple(chains))


def _votes(
    cubin: Cubin, found: Listing, sources: Sources
) -> tuple[dict[int, Counter[Chain]], dict[int, Counter[Chain]]]:
    """How many instructions of each chain came from each line, and from each group of lines."""
    group_of = {origin: group for origin, group in zip(found.origins, found.groups, strict=True) if origin}
    own: dict[int, Counter[Chain]] = {}
    grouped: dict[int, Counter[Chain]] = {}
    for section, size in _code(cubin):
        for address in range(0, size, BYTES):
            line = sources.ptx_line(section, address)
            chain = sources.chain(section, address)
            if line in group_of and chain:
                own.setdefault(line, Counter())[chain] += 1
                grouped.setdefault(group_of[line], Counter())[chain] += 1
    return own, grouped


def _code(cubin: Cubin) -> Sequence[tuple[int, int]]:
    return [(function.section, len(function.code)) for function in cubin.functions]
