"""DWARF 2-4 line programs of a cubin: SASS address -> lines of source, PTX or Tile IR.

NVIDIA's extended opcode 0x90 gives a row its call site: the number (from 1) of an earlier row of the same program, and
the function's name. Work is bounded by the section's length: each opcode makes one row at most, and a call site comes
before its row.
"""

from __future__ import annotations

import bisect
import re
import struct
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from .cubin import Cubin

SOURCE, PTX, TILEIR = ".debug_line", ".nv_debug_line_sass", ".nv.tileir.debug_line"
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")
_DEEPEST = 64
"""Call sites kept of one row; the rest of a longer chain is dropped."""


class Frame(NamedTuple):
    file: str
    line: int
    column: int
    """0 where the compiler gave none, which is how the format says it."""


class AddressMap(msgspec.Struct, frozen=True):
    """Rows of one `.text` section in order of address, each holding to the next one's address."""

    starts: tuple[int, ...]
    frames: tuple[tuple[Frame, ...], ...]
    """Innermost first; empty where a sequence has ended."""

    def at(self, address: int) -> tuple[Frame, ...]:
        index = bisect.bisect_right(self.starts, address) - 1
        return self.frames[index] if index >= 0 else ()


EMPTY = AddressMap((), ())


def read(cubin: Cubin, name: str) -> Mapping[int, AddressMap]:
    """The line table in section `name`: index of a `.text` section -> its rows. Empty if there is no such section.

    Raises `ValueError` for a damaged table.
    """
    index = next((i for i, section in enumerate(cubin.sections) if section.name == name), None)
    if index is None:
        return {}
    targets = {r.offset: (r.symbol.section, r.symbol.value + r.addend) for r in cubin.relocations.get(index, ())}
    only = cubin.functions[0].section if len(cubin.functions) == 1 else 0
    rows: dict[int, list[tuple[int, tuple[Frame, ...]]]] = {}
    try:
        _programs(cubin.sections[index].data, targets, only, rows)
    except (struct.error, IndexError) as error:
        raise ValueError(f"the line table {name} is truncated or damaged: {error}") from error
    tables = {}
    for section, found in rows.items():
        found.sort(key=lambda row: row[0])
        # Of several rows at one address the last counts: the others are empty ranges.
        last = dict(found)
        tables[section] = AddressMap(tuple(last), tuple(last.values()))
    return tables


def _programs(
    data: bytes,
    targets: Mapping[int, tuple[int, int]],
    only: int,
    rows: dict[int, list[tuple[int, tuple[Frame, ...]]]],
) -> None:
    at = 0
    while at < len(data):
        length, version, header = struct.unpack_from("<IHI", data, at)
        end, program = at + 4 + length, at + 10 + header
        if version not in (2, 3, 4):
            raise ValueError(f"a line table has DWARF version {version}; versions 2 to 4 are read")
        if length < 6 or end > len(data) or program > end:
            raise ValueError("a line table is truncated or damaged: a program ends outside its section")
        _program(data, at + 10, program, end, version, targets, only, rows)
        at = end


def _program(
    data: bytes,
    at: int,
    program: int,
    end: int,
    version: int,
    targets: Mapping[int, tuple[int, int]],
    only: int,
    rows: dict[int, list[tuple[int, tuple[Frame, ...]]]],
) -> None:
    unit = data[at]
    at += 1 + (version >= 4)
    _, base, span, first = struct.unpack_from("<BbBB", data, at)
    at += 4
    if not span:
        raise ValueError("a line table is damaged: its line range is zero")
    operands = data[at : at + first - 1]
    files = _files(data, at + len(operands), program)
    at = program
    made: list[tuple[Frame, ...]] = []
    section, address, file, line, column, context = only, 0, 1, 1, 0, 0

    def add() -> None:
        name = files[file] if file < len(files) else ""
        outer = made[context - 1] if 0 < context <= len(made) else ()
        frames = (Frame(name, line, column), *outer[: _DEEPEST - 1])
        made.append(frames)
        rows.setdefault(section, []).append((address, frames))

    while at < end:
        code = data[at]
        at += 1
        if code >= first:
            address += (code - first) // span * unit
            line += base + (code - first) % span
            add()
        elif code == 0:
            size, at = _unsigned(data, at)
            stop = at + size
            if not size or stop > end:
                raise ValueError("a line table is damaged: an extended opcode ends outside its program")
            kind, at = data[at], at + 1
            if kind == 1:
                rows.setdefault(section, []).append((address, ()))
                section, address, file, line, column, context = only, 0, 1, 1, 0, 0
            elif kind == 2:
                (address,) = struct.unpack_from("<Q", data, at)
                if at in targets:
                    section, address = targets[at]
            elif kind == 0x90:
                context, _ = _unsigned(data, at)
            at = stop
        elif code == 1:
            add()
        elif code == 2:
            value, at = _unsigned(data, at)
            address += value * unit
        elif code == 3:
            value, at = _signed(data, at)
            line += value
        elif code == 4:
            file, at = _unsigned(data, at)
        elif code == 5:
            column, at = _unsigned(data, at)
        elif code == 8:
            address += (255 - first) // span * unit
        elif code == 9:
            address += struct.unpack_from("<H", data, at)[0]
            at += 2
        else:
            for _ in range(operands[code - 1]):
                _, at = _unsigned(data, at)


def _files(data: bytes, at: int, end: int) -> list[str]:
    """File names, joined with their folder's; element 0 stands for no file."""
    folders, files = [""], [""]
    while True:
        name, at = _string(data, at, end)
        if not name:
            break
        folders.append(name)
    while True:
        name, at = _string(data, at, end)
        if not name:
            return files
        folder, at = _unsigned(data, at)
        _, at = _unsigned(data, at)
        _, at = _unsigned(data, at)
        files.append(_path(folders[folder] if folder < len(folders) else "", name))


def _path(folder: str, name: str) -> str:
    """The file as the source named it.

    PTX has no letters but ASCII: other bytes are written as `\\303`. The assembler keeps that, and takes the last
    backslash for the end of the folder's name.
    """
    if folder in ("", "."):
        return unescaped(name)
    joined = unescaped(f"{folder}/{name}")
    return unescaped(f"{folder}\\{name}") if "\ufffd" in joined else joined


def unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), text.encode()).decode("utf-8", "replace")


def _string(data: bytes, at: int, end: int) -> tuple[str, int]:
    stop = data.find(b"\0", at, end)
    if stop < 0:
        raise ValueError("a line table is damaged: a file name has no end")
    return data[at:stop].decode("utf-8", "replace"), stop + 1


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a line table is damaged: a number is too long")


def _signed(data: bytes, at: int) -> tuple[int, int]:
    start = at
    value, at = _unsigned(data, at)
    bits = 7 * (at - start)
    return (value - (1 << bits) if data[at - 1] & 0x40 else value), at
