"""What which version of tileiras can do, as data, and the messages that say so."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Target → first tileiras (major, minor) that compiles for it.
TARGETS: dict[str, tuple[int, int]] = {
    "sm_80": (13, 2),
    "sm_86": (13, 2),
    "sm_87": (13, 2),
    "sm_88": (13, 2),
    "sm_89": (13, 2),
    "sm_90": (13, 3),
    "sm_100": (13, 1),
    "sm_103": (13, 1),
    "sm_107": (13, 4),
    "sm_110": (13, 1),
    "sm_120": (13, 1),
    "sm_121": (13, 1),
}

#: From this bytecode format on, bytecode holds nothing of the target.
ARCH_FREE_BYTECODE = (13, 3)
#: First tileiras that writes remarks.
REMARKS = (13, 3)
#: First release with `tileirdisasm` beside tileiras, and with Tile IR text and its line table in the cubin.
DISASSEMBLER = (13, 4)

#: What is assumed of a tileiras whose version nobody told.
NEWEST = (13, 4)

BYTECODE_VERSIONS = ("13.1", "13.2", "13.3", "13.4")


def parse(version: object) -> tuple[int, int] | None:
    """`"13.4"`, `"13.4.92"` or a tool's whole version text → `(13, 4)`; None for what holds no version."""
    found = re.search(r"(\d+)\.(\d+)", version) if isinstance(version, str) else None
    return (int(found[1]), int(found[2])) if found else None


def check_target(target: str, tileiras: tuple[int, int] | None = None) -> str | None:
    """A message if no tileiras, or not the given one, compiles for the target."""
    first = TARGETS.get(target)
    if first is None:
        return _unknown_target(target)
    if tileiras is not None and tileiras < first:
        return f"{target} needs tileiras {_dotted(first)} or newer, this is {_dotted(tileiras)}"
    return None


def check_disassembler(tileiras: tuple[int, int]) -> str | None:
    """A message if Tile IR text can't be had."""
    if tileiras < DISASSEMBLER:
        return f"Tile IR text needs tileirdisasm, of {_dotted(DISASSEMBLER)} or newer; this is {_dotted(tileiras)}"
    return None


def check_remarks(tileiras: tuple[int, int]) -> str | None:
    """A message if remarks can't be had."""
    if tileiras < REMARKS:
        return f"tileiras writes remarks from {_dotted(REMARKS)} on, this is {_dotted(tileiras)}"
    return None


def install(version: tuple[int, int]) -> str:
    """The command that brings NVIDIA's packages, which must be of one major.minor, to a version."""
    toolkit = f"cuda-toolkit[nvdisasm,cuobjdump]=={_dotted(version)}.*"
    return f"pip install --upgrade 'cuda-tile[tileiras]' '{toolkit}'"


def _unknown_target(target: str) -> str:
    digits = re.fullmatch(r"(?:sm|compute)?[_-]?(\d+)(?:\.(\d))?([af]?)", target.strip().lower())
    close = f"sm_{digits[1]}{digits[2] or ''}" if digits else ""
    if digits and digits[3] and close in TARGETS:
        return f"`{target}` is chosen by the assembler itself; write {close}"
    if close in TARGETS:
        return f"`{target}` is no target; write {close}"
    known = ", ".join(_sorted(TARGETS))
    if close:
        return f"tileiras does not compile for {close}; it does for {known}"
    return f"`{target}` is no target; there are {known}"


def _sorted(targets: Iterable[str]) -> list[str]:
    return sorted(targets, key=lambda target: int(target.removeprefix("sm_")))


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
