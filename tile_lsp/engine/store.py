"""Artifacts on disk: key by recipe, verify by content, and never fail a compile.

    index/<aa>/<key>      what a recipe made: names of blobs → digest and size, as JSON
    objects/<aa>/<digest> the blobs, by SHA-256 of their content
    locks/<key>           held by the process that is making an entry

An entry that is corrupt, truncated, foreign or of another schema is a miss. Every error of the file system is a miss or
a no-op. Files are written beside their place and renamed, so a reader sees a whole file or none.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from .stats import Counters

try:
    import fcntl
except ImportError:  # Windows: no cross-process single flight, everything else the same
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

_FORGOTTEN = 86400.0
"""Seconds after which a file of `locks/` is taken for a leftover: a process that was killed removes none."""
SCHEMA = 3
"""Part of every index file: raise it when the meaning of stored bytes changes."""


class _Blob(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    size: int


class _Index(msgspec.Struct, frozen=True):
    schema: int
    key: str
    blobs: dict[str, _Blob]


class Usage(NamedTuple):
    entries: int
    bytes: int
    unread: int


class Store:
    """A folder of artifacts, shared by all processes of a user. `directory=None` disables it: each look-up misses."""

    def __init__(
        self,
        directory: Path | None,
        counters: Counters,
        *,
        max_bytes: int = 2 << 30,
        max_entry_bytes: int = 256 << 20,
    ) -> None:
        self.directory = directory
        self._counters = counters
        self._max_bytes = max_bytes
        self._max_entry_bytes = max_entry_bytes
        self._written = 0
        self._complained = False

    def get(self, key: str) -> dict[str, bytes] | None:
        """All blobs of an entry, verified, or None."""
        blobs = self.peek(key)
        if blobs is None:
            self._counters.store_misses += 1
        else:
            self._counters.store_hits += 1
        return blobs

    def peek(self, key: str) -> dict[str, bytes] | None:
        """`get`, uncounted: for a second look."""
        return self._read(key) if self.directory is not None else None

    def put(self, key: str, blobs: Mapping[str, bytes]) -> None:
        """Keep an entry; write-once in effect, since equal keys have equal content. Errors and oversize are dropped."""
        size = sum(len(blob) for blob in blobs.values())
        if self.directory is None or size > self._max_entry_bytes:
            return
        try:
            entries = {}
            for name, blob in blobs.items():
                digest = hashlib.sha256(blob).hexdigest()
                path = self._object(digest)
                if not path.exists():
                    self._write(path, blob)
                entries[name] = _Blob(digest, len(blob))
            index = self._index(key)
            self._write(index, msgspec.json.encode(_Index(SCHEMA, key, entries)))
            os.utime(index, (0, index.stat().st_mtime))  # access time 0: never read
        except OSError as error:
            if not self._complained:  # the next one fails for the same reason
                self._complained = True
                log.warning(
                    "tile-lsp: warning: nothing can be kept in %s: %s\nhelp: the setting cache.directory names "
                    "another folder, cache.enabled = false does without",
                    self.directory,
                    error.strerror or error,
                )
            return
        self._written += size
        if self._written > self._max_bytes // 8:
            self._written = 0
            self.collect()

    def collect(self, max_bytes: int | None = None) -> int:
        """Evict until the store fits: never-read entries first, then the least recently read. Returns bytes freed."""
        if self.directory is None:
            return 0
        limit = self._max_bytes if max_bytes is None else max_bytes
        entries = []
        total = 0
        for path in _files(self.directory / "index"):
            with contextlib.suppress(OSError):
                stat = path.stat()
                size = stat.st_size + sum(blob.size for blob in self._blobs_of(path))
                entries.append((stat.st_atime_ns, stat.st_mtime_ns, size, path))
                total += size
        entries.sort(key=lambda entry: entry[:2])
        freed = 0
        for _, _, size, path in entries:
            if total - freed <= limit:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                freed += size
        self._drop_orphans()
        return freed

    def clear(self) -> None:
        self.collect(max_bytes=-1)

    def usage(self) -> Usage:
        if self.directory is None:
            return Usage(0, 0, 0)
        entries = unread = size = 0
        for path in _files(self.directory / "index"):
            with contextlib.suppress(OSError):
                stat = path.stat()
                entries += 1
                unread += stat.st_atime_ns == 0
                size += stat.st_size
        for path in _files(self.directory / "objects"):
            with contextlib.suppress(OSError):
                size += path.stat().st_size
        return Usage(entries, size, unread)

    def obstacle(self) -> str | None:
        """Why nothing can be kept in the folder; None where nothing stands in the way."""
        if self.directory is None:
            return None
        folder = next(found for found in (self.directory, *self.directory.parents) if os.path.lexists(found))
        if not folder.is_dir():
            return f"{folder} is no folder"
        return None if os.access(folder, os.W_OK | os.X_OK) else f"{folder} can't be written to"

    @contextlib.asynccontextmanager
    async def lock(self, key: str) -> AsyncIterator[None]:
        """Held while an entry is made, by one process at a time. Where locks don't work, nothing is held."""
        if self.directory is None or fcntl is None:
            yield
            return
        path = self.directory / f"locks/{key}"
        descriptor = -1
        delay = 0.002
        try:
            while descriptor < 0:
                descriptor = self._try_lock(path)
                if descriptor == -1:
                    await asyncio.sleep(delay)
                    delay = min(delay * 1.5, 0.05)
        except OSError as error:
            log.debug("store: no locks in %s: %s", self.directory, error)
            descriptor = -1
        try:
            yield
        finally:
            if descriptor >= 0:
                with contextlib.suppress(OSError):
                    path.unlink()
                os.close(descriptor)

    def claim(self, key: str) -> int:
        """A descriptor that says to other processes, as long as it is open, that this one has something at hand.

        -1 where another process said so before, or where locks don't work.
        """
        if self.directory is None or fcntl is None:
            return -1
        try:
            return self._try_lock(self._claim(key))
        except OSError:
            return -1

    def is_claimed_elsewhere(self, key: str) -> bool:
        """Whether another process that is alive claims a key. Ours must not claim it."""
        if self.directory is None or fcntl is None or not self._claim(key).exists():
            return False
        descriptor = self.claim(key)
        if descriptor < 0:
            return True
        with contextlib.suppress(OSError):
            self._claim(key).unlink()
        os.close(descriptor)
        return False

    def _claim(self, key: str) -> Path:
        assert self.directory is not None
        return self.directory / f"locks/{key}.claim"

    def _try_lock(self, path: Path) -> int:
        """A descriptor that holds the lock, or -1 if another process does."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last holder may have removed the file between our open and our lock: then we hold nothing.
            if os.fstat(descriptor).st_ino == os.stat(path).st_ino:
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            pass
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return -1

    def _index(self, key: str) -> Path:
        assert self.directory is not None
        return self.directory / f"index/{key[:2]}/{key}"

    def _object(self, digest: str) -> Path:
        assert self.directory is not None
        return self.directory / f"objects/{digest[:2]}/{digest}"

    def _read(self, key: str) -> dict[str, bytes] | None:
        try:
            path = self._index(key)
            with open(path, "rb") as file:
                index = msgspec.json.decode(file.read(), type=_Index)
            if index.schema != SCHEMA or index.key != key:
                return None
            blobs = {}
            for name, blob in index.blobs.items():
                data = self._object(blob.digest).read_bytes()
                if hashlib.sha256(data).hexdigest() != blob.digest:
                    self._object(blob.digest).unlink(missing_ok=True)  # or a good copy would never be written
                    return None
                blobs[name] = data
            os.utime(path)
        except (OSError, ValueError, msgspec.MsgspecError):
            return None
        return blobs

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _blobs_of(self, path: Path) -> list[_Blob]:
        """What an index file names; looking must not count as reading, so the access time is put back."""
        try:
            before = path.stat()
            blobs = list(msgspec.json.decode(path.read_bytes(), type=_Index).blobs.values())
            os.utime(path, ns=(before.st_atime_ns, path.stat().st_mtime_ns))
        except (OSError, msgspec.MsgspecError):
            return []
        return blobs

    def _drop_orphans(self) -> None:
        assert self.directory is not None
        named = {blob.digest for path in _files(self.directory / "index") for blob in self._blobs_of(path)}
        for path in _files(self.directory / "objects"):
            if path.name not in named:
                with contextlib.suppress(OSError):
                    path.unlink()
        for path in (self.directory / "locks").glob("*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < time.time() - _FORGOTTEN:
                    path.unlink()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*/*") if path.is_file()] if folder.is_dir() else []
