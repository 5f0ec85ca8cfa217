"""`tile-lsp watch PATH`: kernels under a folder, kept compiled while they are edited; what changed, as it changes."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence

from tile_lsp.analysis.snapshot import KernelView, ProblemView, State
from tile_lsp.engine.events import DiagnosticsChanged, KernelChanged, SessionEvent
from tile_lsp.engine.reading import read_plain
from tile_lsp.engine.session import Session
from tile_lsp.engine.watching import Watcher, sources_under
from tile_lsp.frontends import FRONTENDS
from tile_lsp.ide.resources import resources_line
from tile_lsp.model.outcome import Fault

from .exits import Exit
from .names import checked_path
from .output import write
from .source import short_path
from .visible import visible
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
        self._watcher: Watcher | None = None
        self._followed: frozenset[str] = frozenset()

    async def run(self) -> Exit:
        """Until the terminal's user ends it."""
        async with self._workplace.session(idle_delay=_DELAY, on_event=self._on_event) as session:
            self._session = session
            watcher = self._watcher = Watcher([self._folder], self._look)
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
        if self._session is None or not isinstance(event, KernelChanged | DiagnosticsChanged):
            return
        file = self._session.snapshot().files.get(event.path)
        kernels = file.kernels if file is not None else ()
        # All of them: of one that stops parsing, or is mended as it was, only what is wrong in its file is new.
        for kernel in kernels:
            self._table.show(kernel, file.problems if file is not None else ())
        self._table.keep(event.path, {kernel.name for kernel in kernels})
        self._follow(self._session.files_read())

    def _follow(self, paths: frozenset[str]) -> None:
        """The data that kernels' code reads, wherever it is."""
        assert self._session is not None
        if self._watcher is not None and paths != self._followed:
            new, self._followed = paths - self._followed, paths
            self._watcher.follow(paths)
            # One may have been written before anybody looked.
            asyncio.get_running_loop().call_soon(self._session.files_changed, sorted(new))


def _mentions_compiler(path: str) -> bool:
    """Cheap to ask of each file of a large tree; a kernel's file says certain words somewhere in its text."""
    try:
        return _COMPILERS.search(read_plain(path)[0]) is not None
    except OSError:
        return False


def rows(kernel: KernelView, problems: Sequence[ProblemView] = ()) -> Iterator[tuple[str, str, str]]:
    """For each job of a kernel: its label, how it stands, and what it costs or what is wrong with it.

    `problems`: what is wrong in its file, which is all that there is to say of a kernel that can't be read.
    """
    if kernel.state is State.STALE and not kernel.faults:
        inside = [problem for problem in problems if kernel.span.contains(problem.span.line, problem.span.column)]
        yield "", "error", next((problem.message for problem in (*inside, *problems)), "it can't be read")
        return
    if kernel.state is State.COMPILING:
        yield "", "compiling", ""
        return
    if not kernel.jobs or any(not fault.passed_over for fault in kernel.faults):
        yield "", "error" if kernel.faults else kernel.state.value, _first_line(kernel.faults)
        return
    how = "cached" if kernel.cached else "compiled"
    for job in kernel.jobs:
        if faults := job.faults or (kernel.faults if job is kernel.job else ()):
            yield job.label, "passed over" if faults[0].passed_over else "error", _first_line(faults)
        else:
            yield job.label, how, resources_line(job) or ""


def _first_line(faults: Sequence[Fault]) -> str:
    return faults[0].message.splitlines()[0] if faults else ""


class _Lines:
    """For pipes and logs: a line for each change, none for what stayed as it was."""

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str], tuple[tuple[str, str, str], ...]] = {}

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, kernel: KernelView, problems: Sequence[ProblemView]) -> None:
        key = kernel.path, kernel.name
        before = self._shown.get(key, ())
        now = self._shown[key] = tuple(rows(kernel, problems))
        for row in now:
            if row not in before:
                self._write(key, row)
        sys.stdout.flush()

    def keep(self, path: str, names: Collection[str]) -> None:
        """Of a file's kernels only these are left."""
        for key in [key for key in self._shown if key[0] == path and key[1] not in names]:
            del self._shown[key]
            self._write(key, ("", "removed", ""))
        sys.stdout.flush()

    def _write(self, key: tuple[str, str], row: tuple[str, str, str]) -> None:
        path, name = key
        write(visible("  ".join(part for part in (f"{short_path(path)}::{name}", *row) if part)) + "\n")


class _LiveTable:
    """For a terminal: a table that is brought up to date in its place."""

    def __init__(self, folder: str) -> None:
        from rich.live import Live

        self._folder = folder
        self._rows: dict[tuple[str, str], tuple[tuple[str, str, str], ...]] = {}
        self._live = Live(auto_refresh=False)

    def __enter__(self) -> _LiveTable:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, kernel: KernelView, problems: Sequence[ProblemView]) -> None:
        key = kernel.path, kernel.name
        found = tuple(rows(kernel, problems))
        if self._rows.get(key) != found:
            self._rows[key] = found
            self._draw()

    def keep(self, path: str, names: Collection[str]) -> None:
        """Of a file's kernels only these are left."""
        gone = [key for key in self._rows if key[0] == path and key[1] not in names]
        for key in gone:
            del self._rows[key]
        if gone:
            self._draw()

    def _draw(self) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD)
        for column in ("kernel", "config", "state", "resources"):
            table.add_column(column, overflow="fold")
        for (path, name), found in sorted(self._rows.items()):
            for index, (label, state, detail) in enumerate(found):
                title = f"{os.path.relpath(path, self._folder)}::{name}" if index == 0 else ""
                table.add_row(Text(title), Text(label), Text(state, style=_STYLES.get(state, "")), Text(detail))
        self._live.update(table, refresh=True)


_STYLES = {"compiled": "green", "cached": "dim green", "error": "bold red", "compiling": "yellow"}
