"""A thread map as a picture: a box for each run of elements that one thread holds, a colour for each warp."""

from __future__ import annotations

import colorsys
from html import escape

from tile_lsp.ide.thread_map import Run, ThreadMap, facts, name_of, rows

_ROWS = 64
_COLUMNS = 128
_ROW = 18
"""Height of a row, in pixels."""
_LEFT = 44
_TOP = 22
_WIDTH = 1100
_CELL = (9, 34)
"""Least and most width of an element."""
_LETTER = 6.2
_BANKS = 128
"""Bytes of all banks of shared memory side by side."""


def legend(of: ThreadMap) -> tuple[str, ...]:
    """What boxes, their words and colours stand for, and which part is drawn where that isn't all."""
    if of.shared:
        found = [
            "a box is what lies side by side in memory, @64 begins 64 elements in; equal colours are the same banks"
        ]
    else:
        found = [f"a box is what a thread holds side by side, T{of.lanes + 1} is lane 1 of warp 1; a colour is a warp"]
        if any(not any(basis) for name in ("lane", "warp", "block") for basis in of.linear.bases.get(name, ())):
            found.append("of several threads that hold the same, the first is named")
    shape = of.typed.shape
    columns = _columns(of)
    lines = -(-shape[0] // columns) if len(shape) == 1 else shape[-2]
    if len(shape) == 1 and lines > _ROWS:
        found.append(f"drawn: elements 0–{_ROWS * columns - 1} of {shape[0]}")
    elif len(shape) > 1 and (lines > _ROWS or shape[-1] > columns):
        rest = ", of the first of the other dimensions" if len(shape) > 2 else ""
        rows_, columns_ = f"rows 0–{min(lines, _ROWS) - 1} of {lines}", f"columns 0–{columns - 1} of {shape[-1]}"
        found.append(f"drawn: {rows_}, {columns_}{rest}")
    elif len(shape) > 2:
        found.append("drawn: the first of the leading dimensions")
    return tuple(found)


def _columns(of: ThreadMap) -> int:
    shape = of.typed.shape
    return min(shape[-1], _COLUMNS if len(shape) > 1 else 64)


def svg(of: ThreadMap) -> str:
    """Of the upper left corner, 64 by 128 elements at most. A box says its thread where it is wide enough, and in its
    tooltip the element, warp, lane and registers. Colours are light, on any background.
    """
    shape = of.typed.shape
    columns = _columns(of)
    found = rows(of, _ROWS, columns)
    shortest = min((run.end - run.start for _, runs in found for run in runs), default=1)
    each = min(_CELL[1], max(_CELL[0], _LETTER * 5 / shortest, _WIDTH / columns if columns * _CELL[1] > _WIDTH else 0))
    width, height = _LEFT + columns * each + 1, _TOP + len(found) * _ROW + 1
    title = escape(f"{of.typed.text}: {'; '.join(facts(of))}")
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" font-family="monospace" font-size="10" text-anchor="middle">'
        ),
        f"<title>{title}</title>",
    ]
    step = max(1, shortest, 1 << max(0, (int(30 / each)).bit_length()))
    parts += [
        f'<text x="{_LEFT + column * each + 2:.1f}" y="14" fill="#888" text-anchor="start">{column}</text>'
        for column in range(0, columns, step)
    ]
    boxes: list[str] = []
    letters: list[str] = []
    for index, (label, runs) in enumerate(found):
        top = _TOP + index * _ROW
        parts.append(f'<text x="{_LEFT - 6}" y="{top + 13}" fill="#888" text-anchor="end">{label}</text>')
        start = int(label) if len(shape) == 1 else 0
        for run in runs:
            left, long = _LEFT + (run.start - start) * each, (run.end - run.start) * each
            boxes.append(
                f'<rect x="{left:.1f}" y="{top}" width="{long:.1f}" height="{_ROW}" fill="{_colour(of, run)}">'
                f"<title>{escape(_words(of, run, label))}</title></rect>"
            )
            name = name_of(of, run)
            if len(name) * _LETTER <= long:
                letters.append(f'<text x="{left + long / 2:.0f}" y="{top + 13}">{name}</text>')
    parts += ['<g stroke="#555" stroke-width="0.5">', *boxes, '</g><g fill="#000" pointer-events="none">', *letters]
    return "".join([*parts, "</g></svg>"])


def _words(of: ThreadMap, run: Run, row: str) -> str:
    columns = str(run.start) if run.end - run.start == 1 else f"{run.start}–{run.end - 1}"
    where = f"row {row}, columns {columns}" if len(of.typed.shape) > 1 else f"elements {columns}"
    numbers = ", ".join(map(str, run.registers)) if len(run.registers) <= 16 else f"{run.registers[0]} and more"
    if of.shared:
        return f"{where}: offset {run.registers[0]} elements"
    block = f"block {run.block}, " if of.linear.count("block") > 1 else ""
    return f"{where}: {block}warp {run.warp}, lane {run.lane}, registers {numbers}"


def _colour(of: ThreadMap, run: Run) -> str:
    """Warps differ in hue, lanes in lightness; in memory, banks in hue: elements of one colour stand in each other's
    way.
    """
    if of.shared:
        return _hex(run.registers[0] * of.element_bytes % _BANKS / _BANKS, 0.7)
    return _hex(run.warp * 0.38 + run.block * 0.17, run.lane / of.lanes)


def _hex(hue: float, shade: float) -> str:
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue % 1, 0.62 + 0.26 * shade, 0.6))
    return f"#{red:02x}{green:02x}{blue:02x}"
