"""Reading what a workspace names, be it what it may: never waits for a pipe, never ends up in a device, never takes a
gigabyte in.
"""

from __future__ import annotations

import os
import stat
import time

MOST = 16 << 20
"""Bytes. A larger file is no source that anyone edits; reading it would stall the server."""
_GRAIN = 0.1
"""Seconds within which two changes may bear the same time: the clocks of file systems are coarse."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Refused(OSError):
    """It is there, and is not read. Its text says why, after the file's name: `is a pipe, no plain file`."""


def read_plain(path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a plain file of at most `MOST`, and its status before. Raises `Refused`, and `OSError` where there
    is nothing.

    What says that it is empty is not opened: files of /proc do, and some of those never end, or can be read only once.
    """
    try:
        status = check_plain(path)
        if not status.st_size:
            return b"", status
        # It may have become a pipe in the meantime.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(MOST) or b"", status
    except PermissionError as error:
        raise Refused(f"can't be read: {error.strerror}") from error


def check_plain(path: str) -> os.stat_result:
    """The status of what `read_plain` reads. Raises as it does."""
    status = os.stat(path)
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        raise Refused(f"is {_KINDS.get(kind, 'something else')}, no plain file")
    if status.st_size > MOST:
        raise Refused(f"has {status.st_size >> 20} MiB: no file of more than {MOST >> 20} MiB is read")
    return status


def is_settled(status: os.stat_result) -> bool:
    """False for a file or folder that may change once more without its time telling of it."""
    return time.time() - status.st_mtime > _GRAIN
