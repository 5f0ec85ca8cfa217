"""Sources on disk, watched for those whose client does not: editors without file events, and the command line.

Created, written, moved and deleted are all one thing here: *look again*. Events are gathered until none came for a
moment.
Folders that hold no sources of the user's (virtual environments, caches, version control) are not watched.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

from .following import Follower

log = logging.getLogger(__name__)
# It watches a new folder twice when the folder appears while its parents do; it says so, and is right afterwards.
warnings.filterwarnings("ignore", message="Callback with id", category=RuntimeWarning)

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".inc")
_BUILDS = ("compile_commands.json", "CMakePresets.json", "CMakeUserPresets.json", "CMakeLists.txt")
SUFFIXES = (".py", ".pyi", ".ipynb", ".toml", ".cu", ".cuh", *_HEADERS, *_BUILDS)
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "build", "dist"})
_REMOTE = frozenset({"9p", "afs", "ceph", "cifs", "fuse.sshfs", "nfs", "nfs4", "smb3", "smbfs", "vboxsf", "virtiofs"})
_MOST_WATCHES = 64
"""Each one is a thread; a root with more folders than that is watched whole."""


class Watcher:
    """Calls `on_change` on the event loop with the paths that changed, from `start` until `close`."""

    def __init__(
        self,
        roots: Sequence[str],
        on_change: Callable[[Sequence[str]], None],
        *,
        delay: float = 0.05,
        polling: bool | None = None,
    ) -> None:
        """`delay`: seconds without an event before a change is told. `polling` None: only where no events come."""
        self._loop = asyncio.get_running_loop()
        self._on_change = on_change
        self._delay = delay
        self._changed: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._observers: list[Any] = []
        self._roots = tuple(root for root in roots if os.path.isdir(root))
        self._polling = polling
        self._follower = Follower(self._heard, self._polls)

    async def start(self) -> None:
        """Returns once every change is seen. In a thread: a large tree takes a while to walk."""
        for root in self._roots:
            await asyncio.to_thread(self._watch, root, self._polls(root))

    def follow(self, paths: Collection[str]) -> None:
        """Tell of these files too from now on, wherever they are, and no more of those that were followed before."""
        self._follower.follow(paths)

    def _polls(self, folder: str) -> bool:
        return is_remote(folder) if self._polling is None else self._polling

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        # On its way out it reports each event that nobody takes any more as an error.
        logging.getLogger("watchdog.observers.inotify").setLevel(logging.CRITICAL)
        for observer in self._observers:
            observer.stop()
        for observer in self._observers:
            observer.join(2)
        self._follower.close()

    def _watch(self, root: str, polling: bool) -> None:
        observer = PollingObserver(timeout=1.0) if polling else Observer()
        watched: set[str] = set()

        def watch_too(folder: str) -> None:
            # A new folder at the top is in none of the watches that there are.
            if os.path.dirname(folder) == root and root in watched and folder not in watched:
                watched.add(folder)
                with contextlib.suppress(OSError):
                    observer.schedule(handler, folder, recursive=True)

        handler = _Handler(root, self._heard, watch_too)
        try:
            for folder, recursive in _watches(root):
                if not (recursive and folder == root):
                    watched.add(folder)
                observer.schedule(handler, folder, recursive=recursive)
            observer.start()
        except OSError as error:
            # Out of inotify watches, most likely: looking now and then is slower and still right.
            if polling:
                log.warning("%s is not watched: %s", root, error)
                return
            log.warning("%s is polled: %s", root, error)
            with contextlib.suppress(RuntimeError):
                observer.stop()
            self._watch(root, polling=True)
            return
        self._observers.append(observer)

    def _heard(self, paths: Sequence[str]) -> None:
        """In the observer's thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._gather, paths)

    def _gather(self, paths: Sequence[str]) -> None:
        self._changed.update(paths)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._delay, self._tell)

    def _tell(self) -> None:
        changed, self._changed = sorted(self._changed), set()
        self._timer = None
        self._on_change(changed)


class _Handler(FileSystemEventHandler):
    def __init__(self, root: str, heard: Callable[[Sequence[str]], None], watch_too: Callable[[str], None]) -> None:
        self._root = root
        self._heard = heard
        self._watch_too = watch_too

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        if event.is_directory:
            # What came with a new folder may have been written before it was watched.
            if event.event_type in ("created", "moved"):
                for path in paths:
                    if os.path.isdir(path) and not _skips(os.path.basename(path)):
                        self._watch_too(path)
                self._tell([found for path in paths for found in sources_under(path)])
            return
        self._tell(paths)

    def _tell(self, paths: Sequence[str]) -> None:
        kept = [path for path in paths if path.endswith(SUFFIXES) and not _is_skipped(path, self._root)]
        if kept:
            self._heard(kept)


def is_remote(path: str) -> bool:
    """True on a file system that other machines write to, or that is known to send no events."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    except OSError:
        return False
    best, kind = "", ""
    for mount in mounts:
        fields, _, rest = mount.partition(" - ")
        point = fields.split(" ")[4].replace("\\040", " ")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind in _REMOTE


def _watches(root: str) -> Iterator[tuple[str, bool]]:
    """Folders to watch: the root itself, and each of its folders whole, less those that are skipped."""
    folders = [entry.path for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    kept = [folder for folder in folders if not _skips(os.path.basename(folder))]
    if len(kept) > _MOST_WATCHES:
        yield root, True
        return
    yield root, False
    for folder in kept:
        yield folder, True


def sources_under(path: str) -> Iterator[str]:
    """The files that would be watched in a folder, in order; or the file that `path` is."""
    if os.path.isfile(path):
        yield path
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not _skips(name))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(SUFFIXES))


def _is_skipped(path: str, root: str) -> bool:
    return any(_skips(part) for part in PurePath(os.path.relpath(path, root)).parts[:-1])


def _skips(name: str) -> bool:
    return name in _SKIPPED or (name.startswith(".") and name not in (".", ".."))
