"""Single files, watched wherever they are and whatever their names: the data that kernels' code reads.

Not the file itself is watched but its folder, for most programs write a new file and put it in the old one's place.
Where there is no folder yet, the nearest that there is: it tells when the next one comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Collection, Sequence
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

log = logging.getLogger(__name__)

_MOST_FOLDERS = 64
"""Each one is a thread."""


class Follower:
    """Calls `heard` with the followed paths that changed, in a thread of its own. Use it on one event loop."""

    def __init__(self, heard: Callable[[Sequence[str]], None], polls: Callable[[str], bool]) -> None:
        """`polls`: whether no events come of a folder, so that it has to be looked at now and then."""
        self._loop = asyncio.get_running_loop()
        self._heard = heard
        self._polls = polls
        self._paths: frozenset[str] = frozenset()
        self._watches: dict[str, tuple[Any, Any]] = {}
        """By folder: the observer, and its watch."""
        self._observers: dict[bool, Any] = {}
        """By whether it polls."""
        self._closed = False

    def follow(self, paths: Collection[str]) -> None:
        """These, and no others any more."""
        if self._closed:
            return
        self._paths = frozenset(paths)
        before: list[str] | None = None
        while (wanted := sorted({_nearest(path) for path in self._paths})[:_MOST_FOLDERS]) != before:
            for folder in self._watches.keys() - set(wanted):
                self._unwatch(folder)
            for folder in wanted:
                if folder not in self._watches:
                    self._watch(folder, self._polls(folder))
            before = wanted  # and once more: a nearer one may have come before its parent was watched

    def close(self) -> None:
        self._closed = True
        for observer in self._observers.values():
            observer.stop()
        for observer in self._observers.values():
            observer.join(2)

    def _watch(self, folder: str, polling: bool) -> None:
        try:
            observer = self._observers.get(polling)
            if observer is None:
                observer = PollingObserver(timeout=1.0) if polling else Observer()
                observer.start()
                self._observers[polling] = observer
            self._watches[folder] = observer, observer.schedule(_Handler(folder, self._changed), folder)
        except OSError as error:
            log.warning("%s is %s: %s", folder, "not watched" if polling else "polled", error)
            if not polling:
                self._watch(folder, polling=True)

    def _unwatch(self, folder: str) -> None:
        observer, watch = self._watches.pop(folder)
        with contextlib.suppress(KeyError, OSError):  # it ended with its folder
            observer.unschedule(watch)

    def _changed(self, folder: str, paths: Sequence[str], is_folder: bool) -> None:
        """In an observer's thread: something came, went or was written in a folder that is watched, or the folder was
        itself.
        """
        if is_folder:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self._moved, folder, paths)
        elif kept := [path for path in paths if path in self._paths]:
            self._heard(kept)

    def _moved(self, folder: str, paths: Sequence[str]) -> None:
        """A folder came or went: files are to be watched from nearer, or from farther away."""
        within = tuple(os.path.join(path, "") for path in paths)
        touched = [path for path in self._paths if path.startswith(within)]
        if not touched or self._closed:
            return
        if folder in paths and folder in self._watches:
            self._unwatch(folder)  # it is on what was there, whatever is there now
        self.follow(self._paths)
        self._heard(touched)


class _Handler(FileSystemEventHandler):
    def __init__(self, folder: str, changed: Callable[[str, Sequence[str], bool], None]) -> None:
        self._folder = folder
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("opened", "closed_no_write") or (event.is_directory and event.event_type == "modified"):
            return
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        self._changed(self._folder, paths, event.is_directory)


def _nearest(path: str) -> str:
    """The folder of a file, or the nearest above it that exists."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder
