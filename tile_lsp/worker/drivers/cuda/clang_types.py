"""What clang says of device code: the type of every name and expression, of the instantiation that a job names.

Clang types an instantiation's body for itself, and a reference to the instantiation leads to it: what is appended to
the text is one such reference, and each call in a body is another. An instantiation whose text doesn't compile has no
body; then the text is read again, with a copy of the template in which its parameters are declared as what they stand
for: what is sound in it has types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from . import clang_copies, clang_mending
from .clang_places import Places
from .clang_tree import Tree
from .clang_unit import Options, options_of, parsed
from .clang_walk import Walk

#: Whose predefined macros are given where the caller doesn't know better.
_VERSION = (13, 4)
_PROBE = "tile_lsp_probe"
#: Once as it is, once with what is missing, once with copies of what is broken all the same.
_MOST_READINGS = 3
#: A probe that is no use is told by its name alone, so it must not be met in the text.
_AFTER = '\n#line 1 ""\n'


class Read(NamedTuple):
    """`types` and `remarks` as the server's `TypeRecord`s and `Remark`s."""

    types: list[dict[str, Any]]
    remarks: list[dict[str, Any]]


def type_records(source: str, name: str, options: Sequence[str]) -> list[dict[str, Any]]:
    """The `TypeRecord`s of `read`."""
    return read(source, name, options).types


def read(source: str, name: str, options: Sequence[str], version: tuple[int, int] = _VERSION) -> Read:
    """Types in device functions of all members, and in what the kernel reaches as it is instantiated.

    `source`: with a line `#line 1 "member"` before each member. `name`: the kernel as NVRTC takes name expressions,
    `scale<float, 128>`. `options`: NVRTC's. Code that is broken, and names that nothing declares, cost the types of
    what depends on them. Raises `clang_library.Unavailable` where there is no libclang.
    """
    known = options_of(options, version)
    probe = f"auto {_PROBE} = &{name};\n" if "<" in name else ""
    text = f"{source}{_AFTER}{probe}".encode()
    best = Read([], [])
    missing = clang_mending.NOTHING
    broken: list[clang_copies.Broken] = []
    for _ in range(_MOST_READINGS):
        copied, hidden = clang_copies.with_copies(text, broken)
        walked = _walk(copied, known, missing, hidden)
        if walked is None:
            break
        if len(walked.read.types) >= len(best.types):
            best = walked.read
        more = missing.and_also(walked.missing)
        if more == missing and (broken or not walked.broken):
            break
        # Where in the text something is, is known as long as there is no copy in it.
        broken, missing = broken or walked.broken, more
    return best


class _Walked(NamedTuple):
    read: Read
    broken: list[clang_copies.Broken]
    missing: clang_mending.Missing


def _walk(
    source: bytes, options: Options, mended: clang_mending.Missing, hidden: frozenset[clang_copies.Position]
) -> _Walked | None:
    before = f"{options.preamble}{clang_mending.declarations(mended)}".encode()
    if mended.launches:
        source = clang_mending.without_launches(source)
    with parsed(before + source, options) as unit:
        if unit is None:
            return None
        places = Places(unit)
        walk = Walk(Tree(unit, places), hidden, mended.types, everywhere=options.everywhere)
        walk.all(_PROBE)
        missing = clang_mending.missing(unit, places)
        missing = missing._replace(values=missing.values - walk.names, types=missing.types - walk.names)
        broken = [
            one._replace(
                begin=one.begin - len(before),
                parameters_end=one.parameters_end - len(before),
                end=one.end - len(before),
            )
            for one in walk.broken()
        ]
        read = Read(walk.records.types(), walk.records.remarks())
        return _Walked(read, broken, missing)
