"""AMD's assembly text: without what is there for debuggers, and the source of each line by its `.loc` lines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from .sass import Block, FunctionRange

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


_LABEL = re.compile(r"([\w.$]+):")
_INSTRUCTION = re.compile(r"\s+([a-z]\w*)")
_ENDS_BLOCK = ("s_branch", "s_cbranch", "s_endpgm", "s_setpc")


def opcode(row: str) -> str:
    """Of an instruction; empty for any other row."""
    match = _INSTRUCTION.match(row)
    return match[1] if match is not None else ""


def outline(rows: Sequence[str]) -> tuple[FunctionRange, ...]:
    """Functions and their basic blocks, for folding, symbols and control flow."""
    return tuple(_functions(rows))


def _functions(rows: Sequence[str]) -> Iterator[FunctionRange]:
    starts = [row for row, text in enumerate(rows) if (match := _LABEL.match(text)) and not match[1].startswith(".")]
    for start, end in itertools.pairwise([*starts, len(rows)]):
        end = next((row for row in range(start, end) if rows[row].strip().startswith(".section")), end)
        blocks = tuple(_blocks(rows, start + 1, end))
        if blocks:
            yield FunctionRange(rows[start].partition(":")[0], start, blocks[-1].last, blocks)


def _blocks(rows: Sequence[str], first: int, end: int) -> Iterator[Block]:
    label, start, last = "", -1, -1
    for row in range(first, end):
        match = _LABEL.match(rows[row])
        name = opcode(rows[row])
        if name:
            start, last = (row if start < 0 else start), row
        if start >= 0 and (match is not None or name.startswith(_ENDS_BLOCK)):
            yield Block(label, start, last)
            label, start = "", -1
        if match is not None:
            label = match[1]
    if start >= 0:
        yield Block(label, start, last)


#: What the assembler's metadata and LLVM's own remarks at a function's end are called there.
_COUNTS = {
    "vector": r"\.vgpr_count:\s+(\d+)",
    "scalar": r"\.sgpr_count:\s+(\d+)",
    "accumulation": r"\.agpr_count:\s+(\d+)",
    "vector spills": r"\.vgpr_spill_count:\s+(\d+)",
    "scalar spills": r"\.sgpr_spill_count:\s+(\d+)",
    "scratch": r"\.private_segment_fixed_size:\s+(\d+)",
    "parameters": r"\.kernarg_segment_size:\s+(\d+)",
    "lanes": r"\.wavefront_size:\s+(\d+)",
    "waves": r"; Occupancy:\s+(\d+)",
    "code": r"; codeLenInByte = (\d+)",
}
_NAME = re.compile(r"\.symbol:\s+(\S+?)(?:\.kd)?\s*$", re.MULTILINE)
_REGISTER_BYTES = 4


def resources(text: str, shared: int, limit: int) -> Artifact:
    """A small table of what the kernel takes, as its metadata says. `shared`: bytes of LDS that a launch gives to a
    workgroup, `limit`: that it may have.
    """
    found = {name: int(m[1]) if (m := re.search(pattern, text)) else 0 for name, pattern in _COUNTS.items()}
    name = _NAME.search(text)
    spilled = found["vector spills"] * _REGISTER_BYTES
    spills = f"{found['vector spills']} vector and {found['scalar spills']} scalar registers"
    instructions = sum(line.startswith("\t") and line.strip()[:1] not in (".", ";", "") for line in _code(text))
    accumulation = f", {found['accumulation']} of them accumulation" if found["accumulation"] else ""
    rows = [
        ("registers", str(found["vector"]), f"vector{accumulation}; {found['scalar']} scalar"),
        ("shared memory", f"{shared} B", f"LDS, of {limit} B"),
        ("scratch", f"{found['scratch']} B", "a lane's, spills included"),
        ("spills", f"{spilled} B", spills if found["vector spills"] + found["scalar spills"] else ""),
        ("parameters", f"{found['parameters']} B", ""),
        ("waves", str(found["waves"]), f"of {found['lanes']} lanes on a SIMD, as registers allow"),
        ("code", f"{found['code']} B", f"{instructions} instructions"),
    ]
    wide = max(len(value) for _, value, _ in rows)
    body = "".join(f"  {row:<16}  {value:>{wide}}  {note}".rstrip() + "\n" for row, value, note in rows)
    return Artifact(Stage.RESOURCES, f"{name[1] if name else 'kernel'}\n{body}")


def _code(text: str) -> list[str]:
    """Lines up to where tables begin."""
    return text.partition("\t.section\t.rodata")[0].split("\n")


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
