"""The folders of the workspace. Each has settings, an interpreter, modules, and with them a session of its own: what
one folder has says nothing of another's. A file belongs to the innermost folder around it, else to the first.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tile_lsp.analysis.snapshot import Snapshot
from tile_lsp.model.settings import Settings

if TYPE_CHECKING:
    from tile_lsp.engine.session import Session
    from tile_lsp.engine.settings import FileProblem
    from tile_lsp.engine.stats import Stats

T = TypeVar("T")


class Folder:
    """One folder; `path` and `uri` are None for the one that stands in where the workspace has none."""

    def __init__(self, uri: str | None, path: str | None, client_settings: dict[str, Any]) -> None:
        self.uri = uri
        """As the client spells it."""
        self.path = path
        self.client_settings = client_settings
        self.problems: tuple[FileProblem, ...] = ()
        """What is wrong in its settings files."""
        self.said: tuple[str, ...] = ()
        """What is wrong in the client's settings of it."""
        self.session: Session | None = None
        """None before its settings are known, and after the end."""
        self.changed = asyncio.Event()
        """Set once another session is the one to ask; then this is another event."""

    @property
    def roots(self) -> tuple[str, ...]:
        return (self.path,) if self.path is not None else ()

    @property
    def settings(self) -> Settings:
        return self.session.settings if self.session is not None else Settings()

    def holds(self, path: str) -> bool:
        return self.path is not None and path.startswith(os.path.join(self.path, ""))

    def replace(self, session: Session | None) -> Session | None:
        """Put another session in the place of the present one, which is returned."""
        old, self.session = self.session, session
        self.reconsider()
        return old

    def reconsider(self) -> None:
        """Have those who wait for an answer ask again."""
        self.changed.set()
        self.changed = asyncio.Event()


class Folders:
    """There is always one at least. Never waits, but in `ask`."""

    def __init__(self) -> None:
        self._all: tuple[Folder, ...] = (Folder(None, None, {}),)
        self.over = False
        """Closed for good."""
        self._merged: tuple[tuple[Snapshot, ...], Snapshot] | None = None

    def __iter__(self) -> Iterator[Folder]:
        return iter(self._all)

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(root for folder in self._all for root in folder.roots)

    @property
    def sessions(self) -> tuple[Session, ...]:
        return tuple(folder.session for folder in self._all if folder.session is not None)

    def of(self, path: str) -> Folder:
        return max(self._all, key=lambda folder: len(folder.path or "") if folder.holds(path) else -1)

    def set(
        self, named: Sequence[tuple[str, str]], client_settings: dict[str, Any]
    ) -> tuple[list[Folder], list[Folder]]:
        """Make these, as URI and path, the folders; `client_settings` are for those that are new.

        Returns the new ones, which have no session yet, and those that are gone, whose sessions are to be closed.
        """
        known = {folder.path: folder for folder in self._all}
        wanted: dict[str | None, str | None] = {path: uri for uri, path in named} or {None: None}
        before = self._all
        self._all = tuple(known.get(path) or Folder(uri, path, client_settings) for path, uri in wanted.items())
        for folder in before:
            folder.reconsider()
        return [one for one in self._all if one not in before], [one for one in before if one not in self._all]

    def close(self) -> list[Session]:
        """There are no sessions any more; returns those that there were."""
        self.over = True
        return [old for folder in self._all if (old := folder.replace(None)) is not None]

    async def ask(self, path: str, work: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
        """Wait for something of a file's session. If another takes its place meanwhile, the question goes to that."""
        while not self.over:
            folder = self.of(path)
            changed = asyncio.ensure_future(folder.changed.wait())
            asked = asyncio.ensure_future(work(folder.session)) if folder.session is not None else None
            try:
                await asyncio.wait({changed, asked} if asked else {changed}, return_when=asyncio.FIRST_COMPLETED)
                if asked is not None and not changed.done():
                    return asked.result()
            finally:
                changed.cancel()
                if asked is not None:
                    asked.cancel()
        raise asyncio.CancelledError

    def snapshot(self, trusted: bool) -> Snapshot:
        """All that is known. `trusted`: where there is no session yet."""
        parts = tuple(session.snapshot() for session in self.sessions)
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Snapshot({}, trusted=trusted)
        if self._merged is None or any(new is not old for new, old in zip(parts, self._merged[0], strict=False)):
            self._merged = None
        if self._merged is None or len(parts) != len(self._merged[0]):
            files = {path: view for part in reversed(parts) for path, view in part.files.items()}
            world = sum(part.world for part in parts)
            self._merged = parts, Snapshot(files, world, all(part.trusted for part in parts))
        return self._merged[1]

    def stats(self) -> Stats:
        """Of all sessions together."""
        from tile_lsp.engine.stats import Stats, StoreStats

        found = [session.stats() for session in self.sessions]
        tools: Counter[str] = Counter()
        for one in found:
            tools.update(one.tools)
        return Stats(
            inferences=sum(one.inferences for one in found),
            codegens=sum(one.codegens for one in found),
            tools=dict(tools),
            store=StoreStats(sum(one.store.hits for one in found), sum(one.store.misses for one in found)),
            running=sum(one.running for one in found),
            loads=sum(one.loads for one in found),
        )
