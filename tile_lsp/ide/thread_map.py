"""Which thread holds which element of a tensor, from the layout of its type: facts in words, and a compact table.

Threads are numbered through a block: warp times lanes of a warp, plus lane. Shared memory has offsets in place of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tile_lsp.analysis.layouts import (
    Inverse,
    Layout,
    Linear,
    Typed,
    aliases_of,
    linear,
    parse,
    rank_of,
    smallest_shape,
    types_in,
)
from tile_lsp.ide.documents import Document

_ROWS = 8
_CELLS = 8
_MOST_COLUMNS = 512
_BITS = {"f64": 64, "i64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i16": 16, "i8": 8, "i1": 8}


class ThreadMap(msgspec.Struct, frozen=True):
    """A type, and its layout as a linear one."""

    typed: Typed
    layout: Layout
    linear: Linear
    inverse: Inverse
    buffers: int = 1
    """So many times, one after the other; the type's shape is of one."""

    @property
    def shared(self) -> bool:
        """True for memory, which threads don't hold."""
        return "offset" in self.linear.bases

    @property
    def element_bytes(self) -> int:
        """At least one."""
        return max(1, _BITS.get(self.typed.element, 32) // 8)

    @property
    def lanes(self) -> int:
        return self.linear.count("lane")


class Run(msgspec.Struct, frozen=True):
    """Neighbours in a row that one thread holds, or that lie side by side in memory."""

    start: int
    end: int
    """Columns."""
    warp: int
    lane: int
    registers: tuple[int, ...]
    """In memory, offsets in elements."""
    block: int


class NoMap(msgspec.Struct, frozen=True):
    typed: Typed
    why: str


def thread_maps(document: Document, line: int) -> list[ThreadMap | NoMap]:
    """Of the types in a line (0-based) of TTGIR, each layout once, the result's first; of a layout's own line, its
    smallest tile.
    """
    text = document.rows[line]
    aliases = aliases_of("\n".join(row for row in document.rows if row.startswith("#")))
    typed = list(types_in(text)[::-1])
    if text.startswith("#"):
        typed = _tile(text.partition(" ")[0], aliases)
    return mapped(typed, aliases)


def mapped(typed: Iterable[Typed], aliases: Mapping[str, str]) -> list[ThreadMap | NoMap]:
    """Each layout of a shape once, by the first type that has it."""
    firsts: dict[tuple[tuple[int, ...], str], Typed] = {}
    for one in typed:
        firsts.setdefault((one.shape, one.layout), one)
    found: list[ThreadMap | NoMap] = []
    for one in firsts.values():
        try:
            found.append(thread_map(one, aliases))
        except ValueError as error:
            found.append(NoMap(one, f"{error}"))
    return found


def _tile(alias: str, aliases: Mapping[str, str]) -> list[Typed]:
    try:
        shape = smallest_shape(parse(aliases.get(alias, ""), aliases))
    except (ValueError, KeyError):
        return []
    return [Typed(f"one tile of {alias}", shape, "", alias)] if shape else []


def thread_map(typed: Typed, aliases: Mapping[str, str]) -> ThreadMap:
    """Raises `ValueError`, with words for people, where there is no such map."""
    layout = parse(typed.layout, aliases)
    rank = rank_of(layout) or len(typed.shape)
    buffers = math.prod(typed.shape[:-rank])
    typed = msgspec.structs.replace(typed, shape=typed.shape[-rank:])
    made = linear(layout, typed.shape)
    return ThreadMap(typed, layout, made, Inverse(made, ("offset", "register", "lane", "warp", "block")), buffers)


def facts(of: ThreadMap) -> tuple[str, ...]:
    """What the layout means, in words: elements a thread, width of an access, what is held several times."""
    made = of.linear
    shape = "×".join(map(str, of.typed.shape))
    bits = _BITS.get(of.typed.element)
    if of.shared:
        return _shared_facts(of, shape, bits)
    registers = made.bases.get("register", ())
    elements = 1 << sum(any(basis) for basis in registers)
    lines = [
        f"{shape} over {_counted(made.count('warp'), 'warp')} of {of.lanes} threads: "
        f"{_counted(elements, 'element')} a thread"
        + (f", in {1 << len(registers)} registers" if 1 << len(registers) != elements else "")
    ]
    axis, run = _side_by_side(made, "register")
    if run > 1:
        along = f" along dimension {axis}" if len(of.typed.shape) > 1 else ""
        lines.append(f"{run} neighbours{along} are of one thread" + (f": {run * bits // 8} bytes" if bits else ""))
    for name in ("lane", "warp", "block"):
        idle = sum(not any(basis) for basis in made.bases.get(name, ()))
        if idle:
            lines.append(f"the same is held by {1 << idle} {name}s each")
    if made.count("block") > 1:
        lines.append(f"shared out over {_counted(made.count('block'), 'block')} of a cluster")
    return tuple(lines)


def _shared_facts(of: ThreadMap, shape: str, bits: int | None) -> tuple[str, ...]:
    elements = of.linear.count("offset")
    each = f"{of.buffers} buffers of {shape}" if of.buffers > 1 else shape
    lines = [f"{each} in shared memory" + (f": {of.buffers * elements * bits // 8} bytes" if bits else "")]
    axis, run = _together(of.linear)
    if run > 1 and len(of.typed.shape) > 1:
        lines.append(f"{run} neighbours along dimension {axis} follow each other")
    if any(sum(map(bool, basis)) > 1 for basis in of.linear.bases["offset"]):
        lines.append("swizzled: rows exchange their parts, so that one column lies in different banks")
    return tuple(lines)


def _side_by_side(made: Linear, name: str) -> tuple[int, int]:
    """The dimension along which the lowest indices lie next to each other, and how many do."""
    bases = made.bases.get(name, ())
    if not bases or sum(bases[0]) != 1:
        return -1, 1
    axis, run = bases[0].index(1), 1
    for basis in bases:
        if basis[axis] != run or sum(basis) != run:
            break
        run *= 2
    return axis, run


def _together(made: Linear) -> tuple[int, int]:
    """The same of what swizzling in memory leaves together."""
    axis, run = _side_by_side(made, "offset")
    exchanged = [basis[axis] for basis in made.bases["offset"] if sum(map(bool, basis)) > 1 and basis[axis]]
    return axis, min([run, *exchanged])


def rows(of: ThreadMap, height: int, width: int) -> list[tuple[str, tuple[Run, ...]]]:
    """The upper left corner, row by row with its label, elements of a thread taken together.

    A tensor of one dimension is broken into lines of `width`; of more than two, the first of the leading ones is shown.
    """
    shape = of.typed.shape
    if len(shape) == 1:
        starts = range(0, min(shape[0], height * width), width)
        return [(str(start), _runs(of, (), start, min(start + width, shape[0]))) for start in starts]
    leading = (0,) * (len(shape) - 2)
    return [(str(row), _runs(of, (*leading, row), 0, min(width, shape[-1]))) for row in range(min(height, shape[-2]))]


def _runs(of: ThreadMap, at: Sequence[int], start: int, end: int) -> tuple[Run, ...]:
    found: list[Run] = []
    _, together = _together(of.linear) if of.shared else (0, 0)
    for column in range(start, end):
        index = of.inverse((*at, column))
        if index is None:
            continue
        register = index.get("offset" if of.shared else "register", 0)
        who = (index.get("warp", 0), index.get("lane", 0), index.get("block", 0))
        last = found[-1] if found else None
        # What registers a thread's elements are in is its own matter; in memory they must follow each other.
        follows = last is not None and (
            not of.shared or (last.registers[-1] + 1 == register and len(last.registers) < together)
        )
        if last is not None and follows and (last.warp, last.lane, last.block) == who:
            found[-1] = msgspec.structs.replace(last, end=column + 1, registers=(*last.registers, register))
        else:
            found.append(Run(column, column + 1, who[0], who[1], (register,), who[2]))
    return tuple(found)


def name_of(of: ThreadMap, run: Run) -> str:
    """`T5`, `T5·1` in the second block, `@64` in memory."""
    if of.shared:
        return f"@{run.registers[0]}"
    block = f"·{run.block}" if run.block else ""
    return f"T{run.warp * of.lanes + run.lane}{block}"


def table(of: ThreadMap) -> str:
    """A line for each of the first rows, a cell for each run of elements that one thread has."""
    shape = of.typed.shape
    _, run = _side_by_side(of.linear, "offset" if of.shared else "register")
    width = min(run * _CELLS, _MOST_COLUMNS) if len(shape) == 1 else min(shape[-1], _MOST_COLUMNS)
    found = rows(of, _ROWS, width)
    more = any(len(runs) > _CELLS or runs[-1].end < shape[-1] for _, runs in found if runs) and len(shape) > 1
    cells = [[label, *(_cell(of, one) for one in runs[:_CELLS])] for label, runs in found]
    widths = [max(len(row[index]) for row in cells if index < len(row)) for index in range(max(map(len, cells)))]
    lines = [_line(row, widths) + (" …" if more else "") for row in cells]
    whole = -(-shape[0] // width) if len(shape) == 1 else shape[-2]
    return "\n".join([*lines, *(["…".rjust(widths[0])] if len(found) < whole else [])])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    label, *cells = row
    return "  ".join([label.rjust(widths[0]), *map(str.ljust, cells, widths[1:])]).rstrip()


def _cell(of: ThreadMap, run: Run) -> str:
    columns = str(run.start) if run.end - run.start == 1 else f"{run.start}-{run.end - 1}"
    return f"{columns}:{name_of(of, run)}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}"
