"""What a kernel's code read from outside while it was loaded: files and variables, by their content.

A file that is too long to be read at each keystroke is known by its length and time: rather is a kernel compiled again
than served stale. The worker counts likewise (`worker/inputs.py`).
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat

import msgspec

from tile_lsp.model.outcome import Inference

from .reading import MOST, is_settled, read_plain


def is_current(inference: Inference) -> bool:
    """False if a file or a variable that the kernel's code read is another one by now."""
    return all(_input(kind, name) == made_of for kind, name, made_of in inference.inputs)


def _input(kind: str, name: str) -> str:
    if kind == "environment":
        value = os.environ.get(name)
        return "" if value is None else content(os.fsencode(value))
    try:
        status = os.stat(name)
        if not stat.S_ISREG(status.st_mode):
            return ""
        if status.st_size > MOST:
            return content(f"{status.st_size} {status.st_mtime_ns}".encode())
        if not is_settled(status):
            return content(read_plain(name)[0])
        return _file_content(name, status.st_mtime_ns, status.st_size)
    except OSError:
        return ""


@functools.lru_cache(maxsize=256)
def _file_content(name: str, modified: int, size: int) -> str:
    """Asked for at each keystroke: a file that was not written is not read again."""
    return content(read_plain(name)[0])


def less_our_environment(inference: Inference) -> Inference:
    """Less the variables that the worker has set for itself: they say nothing about the user's."""
    kept = tuple(one for one in inference.inputs if one[0] != "environment" or _input(one[0], one[1]) == one[2])
    return inference if kept == inference.inputs else msgspec.structs.replace(inference, inputs=kept)


def content(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()
