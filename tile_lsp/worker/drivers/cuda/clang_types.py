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
    """Types in the kernel and in what it reaches, as that is instantiated; of broken code in all device functions.

    `source`: with a line `#line 1 "member"` before each member. `name`: the kernel as NVRTC takes name expressions,
    `scale<float, 128>`. `options`: NVRTC's. Code that is broken, and names that nothing declares, cost the types of
    what depends on them. Raises `clang_library.Unavailable` where there is no libclang.
    """
    known = options_of(options, version)
    text = f"{source}{_AFTER}auto {_PROBE} = &{name};\n".encode()
    if b"alignas" in text:
        text = clang_mending.in_order(text)
    simple = name.partition("<")[0].rpartition("::")[2].strip()
    best = Read([], [])
    missing = clang_mending.NOTHING
    broken: list[clang_copies.Broken] = []
    # As it is, with what is missing, with copies of what is broken all the same.
    for last in (False, False, True):
        copied, hidden = clang_copies.with_copies(text, broken)
        walked = _walk(copied, simple, known, missing, hidden, last=last)
        if walked is None:
            break
        if len(walked.read.types) >= len(best.types):
            best = walked.read
        if walked.missing == missing and (broken or not walked.broken):
            break
        # Where in the text something is, is known as long as there is no copy in it.
        broken, missing = broken or walked.broken, walked.missing
    return best


class _Walked(NamedTuple):
    read: Read
    broken: list[clang_copies.Broken]
    missing: clang_mending.Missing


def _walk(
    source: bytes,
    name: str,
    options: Options,
    mended: clang_mending.Missing,
    hidden: frozenset[clang_copies.Position],
    *,
    last: bool,
) -> _Walked | None:
    """One reading. If something is missing, that is all that it says, unless it is the last one."""
    before = f"{options.preamble}{clang_mending.declarations(mended)}".encode()
    if mended.launches:
        source = clang_mending.without_launches(source)
    with parsed(before + source, options) as unit:
        if unit is None:
            return None
        places = Places(unit)
        tree = Tree(unit, places)
        missing = mended.and_also(clang_mending.missing(tree))
        if missing != mended and not last:
            return _Walked(Read([], []), [], missing)
        walk = Walk(tree, hidden, mended.types, everywhere=options.everywhere)
        walk.all(name, _PROBE, sound=clang_mending.is_sound(tree))
        broken = [
            one._replace(
                begin=one.begin - len(before),
                parameters_end=one.parameters_end - len(before),
                end=one.end - len(before),
            )
            for one in walk.broken()
        ]
        return _Walked(Read(walk.records.types(), walk.records.remarks()), broken, missing)
