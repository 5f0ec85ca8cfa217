"""`make bench`: all figures in one run, as ratios to the same work by hand on the same machine at the same time."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable

from . import numba_figures, triton_figures
from .figures import (
    ATTENTION,
    MATMUL,
    VECTOR_ADD,
    Figure,
    bench,
    edit_to_sass,
    edit_to_types,
    many_configs,
    reopen,
    same_meaning,
    second_config,
    start,
    warm_hovers,
)


async def main() -> None:
    print(
        f"cuTile on {os.cpu_count()} cores, Python {platform.python_version()}; medians, garbage collected in between\n"
    )
    print(f"{'':44} {'ours':>10} {'by hand':>10} {'ratio':>7}  {'limit':16}")
    async with bench() as it:
        await show(edit_to_types(it, VECTOR_ADD, None))
        await show(edit_to_types(it, MATMUL, 1.5))
        await show(edit_to_types(it, ATTENTION, 1.5))
        await show(edit_to_sass(it, MATMUL, 0.8))
        await show(second_config(it, MATMUL, 1.05))
        await show(many_configs(it, MATMUL, 0.3))
        await show(same_meaning(it, MATMUL))
        await show(reopen(it))
        for figure in (*await start(it), *await warm_hovers(it)):
            print_figure(figure)
    if numba_figures.PYTHON.exists():
        async with numba_figures.bench() as it:
            await show(numba_figures.edit_to_types(it, numba_figures.SAXPY, 1.5))
            await show(numba_figures.edit_to_types(it, numba_figures.MATMUL, 1.5))
            await show(numba_figures.second_config(it, numba_figures.SAXPY, 1.05))
            await show(numba_figures.second_config(it, numba_figures.MATMUL, 1.05))
    if triton_figures.PYTHON.exists():
        async with triton_figures.bench() as it:
            await show(triton_figures.edit_to_types(it, triton_figures.ADD, 1.5))
            await show(triton_figures.edit_to_types(it, triton_figures.MATMUL, 1.5))
            await show(triton_figures.second_config(it, triton_figures.ADD, 1.05))
            await show(triton_figures.second_config(it, triton_figures.MATMUL, 1.05))
        await show(triton_figures.first_compile(triton_figures.MATMUL, 0.5))


async def show(figure: Awaitable[Figure]) -> None:
    print_figure(await figure)


def print_figure(figure: Figure) -> None:
    def amount(value: float) -> str:
        return f"{value * 1e3:.1f} ms" if figure.unit == "ms" else f"{value:.0f} {figure.unit}"

    by_hand = amount(figure.by_hand) if figure.by_hand is not None else ""
    ratio = f"{figure.ours / figure.by_hand:.2f} ×" if figure.by_hand else ""
    verdict = ("holds" if figure.holds else "MISSED") if figure.limit else ""
    line = f"{figure.path:44} {amount(figure.ours):>10} {by_hand:>10} {ratio:>7}  {figure.limit:16} {verdict:7}"
    print(f"{line} {figure.note}".rstrip(), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
