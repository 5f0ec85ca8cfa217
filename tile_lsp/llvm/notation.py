"""Floats as LLVM up to 22 reads them: a newer LLVM writes their bits, and names for infinities and what is no number.

float f0x3FB8AA3B    float 0x3FF7154760000000
half f0x3C00         half 0xH3C00
float -inf           float 0xFFF0000000000000
"""

from __future__ import annotations

import re
import struct

#: In the order in which a line is searched for the type that a literal is of.
_TYPE = re.compile(r"\b(half|bfloat|float|double)\b")
_LITERAL = re.compile(r"(?<![\w.\"%@-])(?:f0x([0-9A-Fa-f]+)|([+-])(inf|[qs]?nan)(?:\(0x([0-9A-Fa-f]+)\))?)(?![\w.\"-])")
_WIDTHS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
#: Bits of the exponent and of the fraction.
_SHAPES = {"half": (5, 10), "bfloat": (8, 7), "float": (8, 23), "double": (11, 52)}
_PREFIXES = {"half": "0xH", "bfloat": "0xR"}


def older(text: str) -> str:
    """What needs no change is left as it is."""
    if "f0x" not in text and "inf" not in text and "nan" not in text:
        return text
    return "\n".join(_line(line) if _LITERAL.search(line) else line for line in text.split("\n"))


def _line(line: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        types = _TYPE.findall(line, 0, match.start())
        # A literal without one is of an instruction's second operand, and its type is said before the first.
        kind = types[-1] if types else "double"
        if match[1]:
            kind = kind if len(match[1]) * 4 == _WIDTHS[kind] else {8: "float", 16: "double"}.get(len(match[1]), kind)
            return _written(kind, int(match[1], 16))
        return _written(kind, _special(kind, match[2] == "-", match[3], match[4]))

    return _LITERAL.sub(replaced, line)


def _special(kind: str, negative: bool, name: str, payload: str | None) -> int:
    exponent, fraction = _SHAPES[kind]
    quiet = 1 << fraction - 1
    bits = (1 << exponent) - 1 << fraction | (int(negative) << exponent + fraction)
    if name == "inf":
        return bits
    if name == "nan" and payload:
        return bits | int(payload, 16)
    return bits | (int(payload, 16) if payload else 0 if name != "snan" else 1) | (0 if name == "snan" else quiet)


def _written(kind: str, bits: int) -> str:
    if kind in _PREFIXES:
        return f"{_PREFIXES[kind]}{bits:04X}"
    if kind == "float":
        # As a double of the same value; of what is no number the payload has to be moved by hand.
        if bits & 0x7FFFFFFF > 0x7F800000:
            bits = (bits & 0x80000000) << 32 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
        else:
            bits = struct.unpack(">Q", struct.pack(">d", struct.unpack(">f", bits.to_bytes(4, "big"))[0]))[0]
    return f"0x{bits:016X}"
