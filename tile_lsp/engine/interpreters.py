"""Which Python a file's kernels run in: the user's own, never the server's by default where there is another."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class Candidate(NamedTuple):
    path: str
    source: str
    """For people: `"setting tile-lsp.python"`, `".venv of the workspace"`, …"""


def find_interpreter(path: str, roots: Sequence[str], setting: str | None = None) -> Candidate:
    """The most likely interpreter for a file; see `candidates`."""
    return next(candidates(path, roots, setting))


def candidates(path: str, roots: Sequence[str], setting: str | None = None) -> Iterator[Candidate]:
    """In the order of preference, each interpreter once, only those that exist (but a setting always, so that it is
    reported).
    """
    seen: set[str] = set()
    for candidate in _all(path, roots, setting):
        # Compared unresolved: a virtual environment's python is a link to the one it was made from.
        if candidate.path not in seen and (_is_executable(candidate.path) or candidate.path == setting):
            seen.add(candidate.path)
            yield candidate


def _all(path: str, roots: Sequence[str], setting: str | None) -> Iterator[Candidate]:
    if setting:
        yield Candidate(_absolute(setting, roots), "setting tile-lsp.python")
    for folder in _upwards(Path(path).parent, roots):
        for name in (".venv", "venv"):
            yield Candidate(_python_of(folder / name), f"{name} beside the file")
    # What was activated where this process was started: it is the same for every workspace, and may be our own.
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if prefix := os.environ.get(name):
            yield Candidate(_python_of(Path(prefix)), name)
    if found := shutil.which("python3") or shutil.which("python"):
        yield Candidate(found, "PATH")
    yield Candidate(sys.executable, "tile-lsp's own interpreter")


def _absolute(setting: str, roots: Sequence[str]) -> str:
    expanded = os.path.expanduser(os.path.expandvars(setting))
    if os.path.isabs(expanded):
        return expanded
    for root in roots:
        if os.path.exists(os.path.join(root, expanded)):
            return os.path.join(root, expanded)
    return shutil.which(expanded) or os.path.join(roots[0] if roots else os.getcwd(), expanded)


def _upwards(folder: Path, roots: Sequence[str]) -> Iterator[Path]:
    """The folder and those above it, up to the workspace's root; to the top where the file is in no workspace."""
    tops = {Path(root) for root in roots}
    inside = any(top == folder or top in folder.parents for top in tops)
    for parent in (folder, *folder.parents):
        yield parent
        if inside and parent in tops:
            return


def _python_of(environment: Path) -> str:
    if sys.platform == "win32":
        return str(environment / "Scripts" / "python.exe")
    return str(environment / "bin" / "python")


def _is_executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
