"""`tile-lsp watch PATH`: kernels under a folder, kept compiled while they are edited; what changed, as it changes."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator, Sequence

from tile_lsp.analysis.snapshot import KernelView, State
from tile_lsp.engine.events import KernelChanged, SessionEvent
from tile_lsp.engine.session import Session
from tile_lsp.engine.watching import Watcher, sources_under
from tile_lsp.frontends import FRONTENDS
from tile_lsp.ide.resources import resources_line
from tile_lsp.model.outcome import Fault

from .exits import Exit
from .names import checked_path
from .output import write
from .source import short_path
from .workspace import OneFile

_COMPILERS = re.compile(
    rb"\b(" + "|".join(sorted({word for frontend in FRONTENDS for word in frontend.language.words})).encode() + rb")\b"
)
_DELAY = 0.2
"""Seconds without an edit before code is generated: a save is one edit, not many."""


def run(path: str, python: str | None) -> Exit:
    return asyncio.run(_Watch(checked_path(path), python).run())


class _Watch:
    def __init__(self, path: str, python: str | None) -> None:
        self._path = path
        self._folder = path if os.path.isdir(path) else os.path.dirname(path)
        self._workplace = OneFile.at(os.path.join(self._folder, "kernel.py"), python)
        self._table = _LiveTable(self._folder) if sys.stdout.isatty() else _Lines()
        self._session: Session | None = None

    async def run(self) -> Exit:
        """Until the terminal's user ends it."""
        async with self._workplace.session(idle_delay=_DELAY, on_event=self._on_event) as session:
            self._session = session
            watcher = Watcher([self._folder], self._look)
            await watcher.start()
            try:
                with self._table:
                    self._look(list(sources_under(self._path)))
                    await asyncio.Event().wait()
            finally:
                watcher.close()
        return Exit.OK

    def _look(self, paths: Sequence[str]) -> None:
        """Open what is new and may hold kernels, and have the rest looked at again."""
        assert self._session is not None
        for path in paths:
            if not path.endswith((".py", ".ipynb", ".cu", ".cuh")) or self._path not in (path, self._folder):
                continue
            if _mentions_compiler(path):
                self._session.open(path)
        self._session.files_changed(paths)

    def _on_event(self, event: SessionEvent) -> None:
        if not isinstance(event, KernelChanged) or self._session is None:
            return
        file = self._session.snapshot().files.get(event.path)
        for kernel in file.kernels if file is not None else ():
            if kernel.name == event.kernel:
                self._table.show(kernel)


def _mentions_compiler(path: str) -> bool:
    """Cheap to ask of each file of a large tree; a kernel's file says certain words somewhere in its text."""
    try:
        with open(path, "rb") as file:
            return _COMPILERS.search(file.read()) is not None
    except OSError:
        return False


def rows(kernel: KernelView) -> Iterator[tuple[str, str, str]]:
    """For each job of a kernel: its label, how it stands, and what it costs or what is wrong with it."""
    if kernel.state is State.COMPILING:
        yield "", "compiling", ""
        return
    if kernel.faults or not kernel.jobs:
        yield "", "error" if kernel.faults else kernel.state.value, _first_line(kernel.faults)
        return
    how = "cached" if kernel.cached else "compiled"
    for job in kernel.jobs:
        if job.faults:
            yield job.label, "error", _first_line(job.faults)
        else:
            yield job.label, how, resources_line(job) or ""


def _first_line(faults: Sequence[Fault]) -> str:
    return faults[0].message.splitlines()[0] if faults else ""


class _Lines:
    """For pipes and logs: a line for each change, none for what stayed as it was."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[tuple[str, str, str], ...]] = {}

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, kernel: KernelView) -> None:
        name = f"{short_path(kernel.path)}::{kernel.name}"
        before = self._shown.get(name, ())
        now = self._shown[name] = tuple(rows(kernel))
        for row in now:
            if row not in before:
                write("  ".join(part for part in (name, *row) if part) + "\n")
        sys.stdout.flush()


class _LiveTable:
    """For a terminal: a table that is brought up to date in its place."""

    def __init__(self, folder: str) -> None:
        from rich.live import Live

        self._folder = folder
        self._kernels: dict[tuple[str, str], KernelView] = {}
        self._live = Live(auto_refresh=False)

    def __enter__(self) -> _LiveTable:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, kernel: KernelView) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        self._kernels[kernel.path, kernel.name] = kernel
        table = Table(box=box.SIMPLE_HEAD)
        for column in ("kernel", "config", "state", "resources"):
            table.add_column(column, overflow="fold")
        for (path, name), view in sorted(self._kernels.items()):
            for index, (label, state, detail) in enumerate(rows(view)):
                title = f"{os.path.relpath(path, self._folder)}::{name}" if index == 0 else ""
                table.add_row(Text(title), Text(label), Text(state, style=_STYLES.get(state, "")), Text(detail))
        self._live.update(table, refresh=True)


_STYLES = {"compiled": "green", "cached": "dim green", "error": "bold red", "compiling": "yellow"}
