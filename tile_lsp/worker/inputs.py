"""What user code reads from outside while it is loaded: files, and variables of the environment.

Both are part of what a kernel means, and stand in no text of its closure: `TILE = int(os.environ.get("TILE", 64))`,
`json.load(open("tuned.json"))`. Only what the closure's own statements ask for counts, not what libraries do when they
are imported.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Collection
from typing import Any

Input = tuple[str, str, str]
"""`file` or `environment`, a path or a name, and a digest of what was there."""

_LONG = 16 << 20
_DEEPEST = 60
_MOST = 256
_members: Collection[str] | None = None
_found: dict[tuple[str, str], str] = {}
_installed = False


def start(members: Collection[str]) -> None:
    """Watch from now on. `members`: names under which the closure's statements are executed."""
    global _members, _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_audit)
        if type(os.environ).__name__ == "_Environ":
            os.environ.__class__ = _Watched
    _found.clear()
    _members = members


def stop() -> None:
    global _members
    _members = None


def found() -> list[Input]:
    return [(kind, name, digest) for (kind, name), digest in sorted(_found.items())]


def note_file(path: str) -> None:
    """A file that the compiler is told to read, later and past Python."""
    where = os.path.abspath(path)
    _note("file", where, _digest_at(where))


def _digest_at(where: str) -> str:
    """Of a plain file. A long one is known by its length and time, as the server has it (`engine/inputs.py`); one that
    says that it is empty may be one of /proc that never ends.
    """
    try:
        status = os.stat(where)
    except OSError:
        return digest_of(None)
    if not stat.S_ISREG(status.st_mode):
        return digest_of(None)
    if status.st_size > _LONG:
        return digest_of(f"{status.st_size} {status.st_mtime_ns}".encode())
    if not status.st_size:
        return digest_of(b"")
    with open(where, "rb") as file:
        return digest_of(file.read())


def digest_of(content: bytes | None) -> str:
    """Of what isn't there, the empty text."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


class _Watched(type(os.environ)):  # type: ignore[misc]
    def __getitem__(self, name: str) -> str:
        if _members is not None and isinstance(name, str) and _is_asked_for():
            value = self._data.get(self.encodekey(name))
            _note("environment", name, digest_of(value if value is None else bytes(value)))
        return super().__getitem__(name)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    global _members
    if event != "open" or _members is None:
        return
    path, mode, flags = arguments
    if not isinstance(path, (str, bytes)) or not _reads(mode, flags) or not _is_asked_for():
        return
    members, _members = _members, None
    try:
        where = os.path.abspath(os.fsdecode(path))
        if os.path.isfile(where) or not os.path.exists(where):
            _note("file", where, _digest_at(where))
        # else a device or a pipe: nothing that could be read again
    except OSError:
        pass
    finally:
        _members = members


def _reads(mode: str | None, flags: int) -> bool:
    if isinstance(mode, str):
        return "r" in mode
    return flags & os.O_ACCMODE == os.O_RDONLY


def _note(kind: str, name: str, digest: str) -> None:
    if len(_found) < _MOST:
        _found.setdefault((kind, name), digest)


def _is_asked_for() -> bool:
    """True if a statement of the closure is at work, and no import that it started."""
    frame = sys._getframe(2)
    for _ in range(_DEEPEST):
        if frame is None:
            return False
        name = frame.f_code.co_filename
        if _members is not None and name in _members:
            return True
        if name.startswith("<frozen importlib"):
            return False
        frame = frame.f_back
    return False
