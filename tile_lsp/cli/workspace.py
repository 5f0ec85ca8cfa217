"""The workspace of a file that a command names: its folders, its settings, and a session of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from typing import NamedTuple

import msgspec

from tile_lsp.analysis.notebook import SUFFIX, Unreadable, read_notebook
from tile_lsp.engine.analyse import FileAnalysis, analyse
from tile_lsp.engine.events import SessionEvent, Waiting
from tile_lsp.engine.files import Files
from tile_lsp.engine.reading import Refused, read_plain
from tile_lsp.engine.session import Session
from tile_lsp.engine.settings import workspace_settings
from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.settings import Settings

from .exits import UsageError
from .output import write_error
from .source import short_path

#: What stands in the top folder of a project.
_MARKS = ("tile-lsp.toml", "pyproject.toml", ".git", "setup.py", "setup.cfg")


class OneFile(NamedTuple):
    """A file with what a session for it needs."""

    path: str
    root: str
    settings: Settings

    @classmethod
    def at(cls, path: str, python: str | None = None, *, checked: bool = True) -> OneFile:
        """`python`: an interpreter that wins over the settings'. UsageError if it is `checked` and there is none."""
        root = project_root(os.path.dirname(path))
        if python and checked:
            _check_interpreter(python, root)
        return cls(path, root, settings_of(root, python))

    def analyse(self, overrides: Mapping[str, str] = {}) -> FileAnalysis:
        """Its kernels, with their front ends and what is wrong with them; nothing is executed for it.

        `overrides`: kernel → job comment whose items win over its own. What is wrong with those is on line 0.
        """
        files = Files()
        analysis = analyse(
            self.path,
            files.read,
            roots=(self.root,),
            editable={},
            frontends=FRONTENDS,
            settings=self.settings,
            overrides=overrides,
            refusal=files.refusal,
        )
        if analysis is None:
            raise UsageError(f"{short_path(self.path)} {_why_unreadable(self.path)}")
        return analysis

    def with_python(self, python: str) -> OneFile:
        return self._replace(settings=msgspec.structs.replace(self.settings, python=python))

    @contextlib.asynccontextmanager
    async def session(
        self, *, idle_delay: float | None = None, on_event: Callable[[SessionEvent], None] = lambda event: None
    ) -> AsyncIterator[Session]:
        """A session closed with all its processes at the end; without `idle_delay` one that does nothing unasked."""

        def heard(event: SessionEvent) -> None:
            if isinstance(event, Waiting) and event.begun:
                write_error(
                    f"tile-lsp: waiting for {event.python} to start; Ctrl+C ends that, --python names another one"
                )
            on_event(event)

        session = Session(self.settings, roots=(self.root,), trusted=True, idle_delay=idle_delay, on_event=heard)
        try:
            yield session
        finally:
            await session.close()


def _check_interpreter(python: str, root: str) -> None:
    """A path from here, a name on PATH, or one from the project's folder."""
    tried = os.path.abspath(python) if os.sep in python else shutil.which(python) or os.path.join(root, python)
    if not os.path.exists(tried):
        raise UsageError(f"--python {python}: there is no such interpreter; --python names one that has the compiler")
    if not os.path.isfile(tried) or not os.access(tried, os.X_OK):
        raise UsageError(f"--python {python}: it can't be run; --python names an interpreter, not its folder")


def _why_unreadable(path: str) -> str:
    try:
        data, _ = read_plain(path)
    except Refused as refused:
        return str(refused)
    except OSError:
        return "is gone"
    cells = read_notebook(data) if path.endswith(SUFFIX) else ()
    return f"can't be read: {cells.message}" if isinstance(cells, Unreadable) else "is gone"


def project_root(folder: str) -> str:
    """The nearest folder from here upwards that looks like the top of a project, else the folder itself."""
    current = folder
    while True:
        if any(os.path.exists(os.path.join(current, mark)) for mark in _MARKS):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return folder
        current = parent


def settings_of(root: str, python: str | None = None) -> Settings:
    """What is wrong with them goes to standard error: no command fails for it."""
    files = Files()
    settings, problems, _ = workspace_settings((root,), files.read, refusal=files.refusal)
    for problem in problems:
        line, column = problem.span.line, problem.span.column + 1
        write_error(f"{short_path(problem.path)}:{line}:{column}: warning: {problem.message}")
    if python and os.sep in python:
        python = os.path.abspath(python)  # a bare name is looked for on PATH
    return msgspec.structs.replace(settings, python=python) if python else settings
