"""What a kernel takes of the machine, from the cubin's own tables: registers, memory, barriers, spills, code."""

from __future__ import annotations

import struct

import msgspec

from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from . import cubin as elf
from .cubin import Cubin, Function
from .disassembly import BYTES

SHARED_RESERVE = 1024
"""Bytes of shared memory that the driver keeps for itself on sm_90 and later, counted by the assembler."""
_NOP, _STORE_LOCAL, _LOAD_LOCAL = 0x918, 0x387, 0x983
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Sizes in bytes."""

    kernel: str
    registers: int
    """A thread's."""
    shared: int
    """Static, as the assembler counts it, so with `shared_reserve`."""
    shared_dynamic: int
    """What a launch gives beside it; 0 where the code can't tell."""
    shared_reserve: int
    stack: int
    """A thread's, spills included."""
    local: int
    constant: tuple[tuple[int, int], ...]
    """(bank, size)."""
    parameters: int
    barriers: int
    """Named barriers (`BAR`)."""
    memory_barriers: int
    """`mbarrier` objects in shared memory."""
    threads: tuple[int, int, int] | None
    """The block that the kernel was compiled for, where it says so."""
    spill_stores: int
    """Instructions, and the bytes that they move each time they run."""
    spill_store_bytes: int
    spill_loads: int
    spill_load_bytes: int
    code: int
    instructions: int
    """Without the padding after the code."""


def usage(cubin: Cubin, dynamic: int = 0) -> tuple[Usage, ...]:
    """One for each kernel, in the file's order. `dynamic`: bytes of shared memory that a launch gives each."""
    sizes = {section.name: section.size for section in cubin.sections}
    major = int(cubin.arch.removeprefix("sm_"))
    return tuple(_usage(cubin, function, sizes, major, dynamic) for function in cubin.functions)


def read(cubin: Cubin, dynamic: int = 0) -> Artifact:
    """A small table, kernel by kernel."""
    return Artifact(stage=Stage.RESOURCES, text="\n".join(_table(u) for u in usage(cubin, dynamic)))


def _usage(cubin: Cubin, function: Function, sizes: dict[str, int], arch: int, dynamic: int) -> Usage:
    name = function.name
    info = dict(function.info)
    shared = sizes.get(f".nv.shared.{name}", 0)
    banks = ((bank, sizes.get(f".nv.constant{bank}.{name}", 0)) for bank in range(8))
    stores, loads = _spilled(function)
    return Usage(
        kernel=name,
        registers=cubin.symbol_info.get((elf.REGISTERS, name), 0),
        shared=shared,
        shared_dynamic=dynamic,
        shared_reserve=SHARED_RESERVE if arch >= 90 and shared >= SHARED_RESERVE else 0,
        stack=cubin.symbol_info.get((elf.FRAME_SIZE, name), 0),
        local=sizes.get(f".nv.local.{name}", 0),
        constant=tuple((bank, size) for bank, size in banks if size),
        parameters=_number(info.get(elf.PARAMETER_BYTES)),
        barriers=_number(info.get(elf.BARRIERS)),
        memory_barriers=_number(info.get(elf.MEMORY_BARRIERS)),
        threads=_threads(info.get(elf.REQUIRED_THREADS)),
        spill_stores=len(stores),
        spill_store_bytes=sum(stores),
        spill_loads=len(loads),
        spill_load_bytes=sum(loads),
        code=len(function.code),
        instructions=_instructions(function.code),
    )


def _number(value: bytes | None) -> int:
    return int.from_bytes(value[:4], "little") if value else 0


def _threads(value: bytes | None) -> tuple[int, int, int] | None:
    if value is None or len(value) < 12:
        return None
    x, y, z = struct.unpack_from("<III", value)
    return (x, y, z)


def _spilled(function: Function) -> tuple[list[int], list[int]]:
    """Widths of the stores and of the loads that the assembler marked as spills."""
    stores: list[int] = []
    loads: list[int] = []
    for address in sorted(function.spills):
        word = int.from_bytes(function.code[address : address + BYTES], "little")
        kind, width = word & 0xFFF, _WIDTHS.get(word >> 73 & 7, 0)
        if kind == _STORE_LOCAL:
            stores.append(width)
        elif kind == _LOAD_LOCAL:
            loads.append(width)
    return stores, loads


def _instructions(code: bytes) -> int:
    count = len(code) // BYTES
    while count and int.from_bytes(code[(count - 1) * BYTES : (count - 1) * BYTES + 2], "little") & 0xFFF == _NOP:
        count -= 1
    return count


def _table(u: Usage) -> str:
    shares = [
        f"{u.shared_reserve} B of it the driver's" if u.shared_reserve else "",
        f"{u.shared_dynamic} B given by the launch" if u.shared_dynamic else "",
    ]
    rows = [
        ("registers", str(u.registers), ""),
        ("shared memory", f"{u.shared + u.shared_dynamic} B", ", ".join(filter(None, shares))),
        ("stack", f"{u.stack} B", ""),
        (
            "spills",
            f"{u.spill_store_bytes + u.spill_load_bytes} B",
            f"{u.spill_stores} stores, {u.spill_loads} loads" if u.spill_stores + u.spill_loads else "",
        ),
        ("local memory", f"{u.local} B", ""),
        *((f"constant bank {bank}", f"{size} B", "") for bank, size in u.constant),
        ("parameters", f"{u.parameters} B", ""),
        ("barriers", str(u.barriers), f"{u.memory_barriers} mbarriers" if u.memory_barriers else ""),
        *([("threads", " × ".join(map(str, u.threads)), "")] if u.threads else []),
        ("code", f"{u.code} B", f"{u.instructions} instructions"),
    ]
    wide = max(len(value) for _, value, _ in rows)
    body = "".join(f"  {name:<16}  {value:>{wide}}  {note}".rstrip() + "\n" for name, value, note in rows)
    return f"{u.kernel}\n{body}"
