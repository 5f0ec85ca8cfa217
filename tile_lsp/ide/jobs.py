"""How a job, and where an argument came from, is said in one line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tile_lsp.analysis.notebook import SUFFIX, cell_position
from tile_lsp.analysis.snapshot import ArgumentView, JobView, KernelView, State
from tile_lsp.model.job import Config, Job
from tile_lsp.model.location import SourceRange


def config_label(config: Config) -> str:
    """`"sm_90 · num_ctas=2"`."""
    parts = [config.target or "no target", *(f"{name}={value}" for name, value in config.hints)]
    if config.symbol:
        parts.append(f"symbol={config.symbol}")
    return " · ".join(parts)


def job_label(view: JobView) -> str:
    return view.label or config_label(view.job.config)


def assumed(view: JobView) -> tuple[ArgumentView, ...]:
    return tuple(argument for argument in view.arguments if argument.origin == "assumed")


def arguments_line(job: Job) -> str:
    """`"A=f16[4096,4096] tm=128"`."""
    return " ".join(f"{argument.name}={argument.spec}" for argument in job.arguments)


def job_line(kernel: KernelView, *, code: bool = True) -> str:
    """`"matmul for sm_90 · num_ctas=2; assumed: A, B"`, or what stands in the way of a job."""
    quote = "`" if code else ""
    view = kernel.job
    if view is None:
        return f"{quote}{kernel.name}{quote}: {state_word(kernel)}"
    line = f"{quote}{kernel.name}{quote} for {job_label(view)}"
    if names := assumed(view):
        line += "; assumed: " + ", ".join(f"{quote}{argument.argument.name}{quote}" for argument in names)
    return line


def state_word(kernel: KernelView) -> str:
    """How a kernel stands, where there is room for a word or two."""
    return "not compiled" if kernel.state is State.BLOCKED else kernel.state.value


NEVER_READ = "and no version of it could be read so far"
_STATES = {
    State.COMPILING: "compiling: the types shown are the last good ones",
    State.STALE: "stale: the text is broken, the types shown are the last good ones",
    State.FAILED: "the compiler reports an error: types up to it are shown",
    State.BLOCKED: "nothing was compiled",
}


def state_line(kernel: KernelView) -> str | None:
    """What keeps the kernel's types from being those of the text, or None."""
    if kernel.state is State.COMPILING and kernel.inference is None:
        return "compiling"
    if kernel.state is State.STALE and kernel.inference is None:
        return f"stale: the text is broken, {NEVER_READ}"
    return _STATES.get(kernel.state)


def where(place: SourceRange, cells: Sequence[int] = (), relative_to: str | None = None) -> str:
    """`"helpers.py:12"`: the file by its name, or by its path from the folder of another where the names are equal.

    `"tune.ipynb:cell 3:12"` in a notebook, whose `cells` are those of any of its kernels: it is no other file's helper.
    """
    name = os.path.basename(place.path)
    if relative_to and relative_to != place.path and os.path.basename(relative_to) == name:
        name = os.path.relpath(place.path, os.path.dirname(relative_to))
    return f"{name}:{line_name(place, cells)}"


def line_name(place: SourceRange, cells: Sequence[int]) -> str:
    """`"12"`, `"cell 3:12"`."""
    if not cells or not place.path.endswith(SUFFIX):
        return str(place.span.line)
    cell, line = cell_position(cells, place.span.line)
    return f"cell {cell}:{line}"
