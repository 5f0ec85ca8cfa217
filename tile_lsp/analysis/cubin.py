"""Cubin (ELF64, little-endian) to sections, functions, symbols, relocations and `.nv.info` attributes.

`read` raises `ValueError` for bytes that are no sound cubin, and its work is bounded by their length: sections may
overlap only as far as sound files do, names are short, and nothing is followed twice.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import msgspec

MACHINE_CUDA = 190
_NOBITS, _RELA, _REL, _SYMTAB = 8, 4, 9, 2
#: Of the ELF header: assemblers before 13.0 keep the architecture elsewhere, but for those of sm_100 and later.
_FIRST_ABI = 51
_LONGEST_NAME = 16_384
_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

#: Attribute codes of `.nv.info` that are read here and in `resources`.
PARAMETER_BANK, FRAME_SIZE, STACK_SIZE, REQUIRED_THREADS, PARAMETER_BYTES = 0x0A, 0x11, 0x12, 0x10, 0x19
REGISTERS, BRANCH_TARGETS, MEMORY_BARRIERS, BARRIERS, ANNOTATIONS = 0x2F, 0x34, 0x38, 0x4C, 0x55
_SPILL = 1


class Section(msgspec.Struct, frozen=True):
    name: str
    type: int
    flags: int
    link: int
    info: int
    size: int
    """In memory; `data` is empty for a section that takes no room in the file."""
    data: bytes


class Symbol(msgspec.Struct, frozen=True):
    name: str
    section: int
    """Index of its section; 0 if it is not defined here."""
    value: int
    """Offset in its section."""
    size: int
    function: bool
    is_section: bool
    is_global: bool
    entry: bool
    """True for a kernel."""


class Relocation(msgspec.Struct, frozen=True):
    offset: int
    """In the section that it changes."""
    type: int
    symbol: Symbol
    addend: int


class Function(msgspec.Struct, frozen=True):
    """One `.text.*` section: a kernel with the routines that were put into its section."""

    name: str
    section: int
    code: bytes
    symbols: tuple[Symbol, ...]
    """Function symbols of the section, by address; the kernel's own first."""
    relocations: tuple[Relocation, ...]
    info: tuple[tuple[int, bytes], ...]
    """`.nv.info.<name>`: (attribute, value), in the file's order."""

    @property
    def branch_targets(self) -> Mapping[int, tuple[int, ...]]:
        """Address of an indirect branch -> the addresses that it may go to."""
        found: dict[int, tuple[int, ...]] = {}
        for code, value in self.info:
            if code == BRANCH_TARGETS:
                words = [int.from_bytes(value[i : i + 4], "little") for i in range(0, len(value) - 3, 4)]
                at = 0
                while at + 3 <= len(words):
                    address, _, count = words[at : at + 3]
                    targets = words[at + 3 : at + 3 + count]
                    if len(targets) < count:
                        break
                    found[address] = tuple(targets)
                    at += 3 + count
        return found

    @property
    def spills(self) -> frozenset[int]:
        """Addresses of the loads and stores that exist only for want of registers."""
        found: set[int] = set()
        for code, value in self.info:
            if code == ANNOTATIONS:
                for at in range(0, len(value) - 7, 8):
                    kind, address = struct.unpack_from("<II", value, at)
                    if kind != _SPILL:
                        break
                    found.add(address)
        return frozenset(found)


class Cubin(msgspec.Struct, frozen=True):
    arch: str
    """`"sm_90"`, without the letter of an architecture-specific target."""
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    functions: tuple[Function, ...]
    relocations: Mapping[int, tuple[Relocation, ...]]
    """By index of the section that they change, in order of offset."""
    symbol_info: Mapping[tuple[int, str], int]
    """`.nv.info` of the whole file: (attribute, function's name) -> value, where given symbol by symbol."""

    def section(self, name: str) -> bytes | None:
        return next((s.data for s in self.sections if s.name == name), None)

    def named(self, prefix: str) -> tuple[Section, ...]:
        return tuple(s for s in self.sections if s.name.startswith(prefix))


def read(data: bytes) -> Cubin:
    """Raises `ValueError` for anything but a sound cubin."""
    try:
        return _read(data)
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"the cubin is truncated or damaged: {error}") from error


def _read(data: bytes) -> Cubin:
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a cubin: no little-endian 64-bit ELF header")
    machine = struct.unpack_from("<H", data, 18)[0]
    if machine != MACHINE_CUDA:
        raise ValueError(f"not a cubin: ELF machine {machine}, expected {MACHINE_CUDA}")
    (flags,) = struct.unpack_from("<I", data, 48)
    sections = _sections(data)
    symbols = _symbols(sections)
    functions = []
    relocations = _relocations(sections, symbols)
    by_section: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.function and symbol.section:
            by_section.setdefault(symbol.section, []).append(symbol)
    infos = {s.name: s.data for s in sections if s.name.startswith(".nv.info")}
    for index, section in enumerate(sections):
        if not section.name.startswith(".text.") or not section.data:
            continue
        name = section.name.removeprefix(".text.")
        own = sorted(by_section.get(index, ()), key=lambda s: (s.value, s.name != name))
        functions.append(
            Function(
                name=name,
                section=index,
                code=section.data,
                symbols=tuple(own),
                relocations=relocations.get(index, ()),
                info=_attributes(infos.get(f".nv.info.{name}", b"")),
            )
        )
    return Cubin(
        arch=f"sm_{flags & 0xFF if data[7] == _FIRST_ABI else (flags >> 8) & 0xFF}",
        sections=sections,
        symbols=symbols,
        functions=tuple(functions),
        relocations=relocations,
        symbol_info=_symbol_info(infos.get(".nv.info", b""), symbols),
    )


class _Names:
    """A string table. Names may share tails, but not so often that reading them costs far more than the file's size."""

    def __init__(self, table: bytes) -> None:
        self._table = table
        self._seen: dict[int, str] = {}
        self._left = 64 * len(table)

    def at(self, offset: int) -> str:
        name = self._seen.get(offset)
        if name is None:
            end = self._table.find(b"\0", offset, offset + _LONGEST_NAME)
            self._left -= end - offset
            if end < 0 or self._left < 0:
                raise ValueError("the cubin is damaged: a name in a string table has no end, or too many overlap")
            name = self._seen[offset] = self._table[offset:end].decode("utf-8", "replace")
        return name


def _sections(data: bytes) -> tuple[Section, ...]:
    (start,) = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    if entry != _HEADER.size or not count or start + entry * count > len(data) or names >= count:
        raise ValueError("the cubin is truncated or damaged: its section headers are not inside the file")
    headers = [_HEADER.unpack_from(data, start + entry * i) for i in range(count)]
    total = 0
    for header in headers:
        if header[1] not in (0, _NOBITS):
            total += header[5]
            # From sm_100 on a second set of sections (.nv.merc.*) shares the bytes of the first.
            if header[4] + header[5] > len(data) or total > 4 * len(data):
                raise ValueError("the cubin is truncated or damaged: a section is not inside the file, or many overlap")
    strings = _Names(data[headers[names][4] : headers[names][4] + headers[names][5]])
    sections = []
    for name, kind, flags, _, offset, size, link, info, _, _ in headers:
        body = b"" if kind in (0, _NOBITS) else data[offset : offset + size]
        sections.append(Section(strings.at(name) if kind else "", kind, flags, link, info, size, body))
    return tuple(sections)


def _symbols(sections: Sequence[Section]) -> tuple[Symbol, ...]:
    symbols = []
    for section in sections:
        if section.type != _SYMTAB:
            continue
        if section.link >= len(sections):
            raise ValueError("the cubin is damaged: its symbol table names no string table")
        strings = _Names(sections[section.link].data)
        for at in range(0, len(section.data) - _SYMBOL.size + 1, _SYMBOL.size):
            name, info, other, index, value, size = _SYMBOL.unpack_from(section.data, at)
            kind = info & 0xF
            text = strings.at(name)
            if kind == 3 and not text and index < len(sections):
                text = sections[index].name
            symbols.append(
                Symbol(
                    name=text,
                    section=index if index < len(sections) else 0,
                    value=value,
                    size=size,
                    function=kind == 2,
                    is_section=kind == 3,
                    is_global=info >> 4 in (1, 2),
                    entry=kind == 2 and bool(other & 0x10),
                )
            )
        break
    return tuple(symbols)


def _relocations(sections: Sequence[Section], symbols: Sequence[Symbol]) -> dict[int, tuple[Relocation, ...]]:
    found: dict[int, list[Relocation]] = {}
    for section in sections:
        if section.type not in (_RELA, _REL) or section.info >= len(sections):
            continue
        step, form = (24, "<QQq") if section.type == _RELA else (16, "<QQ")
        for at in range(0, len(section.data) - step + 1, step):
            offset, info, *addend = struct.unpack_from(form, section.data, at)
            if info >> 32 >= len(symbols):
                raise ValueError("the cubin is damaged: a relocation names no symbol")
            relocation = Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend[0] if addend else 0)
            found.setdefault(section.info, []).append(relocation)
    return {index: tuple(sorted(group, key=lambda r: r.offset)) for index, group in found.items()}


def _symbol_info(data: bytes, symbols: Sequence[Symbol]) -> dict[tuple[int, str], int]:
    found = {}
    for code, value in _attributes(data):
        if len(value) == 8:
            index, number = struct.unpack("<II", value)
            if index < len(symbols):
                found[code, symbols[index].name] = number
    return found


def _attributes(data: bytes) -> tuple[tuple[int, bytes], ...]:
    """Each attribute is (format, code, 16 bits); format 4 is followed by as many bytes as those 16 bits say."""
    found, at = [], 0
    while at + 4 <= len(data):
        form, code, short = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == 4:
            if at + short > len(data):
                raise ValueError("the cubin is damaged: an attribute of .nv.info ends outside it")
            found.append((code, data[at : at + short]))
            at += short
        elif form in (1, 2, 3):
            found.append((code, struct.pack("<H", short)[: form - 1]))
        else:
            raise ValueError(f"the cubin is damaged: unknown attribute format {form} in .nv.info")
    return tuple(found)
