"""A workspace on disk with a session over it, and a note of what ran since one last looked."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.patience import PATIENCE
from tile_lsp.analysis.snapshot import KernelView
from tile_lsp.engine.events import SessionEvent
from tile_lsp.engine.session import Session
from tile_lsp.engine.stats import Stats
from tile_lsp.model.job import Job
from tile_lsp.model.outcome import Artifact, Fault
from tile_lsp.model.settings import Settings, decode
from tile_lsp.model.stage import Stage


class Workbench:
    def __init__(self, folder: Path, session: Session) -> None:
        self.folder = folder
        self.session = session
        self._seen = session.stats()

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def write(self, name: str, text: str) -> None:
        """Put a file on disk, and tell the session as a watcher would."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8", newline="")
        self.session.files_changed([str(path)])

    async def edit(self, name: str, text: str) -> None:
        """The editor's text becomes this one; returns when its types are there."""
        self.session.change(self.path(name), textwrap.dedent(text), 1)
        await self.session.inferred(self.path(name))

    async def open(self, name: str) -> None:
        self.session.open(self.path(name))
        await self.session.inferred(self.path(name))

    def text(self, name: str) -> str:
        return self.session.snapshot().files[self.path(name)].text

    def kernel(self, name: str, kernel: str | None = None) -> KernelView:
        kernels = self.session.snapshot().files[self.path(name)].kernels
        return next(view for view in kernels if kernel in (None, view.name))

    async def show(self, name: str, stage: Stage, kernel: str | None = None, job: Job | None = None) -> Artifact:
        shown = await self.session.artifact(self.path(name), self.kernel(name, kernel).name, stage, job)
        assert not isinstance(shown, Fault), shown
        return shown

    def types_of(self, name: str, variable: str, kernel: str | None = None) -> set[str]:
        inference = self.kernel(name, kernel).inference
        assert inference is not None
        return {record.type for record in inference.types if record.name == variable and record.kind != "load"}

    def ran(self) -> dict[str, int]:
        """What was started since the last call, by name; what was not started is left out."""
        now, before = self.session.stats(), self._seen
        self._seen = now
        return {name: count for name, count in _difference(now, before).items() if count}


def _difference(now: Stats, before: Stats) -> dict[str, int]:
    tools = {name: count - before.tools.get(name, 0) for name, count in now.tools.items()}
    return {
        "inferences": now.inferences - before.inferences,
        "codegens": now.codegens - before.codegens,
        **tools,
    }


@asynccontextmanager
async def workbench(
    folder: Path,
    files: Mapping[str, str],
    *,
    cache: Path | None = None,
    idle_delay: float | None = None,
    on_event: Callable[[SessionEvent], None] = lambda event: None,
    **settings: object,
) -> AsyncIterator[Workbench]:
    """Nothing is compiled in the background unless `idle_delay` is given. `settings` as in `[tool.tile-lsp]`; no step
    runs out of time unless they say so."""
    session = Session(
        settings_of(folder, cache, settings),
        roots=[str(folder)],
        trusted=True,
        idle_delay=idle_delay,
        on_event=on_event,
    )
    bench = Workbench(folder, session)
    try:
        for name, text in files.items():
            bench.write(name, text)
        yield bench
    finally:
        await session.close()


def settings_of(folder: Path, cache: Path | None, settings: Mapping[str, object]) -> Settings:
    decoded, problems = decode(
        {
            "python": sys.executable,
            "cache": {"directory": str(cache or folder / ".cache")},
            "timeouts": {"inference": PATIENCE, "tool": PATIENCE},
            **settings,
        }
    )
    assert not problems
    return decoded
