"""PTX as a compiler wrote it, with its `.loc` lines: the source of each line, and of the SASS made from it.

LLVM counts lines on through inline assembly as if each of its lines were one of the source; a `.loc` between `begin
inline asm` and `end inline asm` says nothing, and what stands there has the place of what came before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from . import sources
from .cubin import Cubin
from .linetable import unescaped

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(
    r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:\s+prologue_end)?"
    r"(?:,\s*function_name\s+\S+?,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
)
_TEMPORARY = re.compile(r"\s*\$L__(?:tmp|func_(?:begin|end)|pc_sec|section|info_string|ann|cu|tmp)\w*:.*")
_BEGIN, _END = "// begin inline asm", "// end inline asm"


def chains(text: str) -> dict[int, Chain]:
    """Line (from 1) → the places that it comes from, innermost first."""
    files = {int(m[1]): _path(m[2], m[3]) for m in map(_FILE.match, text.split("\n")) if m is not None}
    found: dict[int, Chain] = {}
    # A call site is that of an earlier `.loc`, whose own call site goes with it.
    outer: dict[tuple[int, int, int], Chain] = {}
    now: Chain = ()
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if ".loc" in line and (match := _LOC.match(line)):
            if not inside:
                around: Chain = ()
                if match[4]:
                    site = (int(match[4]), int(match[5]), int(match[6]))
                    around = outer.get(site) or _place(files, *site)
                key = (int(match[1]), int(match[2]), int(match[3]))
                now = (*_place(files, *key), *around)
                outer[key] = now
        elif _BEGIN in line:
            inside = True
        elif _END in line:
            inside = False
        elif now:
            found[number] = now
    return {number: own for number, chain in found.items() if (own := _own(chain))}


def read(text: str) -> Artifact:
    """The text without what is there for debuggers, with the source of each line."""
    by_line = chains(text)
    lines: list[str] = []
    rows: list[Chain] = []
    section = False
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith(".section"):
            section = True
        if section:
            # Debug information follows the code: braces on lines of their own around it.
            section = stripped != "}"
            continue
        if stripped.startswith((".loc", ".file")) or _TEMPORARY.fullmatch(line):
            continue
        code = stripped and not stripped.startswith(("//", ".", "$", "{", "}", ")"))
        lines.append(line)
        rows.append(by_line.get(number, ()) if code else ())
    while lines and not lines[-1].strip():
        lines.pop()
        rows.pop()
    return Artifact(Stage.PTX, "\n".join(lines) + "\n", tuple((chain,) if chain else () for chain in rows))


class Sources(sources.Sources):
    """SASS address → source by way of the PTX line that it was made from."""

    def __init__(self, cubin: Cubin, by_line: Mapping[int, Chain]) -> None:
        super().__init__(cubin)
        self._by_line = by_line

    def chain(self, section: int, address: int) -> Chain:
        line = self.ptx_line(section, address)
        found = self._by_line.get(line) if line is not None else None
        return found if found is not None else _own(super().chain(section, address))


def _place(files: Mapping[int, str], file: int, line: int, column: int) -> Chain:
    return (Place(files.get(file, ""), line, column - 1),) if line and files.get(file) else ()


def _own(chain: Chain) -> Chain:
    return tuple(place for place in chain if not place.member.startswith("/"))


def _path(first: str, second: str | None) -> str:
    """The file as the source named it: `.file 1 "folder" "name"` or `.file 1 "folder/name"`."""
    folder, name = (first, second) if second is not None else ("", first)
    return unescaped(name if folder in ("", ".") else f"{folder}/{name}")
