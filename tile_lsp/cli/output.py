"""Standard output and error as they are: any encoding, a pipe that closes early."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def prepare_streams() -> None:
    """What an encoding can't hold is written escaped, rather than ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def can_write(text: str, stream: TextIO | None = None) -> bool:
    encoding = (stream or sys.stdout).encoding or "ascii"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def abandon_stdout() -> None:
    """After a broken pipe: nothing more can be written, and the interpreter's own flush at exit must not complain."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
