"""From the words of a command line to what they name: FILE::KERNEL, NAME=VALUE, stages.

All raise `UsageError` with what would be right.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tile_lsp.engine.reading import Refused, check_plain

from .exits import UsageError


class Selector(NamedTuple):
    """A kernel of a file."""

    path: str
    """Absolute."""
    kernel: str | None
    """None: the only one of the file."""


def parse_selector(text: str) -> Selector:
    """`examples/matmul.py::matmul`, or just the file."""
    path, separator, kernel = _split(text)
    if not separator or os.path.exists(text):
        path, kernel = text, ""
    if not path:
        raise UsageError(f"{text!r} names no file: write FILE::KERNEL, such as examples/cutile/matmul.py::matmul")
    if separator and not kernel and not os.path.exists(text):
        raise UsageError(f"a kernel's name is missing after the :: of {text!r}")
    return Selector(checked_file(path), kernel or None)


def _split(text: str) -> tuple[str, str, str]:
    """File, separator and kernel: C++ has names with `::` in them."""
    at = text.find("::")
    while at >= 0:
        if os.path.isfile(text[:at]):
            return text[:at], "::", text[at + 2 :]
        at = text.find("::", at + 1)
    return text.rpartition("::")


def checked_path(path: str) -> str:
    """The absolute path of a folder, or of a file that can be read."""
    return os.path.abspath(path) if os.path.isdir(path) else checked_file(path)


def checked_file(path: str) -> str:
    """The absolute path of a file that can be read."""
    if not os.path.exists(path):
        raise UsageError(f"there is no file {path}{_similar_file(path)}")
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder: name a file of it")
    try:
        check_plain(path)
        with open(path, "rb"):
            pass
    except Refused as refused:
        raise UsageError(f"{path} {refused}") from refused
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error
    return os.path.abspath(path)


def choose_kernel(wanted: str | None, names: Sequence[str], path: str) -> str:
    """The qualified name, among those of a file's kernels, that was meant: in full, by its last part, or alone."""
    file = os.path.relpath(path)
    if not names:
        raise UsageError(f"{file} holds no kernel that a front end recognises")
    if wanted is None:
        if len(names) == 1:
            return names[0]
        raise UsageError(f"{file} holds several kernels, name one of them: {_list(f'{file}::{n}' for n in names)}")
    if wanted in names:
        return wanted
    ends = [name for name in names if re.split(r"\.|::", name)[-1] == wanted]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise UsageError(f"{file} holds several kernels called {wanted}: {_list(ends)}")
    raise UsageError(f"{file} holds no kernel {wanted}{closest(wanted, names)}")


def parse_pair(option: str, text: str) -> tuple[str, str]:
    """`NAME=VALUE` of an option that may be given several times."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not name or not value:
        example = "--arg A=f16[4096,4096]" if option == "--arg" else "--hint num_ctas=2"
        raise UsageError(f"{option} {text!r} is not NAME=VALUE; an example: {example}")
    return name, value


def parse_pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, value = parse_pair(option, text)
        if pairs.setdefault(name, value) != value:
            raise UsageError(f"{option} {name} is given twice: {pairs[name]} and {value}")
    return pairs


def choose_stage(wanted: str, stages: Sequence[str]) -> str:
    if wanted in stages:
        return wanted
    raise UsageError(f"there is no stage {wanted}{closest(wanted, stages)}")


def closest(wanted: str, names: Sequence[str]) -> str:
    """`"; did you mean softmax? There are: softmax, softmax_online"`."""
    close = difflib.get_close_matches(wanted.lower(), [name.lower() for name in names], n=1)
    meant = next((name for name in names if close and name.lower() == close[0]), None)
    if meant is None:
        return f"; there are: {_list(names)}"
    return f"; did you mean {meant}?" + (f" There are: {_list(names)}" if len(names) > 1 else "")


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)


def _similar_file(path: str) -> str:
    folder = os.path.dirname(path) or "."
    try:
        others = [name for name in os.listdir(folder) if name != os.path.basename(path)]  # itself: a broken link
        close = difflib.get_close_matches(os.path.basename(path), others, n=1)
    except OSError:
        return ""
    return f"; did you mean {os.path.join(os.path.dirname(path), close[0])}?" if close else ""
