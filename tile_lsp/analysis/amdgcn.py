"""AMD's assembly text: without what is there for debuggers, and the source of each line by its `.loc` lines."""

from __future__ import annotations

import re

from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
#: `.loc 1 53 14 is_stmt 0 ; main/kernel:53:14 @[ main/kernel:60:2 ]`
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_SITE = re.compile(r"@\[ (.+?):(\d+):(\d+)")
_DEBUG = (".loc", ".file", ".cfi", ".Ltmp", ".Lfunc_begin", ".Lfunc_end", ".Linfo", ".Ldebug", ".Lpost", ".Lsec")


def read(text: str) -> Artifact:
    """Never raises."""
    files = {int(m[1]): _path(m[2], m[3]) for m in map(_FILE.match, text.split("\n")) if m is not None}
    lines: list[str] = []
    rows: list[Chain] = []
    now: Chain = ()
    debug = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(".section"):
            debug = ".debug" in stripped
        elif stripped.startswith((".text", ".amdgpu_metadata")):
            debug = False
        if debug:
            continue
        if match := _LOC.match(line):
            now = _chain(files, line, match)
        if stripped.startswith(_DEBUG):
            continue
        is_code = line.startswith("\t") and not stripped.startswith((".", ";"))
        if stripped.startswith("s_endpgm"):
            lines.append(line)
            rows.append(now)
            now = ()
            continue
        lines.append(line)
        rows.append(now if is_code else ())
    while lines and not lines[-1].strip():
        lines.pop()
        rows.pop()
    return Artifact(Stage.AMDGCN, "\n".join(lines) + "\n", tuple((chain,) if chain else () for chain in rows))


def _chain(files: dict[int, str], line: str, match: re.Match[str]) -> Chain:
    places = [Place(files.get(int(match[1]), ""), int(match[2]), int(match[3]) - 1)]
    places += [Place(site[1], int(site[2]), int(site[3]) - 1) for site in _SITE.finditer(line)]
    known = {name.rpartition("/")[2]: name for name in files.values()}
    named = [place._replace(member=known.get(place.member, place.member)) for place in places]
    return tuple(place for place in named if place.member and place.line and not place.member.startswith("/"))


def _path(first: str, second: str | None) -> str:
    if second is None or first in ("", "."):
        return second or first
    return second if second.startswith("/") else f"{first}/{second}"
