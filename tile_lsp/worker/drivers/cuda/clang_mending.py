"""What clang would give up on: names that nothing declares, as after a header that isn't there or while one is being
typed, and launches from device code.

Clang drops a whole statement for one unknown value, and takes an unknown type for `int`. With a declaration that it
knows to be wrong in place of the first, and an empty struct in place of the second, it keeps what is around them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .clang_tree import Tree

_VALUE = re.compile(r"use of undeclared identifier '(\w+)'")
_TYPE = re.compile(r"unknown type name '(\w+)'")
#: An unknown function is no such loss, and `a::b` and `a<b>` say that it is no value.
_NO_VALUE = re.compile(rb"\w+\s*(?:\(|<|::)")
_LAUNCHED = "reference to __global__ function"
_LAUNCH = re.compile(rb"<<<([^;{}]*?)>>>")
_ALIGNED = re.compile(rb"(\b__shared__\s+)(alignas\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))")
_UNDECLARED = "tl_undeclared"


class Missing(NamedTuple):
    values: frozenset[str]
    types: frozenset[str]
    launches: bool
    """Kernels are launched by device code, which clang doesn't know."""

    def and_also(self, other: Missing) -> Missing:
        return Missing(self.values | other.values, self.types | other.types, self.launches or other.launches)


NOTHING = Missing(frozenset(), frozenset(), False)


def missing(tree: Tree) -> Missing:
    values: set[str] = set()
    types: set[str] = set()
    launches = False
    places = tree.places
    for message, location in tree.clang.problems(tree.unit.handle):
        offset = places.offset(location)
        if offset is None or places.lines.position(offset) is None:
            # Headers are as they are, and reading them again may take a second.
            continue
        if found := _TYPE.match(message):
            types.add(found[1])
        elif (found := _VALUE.match(message)) and not _NO_VALUE.match(places.text, offset):
            values.add(found[1])
        elif message.startswith(_LAUNCHED):
            launches = True
    known = {_UNDECLARED}
    if values or types:
        known.update(tree.name(cursor) for cursor in tree.children(tree.root()))
    return Missing(frozenset(values - types - known), frozenset(types - known), launches)


def is_sound(tree: Tree) -> bool:
    """True if clang has nothing against the members."""
    places = tree.places
    offsets = (places.offset(location) for _, location in tree.clang.problems(tree.unit.handle))
    return not any(offset is not None and places.lines.position(offset) is not None for offset in offsets)


def declarations(missing: Missing) -> str:
    """Lines to put before the text."""
    lines = [f"struct {name} {{}};\n" for name in sorted(missing.types)]
    lines += [f"extern {_UNDECLARED} {name};\n" for name in sorted(missing.values)]
    if missing.launches:
        lines.append("#undef __global__\n#define __global__ __attribute__((host, device))\n")
    return "".join(lines)


def in_order(source: bytes) -> bytes:
    """Without alignments that stand behind `__shared__`, where clang allows none."""
    return _ALIGNED.sub(lambda found: found[1] + re.sub(rb"\S", b" ", found[2]), source)


def without_launches(source: bytes) -> bytes:
    """`child<<<grid, block>>>(x)` as `child,((grid, block)),(x)`, in as many bytes."""
    return _LAUNCH.sub(lambda found: b",((" + found[1] + b")),", source)
