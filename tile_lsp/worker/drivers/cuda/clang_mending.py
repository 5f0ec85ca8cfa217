"""What clang would give up on: names that nothing declares, as after a header that isn't there or while one is being
typed, and launches from device code.

Clang drops a whole statement for one unknown value, and takes an unknown type for `int`. With a declaration that it
knows to be wrong in place of the first, and an empty struct in place of the second, it keeps what is around them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .clang_places import Places
from .clang_unit import Unit

_VALUE = re.compile(r"use of undeclared identifier '(\w+)'")
_TYPE = re.compile(r"unknown type name '(\w+)'")
#: An unknown function is no such loss, and `a::b` and `a<b>` say that it is no value.
_NO_VALUE = re.compile(rb"\w+\s*(?:\(|<|::)")
_LAUNCHED = "reference to __global__ function"
_LAUNCH = re.compile(rb"<<<([^;{}]*?)>>>")
_UNDECLARED = "tl_undeclared"


class Missing(NamedTuple):
    values: frozenset[str]
    types: frozenset[str]
    launches: bool
    """Kernels are launched by device code, which clang doesn't know."""

    def and_also(self, other: Missing) -> Missing:
        return Missing(self.values | other.values, self.types | other.types, self.launches or other.launches)


NOTHING = Missing(frozenset(), frozenset(), False)


def missing(unit: Unit, places: Places) -> Missing:
    values: set[str] = set()
    types: set[str] = set()
    launches = False
    for message, location in unit.clang.problems(unit.handle):
        offset = places.offset(location)
        if offset is None:
            # Headers are as they are, and reading them again may take a second.
            continue
        if found := _TYPE.match(message):
            types.add(found[1])
        elif (found := _VALUE.match(message)) and not _NO_VALUE.match(unit.text, offset):
            values.add(found[1])
        elif message.startswith(_LAUNCHED):
            launches = True
    return Missing(frozenset(values - types - {_UNDECLARED}), frozenset(types - {_UNDECLARED}), launches)


def declarations(missing: Missing) -> str:
    """Lines to put before the text."""
    lines = [f"struct {name} {{}};\n" for name in sorted(missing.types)]
    lines += [f"extern {_UNDECLARED} {name};\n" for name in sorted(missing.values)]
    if missing.launches:
        lines.append("#undef __global__\n#define __global__ __attribute__((host, device))\n")
    return "".join(lines)


def without_launches(source: bytes) -> bytes:
    """`child<<<grid, block>>>(x)` as `child,((grid, block)),(x)`, in as many bytes."""
    return _LAUNCH.sub(lambda found: b",((" + found[1] + b")),", source)
