"""Raw disassembly (`nvdisasm -b SM90 code.bin`) of many code sections in one run, taken apart section by section.

A section's disassembly is its instructions' texts in order, each 16 bytes further than the one before; code addresses
in them count from the section's start, so that it does not matter what it was run together with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .cubin import Cubin

BYTES = 16
"""Of one instruction, from sm_70 on."""

Texts = tuple[str, ...]

_LINE = re.compile(r"^ *\t*/\*([0-9a-f]{4,})\*/[ \t]+([^;\n]*);", re.MULTILINE)
_CODE_ADDRESS = re.compile(
    r"(?:@!?U?P\w+ )?(?:BRA|BSSY|LEPC|CALL\.REL|RET\.REL|WARPSYNC\.COLLECTIVE)\b.*?\b(0x[0-9a-f]+)$"
)


def architecture(arch: str) -> str:
    """As nvdisasm names it: `"sm_90"` -> `"SM90"`."""
    return arch.replace("sm_", "SM")


def sections(cubin: Cubin) -> tuple[bytes, ...]:
    return tuple(function.code for function in cubin.functions)


def combine(codes: Sequence[bytes]) -> bytes:
    """The input of one run. Raises `ValueError` for code that is no whole number of instructions."""
    for code in codes:
        if len(code) % BYTES:
            raise ValueError(f"a code section has {len(code)} bytes, which is no whole number of instructions")
    return b"".join(codes)


def split(output: str, codes: Sequence[bytes]) -> list[Texts]:
    """The output of the run over `combine(codes)`, section by section.

    Raises `ValueError` unless each instruction is there once.
    """
    found = [(int(match[1], 16), match[2].rstrip()) for match in _LINE.finditer(output)]
    count = sum(len(code) for code in codes) // BYTES
    if [address for address, _ in found] != list(range(0, count * BYTES, BYTES)):
        raise ValueError(f"the disassembler wrote {len(found)} instructions for {count}")
    parts, at = [], 0
    for code in codes:
        length = len(code) // BYTES
        parts.append(tuple(_rebased(text, at * BYTES) for _, text in found[at : at + length]))
        at += length
    return parts


def target(text: str) -> tuple[int, int, int] | None:
    """The code address that an instruction names: (start and end in the text, address)."""
    match = _CODE_ADDRESS.match(text)
    return (match.start(1), match.end(1), int(match[1], 16)) if match else None


def encode(parts: Sequence[Texts]) -> bytes:
    """As a blob: an instruction a line, sections separated by form feeds."""
    return "\f".join("\n".join(part) for part in parts).encode()


def decode(blob: bytes, cubin: Cubin) -> list[Texts]:
    """Raises `ValueError` if the blob is not of this cubin."""
    parts = [tuple(part.split("\n")) for part in blob.decode("utf-8", "replace").split("\f")] if blob else []
    if [len(part) * BYTES for part in parts] != [len(function.code) for function in cubin.functions]:
        raise ValueError("the disassembly is not of this cubin")
    return parts


def _rebased(text: str, base: int) -> str:
    place = target(text) if base else None
    if place is None:
        return text
    start, end, address = place
    return f"{text[:start]}{address - base:#x}{text[end:]}" if address >= base else text
