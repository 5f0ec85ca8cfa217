"""The session: files that an editor holds, their kernels, and the background work that keeps their types true.

All methods that are not `async` return at once; all state is touched on the event loop only. Analysis of text runs in
one thread beside it, that of very long text in another, inference and code generation in workers and tools. The newest
text always wins: work for an older one is dropped as soon as its result can't be used, and what an edit leaves equal is
not touched at all.
"""

from __future__ import annotations

import asyncio
import difflib
import functools
import logging
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec
import platformdirs

from tile_lsp.analysis.notebook import SUFFIX, cell_starts
from tile_lsp.analysis.snapshot import FileView, ProblemView, Snapshot
from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.job import Job
from tile_lsp.model.location import Span
from tile_lsp.model.outcome import Artifact, Fault, FaultKind, Severity
from tile_lsp.model.settings import Settings
from tile_lsp.model.stage import Stage

from .analyse import FileAnalysis, analyse
from .compiler import Compiler
from .disassembler import Disassembler
from .events import DiagnosticsChanged, DocumentChanged, KernelChanged, Progress, SessionEvent, Waiting
from .files import Files
from .interpreters import find_interpreter
from .launcher import Launcher
from .newer import Newer
from .planner import Planner
from .stats import Counters, Stats
from .store import Store
from .tools import Tools
from .tracker import KernelTracker
from .workers import Environment, Limits, WorkerPool

log = logging.getLogger(__name__)

_UNDER_WAY = 0.002
"""Seconds after which workers have been given what an edit asks of them, and we have time."""
_LARGE = 1 << 18
"""Characters of a text that is analysed beside the others, which don't wait for it: that may take seconds."""
_FEW = 4
"""Kernels that an edit changes, most often: it is of one, or of a helper."""


class _Unread(NamedTuple):
    thread: ThreadPoolExecutor
    """Where it is analysed, however long it becomes meanwhile: an older text must not be taken after a newer one."""
    over: asyncio.Event


class Session:
    """One workspace of one client. Make it, and use it, on a running event loop; `close` it at the end."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        roots: Sequence[str] = (),
        trusted: bool = True,
        on_event: Callable[[SessionEvent], None] = lambda event: None,
        idle_delay: float | None = 0.4,
        park: bool | None = None,
    ) -> None:
        """`idle_delay`: seconds without an edit before code is generated in the background; None: nothing is done
        unasked. `park`: whether a disassembler is kept ready once one was needed; None: where code is generated in the
        background."""
        self.settings = settings or Settings()
        self.roots = tuple(roots)
        self.trusted = trusted
        self._on_event = on_event
        self._idle_delay = idle_delay
        self._counters = Counters()
        self._pool = WorkerPool(limits=_limits(self.settings), counters=self._counters, on_waiting=self._is_waiting)
        self.waiting: frozenset[str] = frozenset()
        """Interpreters that take their time to start."""
        self.store = Store(cache_directory(self.settings), self._counters, max_bytes=self.settings.cache.size)
        if park is None:
            # Nothing is prepared for what nobody may ask: a parked process costs a second of work ahead of time.
            park = idle_delay is not None
        self._launcher = Launcher()
        self._disassembler = Disassembler(self._counters, self._launcher, park=park and sys.platform == "linux")
        self._compiler = Compiler(
            self._pool,
            self.store,
            Tools(self._counters, self._launcher, timeout=self.settings.timeouts.tool),
            self._disassembler,
        )
        self._planner = Planner(self._pool, self.roots, trusted)
        self._files = Files()
        self._newer = Newer(self._pool, self._files.read)
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._looked: dict[str, tuple[int, int]] = {}
        """Lines that somebody looked at last."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tile-lsp-analysis")
        self._long_thread = ThreadPoolExecutor(1, thread_name_prefix="tile-lsp-long-analysis")
        self._analyses: dict[str, FileAnalysis] = {}
        self._trackers: dict[str, dict[str, KernelTracker]] = {}
        self._overrides: dict[str, dict[str, str]] = {}
        self._only: dict[str, frozenset[str]] = {}
        self._editable: Mapping[str, str] = {}
        self._dirty: set[str] = set()
        self._unread: dict[str, _Unread] = {}
        """Files whose newest text is not analysed yet."""
        self._analysing: dict[ThreadPoolExecutor, asyncio.Task[None]] = {}
        self._preparing: asyncio.TimerHandle | None = None
        self._snapshot: Snapshot | None = None
        self._warming: set[asyncio.Task[None]] = set()

    # -- edits -------------------------------------------------------------------------------------------------------

    def open(
        self,
        path: str,
        text: str | None = None,
        version: int | None = None,
        *,
        kernels: Collection[str] | None = None,
    ) -> None:
        """Keep a file's kernels up to date from now on, or just those named in `kernels`.

        In the editor's text, or in the disk's where `text` is None.
        """
        if kernels is not None:
            self._only[path] = frozenset(kernels)
        if text is not None:
            self._files.open(path, text, version)
        self._warm(path)
        self._touch({path})

    def change(self, path: str, text: str, version: int | None = None) -> None:
        self._files.open(path, text, version)
        self._touch({path, *self._dependents(path)})

    def lend(self, path: str, text: str, version: int | None = None) -> None:
        """The editor's text of a file that is kept up to date elsewhere: kernels here may need it."""
        self._files.open(path, text, version)
        self._touch(self._dependents(path))

    def close_file(self, path: str) -> None:
        """The editor let go of a file: the disk's text counts again for those that depend on it."""
        self._files.close(path)
        self._forget(path)
        self._touch(self._dependents(path))

    def files_changed(self, paths: Sequence[str]) -> None:
        """Files appeared, changed or vanished on disk."""
        self._files.touched()
        self._touch({kept for path in paths for kept in (*self._dependents(path), path) if kept in self._analyses})
        for tracker in self._all_trackers():
            tracker.look_outside(paths)

    def look_again(self) -> None:
        """Files may have changed on disk while nobody watched."""
        self.files_changed(sorted(self.files_read().union(*(analysis.files for analysis in self._analyses.values()))))

    def files_read(self) -> frozenset[str]:
        """Paths of the data that kernels' code reads: a change to one is to be told by `files_changed`."""
        return frozenset().union(*(tracker.files_read() for tracker in self._all_trackers()))

    def override(self, path: str, kernel: str, comment: str) -> None:
        """Let the items of a job comment (`"# tile-lsp: A=f16[64] target=sm_90"`) win over a kernel's own."""
        self._overrides.setdefault(path, {})[kernel] = comment
        self._touch({path})

    def select_job(self, path: str, kernel: str, index: int) -> None:
        tracker = self._trackers.get(path, {}).get(kernel)
        if tracker is not None:
            tracker.select(index)

    def retry(self) -> None:
        """Try again what failed for the environment's sake: something was installed, or mended."""
        self._compiler.forget_failures()
        self._pool.forget_environments()
        for tracker in self._all_trackers():
            tracker.retry()

    def give_up(self, python: str) -> None:
        """Wait no longer for an interpreter to start. What needs it says so; `retry` tries again."""
        self._pool.give_up(python)

    def _is_waiting(self, python: str, begun: bool) -> None:
        self.waiting = self.waiting | {python} if begun else self.waiting - {python}
        self._on_event(Waiting(python, begun))

    def _dependents(self, path: str) -> set[str]:
        return {other for other, analysis in self._analyses.items() if path in analysis.files}

    def _touch(self, paths: set[str]) -> None:
        if not paths:
            return
        self._snapshot = None
        self._dirty |= paths
        for path in paths:
            if path not in self._unread:
                thread = self._long_thread if self._files.length(path) > _LARGE else self._thread
                self._unread[path] = _Unread(thread, asyncio.Event())
            thread = self._unread[path].thread
            if thread not in self._analysing or self._analysing[thread].done():
                self._analysing[thread] = asyncio.ensure_future(self._analyse_dirty(thread))

    def _warm(self, path: str) -> None:
        """Start the worker of a file's interpreter before a kernel asks for it."""
        if not self.trusted or not any(frontend.language.claims(path) for frontend in FRONTENDS):
            return
        task = asyncio.ensure_future(
            self._learn_environment(find_interpreter(path, self.roots, self.settings.python).path, _drivers(path))
        )
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def _learn_environment(self, python: str, drivers: str) -> None:
        environment = await self._pool.environment(python, drivers)
        if isinstance(environment, Environment) and not environment.editable.items() <= self._editable.items():
            self._editable = {**self._editable, **environment.editable}
            self._touch(set(self._analyses))

    # -- analysis ----------------------------------------------------------------------------------------------------

    async def _analyse_dirty(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        while (path := self._next_dirty(thread)) is not None:
            work = functools.partial(
                analyse,
                path,
                self._files.read,
                roots=self.roots,
                editable=self._editable,
                frontends=FRONTENDS,
                settings=self.settings,
                overrides=self._overrides.get(path, {}),
                listing=self._files.listing,
                refusal=self._files.refusal,
            )
            try:
                analysis = await loop.run_in_executor(thread, work)
                if path not in self._dirty:  # else a newer text is there already
                    self._take(path, analysis)
                    if self._preparing is not None:
                        self._preparing.cancel()
                    self._preparing = loop.call_later(_UNDER_WAY, self._prepare)
            except Exception as error:
                log.exception("%s: internal error", path)
                self._take(path, self._failed(path, error))
            if path not in self._dirty:
                self._unread.pop(path).over.set()

    def _prepare(self) -> None:
        """While workers are at it: what the first hover asks of the new text."""
        compiling = [tracker for tracker in self._all_trackers() if tracker.busy]
        if len(compiling) <= _FEW:  # else it would be in the way of the next edit
            for tracker in compiling:
                self._thread.submit(tracker.prepare)

    def _failed(self, path: str, error: Exception) -> FileAnalysis:
        """A fault of our own is shown in the file that it came up in; other files go on, and so does the next edit."""
        text = self._files.read(path) or ""
        problem = ProblemView(f"internal error of tile-lsp: {error!r}", Span(1, 0, 1, 0), Severity.ERROR, "internal")
        return FileAnalysis(path, text, tuple(text.splitlines()) or ("",), (), (problem,), frozenset({path}))

    def _next_dirty(self, thread: ThreadPoolExecutor) -> str | None:
        """Files with an editor's version first: someone looks at them."""
        ours = [path for path in self._dirty if self._unread[path].thread is thread]
        path = max(ours, key=lambda path: (self._files.version(path) is not None, path), default=None)
        self._dirty.discard(path or "")
        return path

    async def _read(self, paths: Iterable[str]) -> None:
        """Until the newest text of these files is analysed."""
        for path in paths:
            while (unread := self._unread.get(path)) is not None:
                await unread.over.wait()

    def _take(self, path: str, analysis: FileAnalysis | None) -> None:
        self._snapshot = None
        if analysis is None:
            self._forget(path)
            return
        analysis = self._told(path, analysis)
        self._analyses[path] = analysis
        known = self._trackers.get(path, {})
        is_new = not known
        trackers: dict[str, KernelTracker] = {}
        only = self._only.get(path)
        kernels = [kernel for kernel in analysis.kernels if only is None or kernel.site.qualname in only]
        for kernel in kernels:
            name = kernel.site.qualname
            trackers[name] = known.pop(name, None) or KernelTracker(
                self._compiler, self._planner, self._changed, idle_delay=self._idle_delay
            )
        self._trackers[path] = trackers
        for gone in known.values():
            gone.close()
        for kernel in kernels:
            trackers[kernel.site.qualname].update(kernel, analysis)
        if path in self._looked and is_new:
            self.look(path, *self._looked[path])  # they looked before there was anything
        self._on_event(DiagnosticsChanged(path))

    def _told(self, path: str, analysis: FileAnalysis) -> FileAnalysis:
        """With what the file's own Python says of broken statements; it is asked where that isn't known."""
        python = find_interpreter(path, self.roots, self.settings.python).path if _has_broken(analysis) else ""
        if python and self.trusted and self._newer.may_learn(analysis, python):
            asking = self._asking.get(path)
            if asking is None or asking.done():  # else it looks at this text next
                self._asking[path] = asyncio.ensure_future(self._learn_syntax(path, python))
        return self._newer.told(analysis, python) if python else analysis

    async def _learn_syntax(self, path: str, python: str) -> None:
        seen: FileAnalysis | None = None
        while (analysis := self._analyses.get(path)) is not None and analysis is not seen:
            seen = analysis
            if await self._newer.learn(analysis, python, _drivers(path)):
                self._touch({path} & self._analyses.keys())

    async def _asked(self, paths: Collection[str]) -> None:
        """Until their Pythons were asked about broken statements of files."""
        asking = [self._asking[path] for path in paths if path in self._asking and not self._asking[path].done()]
        if asking:
            await asyncio.wait(asking)
            await self._read(paths)

    def _forget(self, path: str) -> None:
        self._snapshot = None
        self._analyses.pop(path, None)
        self._looked.pop(path, None)
        for tracker in self._trackers.pop(path, {}).values():
            tracker.close()
        self._on_event(DiagnosticsChanged(path))

    def _changed(self, tracker: KernelTracker, in_substance: bool) -> None:
        """A kernel's view is another one: what it says (`in_substance`), or only where."""
        self._snapshot = None
        self._on_event(DocumentChanged(tracker.path, tracker.name))
        if in_substance:
            self._on_event(KernelChanged(tracker.path, tracker.name))
            self._on_event(DiagnosticsChanged(tracker.path))
        self._on_event(Progress(self._compiler.running))

    def _all_trackers(self) -> list[KernelTracker]:
        return [tracker for trackers in self._trackers.values() for tracker in trackers.values()]

    # -- questions ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """What is known now; never waits."""
        if self._snapshot is None:
            files = {path: self._file_view(path, analysis) for path, analysis in self._analyses.items()}
            self._snapshot = Snapshot(files, self._files.world, self.trusted)
        return self._snapshot

    def _file_view(self, path: str, analysis: FileAnalysis) -> FileView:
        kernels = tuple(tracker.view for tracker in self._trackers.get(path, {}).values())
        cells = cell_starts(analysis.lines) if path.endswith(SUFFIX) else ()
        if cells:
            kernels = tuple(msgspec.structs.replace(kernel, cells=cells) for kernel in kernels)
        version = self._files.version(path)
        return FileView(path, analysis.text, analysis.lines, version, kernels, analysis.problems, cells)

    async def settled(self, path: str | None = None) -> None:
        """Until nothing is queued or running for a file, or for all: analysis, inference, background codegen."""
        while True:
            await self._read(tuple(self._unread) if path is None else (path,))
            await self._asked(self._asking.keys() if path is None else (path,))
            trackers = self._all_trackers() if path is None else list(self._trackers.get(path, {}).values())
            busy = [tracker for tracker in trackers if tracker.busy]
            if not busy:
                return
            await asyncio.gather(*(tracker.settled() for tracker in busy))

    async def analysed(self, path: str | None = None) -> None:
        """Until the kernels of a text, or of every one, are known, if not their types: milliseconds after an edit."""
        await self._read(tuple(self._unread) if path is None else (path,))

    def look(self, path: str, first: int, last: int) -> None:
        """Somebody looks at these lines (1-based) of a file: its kernels there are next."""
        self._looked[path] = first, last
        for tracker in self._trackers.get(path, {}).values():
            if tracker.is_in(first, last):
                tracker.ask()

    async def inferred(self, path: str, kernel: str | None = None, line: int | None = None) -> None:
        """Until the types of a file's kernels are those of its text; of one by its name, or of those at a line."""
        await self._read((path,))
        await self._asked((path,))
        trackers = [
            tracker
            for name, tracker in self._trackers.get(path, {}).items()
            if kernel in (None, name) and (line is None or tracker.is_in(line, line))
        ]
        for tracker in trackers:
            tracker.ask()
        await asyncio.gather(*(tracker.inferred() for tracker in trackers))

    async def artifact(self, path: str, kernel: str, stage: Stage, job: Job | None = None) -> Artifact | Fault:
        """One stage of a kernel of an open file: of its active job, or of `job`. Cancelling stops the work for it."""
        await self._read((path,))
        trackers = self._trackers.get(path, {})
        tracker = trackers.get(kernel)
        if tracker is None:
            return _no_such_kernel(path, kernel, list(trackers))
        made = await tracker.artifact(stage, job)
        self._snapshot = None  # hovers and lenses know of it from now on
        return made

    async def environment(self, path: str) -> Environment | Fault:
        """What the interpreter of a file has."""
        python = find_interpreter(path, self.roots, self.settings.python).path
        return await self._pool.environment(python, _drivers(path))

    def stats(self) -> Stats:
        return self._counters.picture(self._compiler.running)

    async def close(self) -> None:
        """Stop all work and end all processes."""
        if self._preparing is not None:
            self._preparing.cancel()
        for task in (*self._warming, *self._asking.values(), *self._analysing.values()):
            task.cancel()
        for tracker in self._all_trackers():
            tracker.close()
        await self._compiler.close()
        await self._disassembler.close()
        await self._launcher.close()
        await self._pool.close()
        for thread in (self._thread, self._long_thread):
            thread.shutdown(wait=False, cancel_futures=True)


def _has_broken(analysis: FileAnalysis) -> bool:
    results = [kernel.result for kernel in analysis.kernels]
    return any(problem.code == "syntax" for problem in analysis.problems) or any(
        result is None or (result.blocked_by is not None and result.blocked_by.syntax) for result in results
    )


def _drivers(path: str) -> str:
    """What the worker for a file's kernels loads."""
    return next((frontend.language.drivers for frontend in FRONTENDS if frontend.language.claims(path)), "")


def cache_directory(settings: Settings) -> Path | None:
    """Where artifacts are kept, or None where the settings turn the store off."""
    if not settings.cache.enabled:
        return None
    chosen = settings.cache.directory
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("tile-lsp") / "store"


def _limits(settings: Settings) -> Limits:
    return Limits(inference=settings.timeouts.inference, codegen=settings.timeouts.tool, memory=settings.memory)


def _no_such_kernel(path: str, kernel: str, known: list[str]) -> Fault:
    near = difflib.get_close_matches(kernel, known, 1)
    if near:
        message = f"{path} has no kernel {kernel!r}; did you mean {near[0]!r}?"
    elif known:
        message = f"{path} has no kernel {kernel!r}; it has {', '.join(known)}."
    else:
        message = f"{path} has no kernels."
    return Fault(FaultKind.USER, message, code="kernel")
