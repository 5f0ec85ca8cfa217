"""Tools that the server brings along: programs beside this package, run by its own interpreter, each in a process that
is gone after one answer. What they need is an extra of tile-lsp's.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

from tile_lsp.model.outcome import Fault, FaultKind

from .tools import Tool

_PACKAGE = Path(__file__).parent.parent


class _Own(NamedTuple):
    folder: str
    distribution: str
    requirement: str
    what: str


_OWN = {"llvm": _Own("llvm", "llvmlite", "llvmlite>=0.50", "LLVM")}
NAMES = frozenset(_OWN)


def own_tool(name: str) -> Tool | Fault:
    """A tool of `NAMES`, or what has to be installed for it."""
    own = _OWN[name]
    try:
        version = importlib.metadata.version(own.distribution)
    except importlib.metadata.PackageNotFoundError:
        return _missing(own, f"{own.distribution} is not installed for tile-lsp in {sys.executable}")
    floor = own.requirement.partition(">=")[2]
    if _release(version) < _release(floor):
        return _missing(own, f"{own.distribution} {version} is too old, tile-lsp works with {floor} and later")
    text = f"{own.distribution} {version}, {_fingerprint(own.folder)}"
    return Tool(name, sys.executable, text, {}, ("-B", str(_PACKAGE / own.folder)))


def _missing(own: _Own, message: str) -> Fault:
    help_ = f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(own.requirement)}"
    return Fault(FaultKind.ENVIRONMENT, f"{own.what} can't be asked: {message}.", help=help_, code="tool")


def _release(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in parts)


@functools.cache
def _fingerprint(folder: str) -> str:
    """Of our side of it: part of its version."""
    found = hashlib.sha256()
    for path in sorted((_PACKAGE / folder).glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]
