"""The text of files: the editor's where it holds one, else the disk's."""

from __future__ import annotations

import os
from typing import NamedTuple

from tile_lsp.analysis.notebook import SUFFIX, Unreadable, module_text, read_notebook
from tile_lsp.analysis.python import decode

from .reading import Refused, check_plain, is_settled, read_plain


class _Cached(NamedTuple):
    stamp: tuple[int, int, int]
    text: str


class Files:
    """Answers `read(path)` for analysis. `world` counts revisions; a revision alone invalidates nothing."""

    def __init__(self) -> None:
        self.world = 0
        self._open: dict[str, tuple[str, int | None]] = {}
        self._disk: dict[str, _Cached] = {}
        self._refused: dict[str, str] = {}
        self._folders: dict[str, tuple[int, tuple[str, ...]]] = {}

    def open(self, path: str, text: str, version: int | None) -> None:
        self._open[path] = (text, version)
        self.world += 1

    def close(self, path: str) -> None:
        self._open.pop(path, None)
        self.world += 1

    def touched(self) -> None:
        """Something changed on disk."""
        self.world += 1

    @property
    def open_paths(self) -> tuple[str, ...]:
        return tuple(self._open)

    def version(self, path: str) -> int | None:
        held = self._open.get(path)
        return held[1] if held else None

    def length(self, path: str) -> int:
        """About how long a text is, without reading it; 0 where there is none. Never raises."""
        held = self._open.get(path)
        if held is not None:
            return len(held[0])
        try:
            return os.stat(path).st_size
        except (OSError, ValueError):
            return 0

    def listing(self, folder: str) -> tuple[str, ...]:
        """Paths of the Python files of a folder, sorted; none of what is no folder. Never raises."""
        try:
            stat = os.stat(folder)
            known = self._folders.get(folder)
            if known is None or known[0] != stat.st_mtime_ns:
                with os.scandir(folder) as entries:
                    found = sorted(entry.path for entry in entries if entry.name.endswith(".py") and entry.is_file())
                known = stat.st_mtime_ns, tuple(found)
                if is_settled(stat):
                    self._folders[folder] = known
        except OSError:
            return ()
        return known[1]

    def read(self, path: str) -> str | None:
        """Text of a file, of a notebook as one module; None if there is none, or none that is read. Never raises."""
        held = self._open.get(path)
        if held is not None:
            return held[0]
        self._refused.pop(path, None)
        try:
            stamp = _stamp(check_plain(path))
            cached = self._disk.get(path)
            if cached is not None and cached.stamp == stamp:
                return cached.text
            data, status = read_plain(path)
            stamp = _stamp(status)
            if path.endswith(SUFFIX):
                cells = read_notebook(data)
                if isinstance(cells, Unreadable):
                    return None
                text = module_text(cells)
            else:
                text = decode(data)
        except (OSError, ValueError) as error:
            self._disk.pop(path, None)
            if isinstance(error, Refused):
                self._refused[path] = str(error)
            return None
        if is_settled(status):
            self._disk[path] = _Cached(stamp, text)
        return text

    def refusal(self, path: str) -> str | None:
        """Why a file that is there was not read, after its name: `is a pipe, no plain file`."""
        return self._refused.get(path)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino
