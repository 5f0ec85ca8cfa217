"""`make bench`: all figures in one run, as ratios to the same work by hand on the same machine at the same time."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Sequence
from typing import Any

from tile_lsp.engine import collector

from . import cuda_figures as cuda
from . import numba_figures as numba
from . import triton_figures as triton
from .figures import (
    ATTENTION,
    CUTILE,
    MATMUL,
    OCCUPANCIES,
    VECTOR_ADD,
    edit_to_sass,
    many_configs,
    reopen,
    same_meaning,
    start,
    warm_hovers,
)
from .workplace import Case, Figure, Language, bench, edit_to_types, second_config


async def main() -> None:
    collector.calm()  # as the server does
    print(
        f"cuTile on {os.cpu_count()} cores, Python {platform.python_version()}; medians, garbage collected in between\n"
    )
    print(f"{'':44} {'ours':>10} {'by hand':>10} {'ratio':>7}  {'limit':16}")
    async with bench(CUTILE) as it:
        await show(edit_to_types(it, VECTOR_ADD, None))
        await show(edit_to_types(it, MATMUL, 1.5))
        await show(edit_to_types(it, ATTENTION, 1.5))
        await show(edit_to_sass(it, MATMUL, 0.8))
        await show(second_config(it, MATMUL, 1.05, OCCUPANCIES))
        await show(many_configs(it, MATMUL, 0.3))
        await show(same_meaning(it, MATMUL))
        await show(reopen(it))
        for figure in (*await start(it), *await warm_hovers(it)):
            print_figure(figure)
    await both(numba.NUMBA, (numba.SAXPY, numba.MATMUL), numba.OPTIONS)
    await both(triton.TRITON, (triton.ADD, triton.MATMUL), triton.OPTIONS)
    if triton.TRITON.python.exists():
        await show(triton.first_compile(triton.MATMUL, 0.5))
    if cuda.is_here():
        async with cuda.bench() as it:
            await show(cuda.edit_to_types(it, cuda.VECTOR_ADD, None))
            await show(cuda.edit_to_types(it, cuda.MATMUL, 1.5))
            await show(cuda.edit_to_sass(it, cuda.MATMUL, 0.8))
            if (nvcc := cuda.find_nvcc()) is not None:
                await show(cuda.edit_to_sass(it, cuda.MATMUL, 0.8, nvcc=nvcc))
    else:
        print("cuda: cuda-bindings is not here; pip install '.[cuda]'")


async def both(language: Language, cases: Sequence[Case], options: Sequence[dict[str, Any]]) -> None:
    """An edit to new types, and another config of a known kernel, where the language's compiler is installed."""
    if not language.python.exists():
        print(f"{language.name}: {language.python} is not there; `make venvs` makes it")
        return
    async with bench(language) as it:
        for number, case in enumerate(cases):
            # The limit is for kernels of a size; the first one is small, to show what every edit costs.
            await show(edit_to_types(it, case, 1.5 if number else None))
        for case in cases:
            await show(second_config(it, case, 1.05, options))


async def show(figure: Awaitable[Figure]) -> None:
    print_figure(await figure)


def print_figure(figure: Figure) -> None:
    def amount(value: float) -> str:
        return f"{value * 1e3:.1f} ms" if figure.unit == "ms" else f"{value:.0f} {figure.unit}"

    by_hand = amount(figure.by_hand) if figure.by_hand is not None else ""
    ratio = f"{figure.ratio or figure.ours / figure.by_hand:.2f} ×" if figure.by_hand else ""
    verdict = ("holds" if figure.holds else "MISSED") if figure.limit else ""
    line = f"{figure.path:44} {amount(figure.ours):>10} {by_hand:>10} {ratio:>7}  {figure.limit:16} {verdict:7}"
    print(f"{line} {figure.note}".rstrip(), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
