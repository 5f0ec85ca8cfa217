"""From a command line to its exit code, whatever the encoding of the standard streams, and however early they close."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence

import click

from .app import commands
from .visible import visible

_INTERRUPTED = 130
"""What shells use for a command that Ctrl-C ended."""
_UNWRITABLE = 3


class OutputError(Exception):
    """Standard output takes no more: the disk is full, or worse."""


def run_command(arguments: Sequence[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What an encoding can't hold is written escaped, rather than ending the program.
            stream.reconfigure(errors="backslashreplace")
    try:
        # Not `commands.main`, which has its own idea of what a closed pipe should come to.
        with _writing():  # help
            made = commands.make_context("tile-lsp", list(arguments))
        with made as context:
            code = commands.invoke(context)
        with _writing():
            sys.stdout.flush()
    except click.exceptions.Exit as end:  # of --help
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except BrokenPipeError:
        _abandon_stdout()
        return 0
    except OutputError as error:
        _abandon_stdout()
        sys.stderr.write(f"tile-lsp: error: standard output: {error}\n")
        return _UNWRITABLE
    return int(code or 0)


def can_write(text: str) -> bool:
    """Whether standard output's encoding holds a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write(text: str) -> None:
    with _writing():
        sys.stdout.write(text)


def write_bytes(data: bytes) -> None:
    with _writing():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def write_error(text: str) -> None:
    """A line on standard error, after what standard output holds so far; no control character gets there."""
    with _writing():
        sys.stdout.flush()
    sys.stderr.write(f"{visible(text)}\n")


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from error


def _abandon_stdout() -> None:
    """Whoever read has had enough: nothing more can be written, and the flush at exit must not complain."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
