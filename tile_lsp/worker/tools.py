"""The external programs that belong to this interpreter: where they are, and what they say of their own version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from . import distributions

#: Program → the distribution that brings it.
TOOLS = {
    "tileiras": "nvidia-cuda-tileiras",
    "tileirdisasm": "nvidia-cuda-tileiras",
    "nvdisasm": "nvidia-cuda-nvdisasm",
    "cuobjdump": "nvidia-cuda-cuobjdump",
    "ptxas": "nvidia-cuda-nvcc",
}
#: Of one major.minor, or tileiras fails at the first kernel.
TOGETHER = ("nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm")
_TIMEOUT = 20.0

Table = dict[str, dict[str, Any]]


class Search:
    """Found when made; their version texts are asked for in parallel, and waited for in `table`."""

    def __init__(self) -> None:
        self.mismatch = _mismatch()
        self._paths = {name: find(name, from_packages=self.mismatch is None) for name in TOOLS}
        self._running = {name: _ask(path) for name, path in self._paths.items() if path}

    def add(self, brought: Mapping[str, str]) -> None:
        """Programs that a compiler brings along, for where there are none of that name."""
        for name, path in brought.items():
            if not self._paths.get(name) and os.access(path, os.X_OK):
                self._paths[name] = path
                self._running[name] = _ask(path)

    def table(self) -> Table:
        table: Table = {}
        newest = next((v for v in (distributions.version_of(name) for name in TOGETHER) if v), None)
        for name, distribution in TOOLS.items():
            path = self._paths[name]
            entry: dict[str, Any] = {"path": path, "version": "", "env": {}, "error": None, "help": None}
            if path:
                entry["version"] = _answer(self._running[name])
            elif self.mismatch and distribution in TOGETHER:
                entry["error"], entry["help"] = self.mismatch
            else:
                entry["error"] = f"{name} is not installed beside {sys.executable}, nor on PATH"
                pin = f"{distribution}=={_series(newest)}.*" if newest else distribution
                entry["help"] = distributions.pip(pin)
            table[name] = entry
        for name, path in self._paths.items():
            if name not in TOOLS and path:
                version = _answer(self._running[name])
                table[name] = {"path": path, "version": version, "env": {}, "error": None, "help": None}
        return table


def release(version: str) -> tuple[int, int] | None:
    """`(13, 4)` from a program's version text."""
    match = re.search(r"release (\d+)\.(\d+)", version) or re.search(r"V?(\d+)\.(\d+)\.\d+", version)
    return (int(match[1]), int(match[2])) if match else None


def find(name: str, *, from_packages: bool = True) -> str | None:
    """The order is cuTile's own: Python packages, PATH, the toolkit's folder."""
    program = f"{name}.exe" if sys.platform == "win32" else name
    for folder in _folders(from_packages):
        found = shutil.which(program, path=folder)
        if found:
            return os.path.abspath(found)
    return None


def _folders(from_packages: bool) -> Iterator[str]:
    if from_packages:
        for entry in sys.path:
            root = os.path.join(entry, "nvidia")
            if os.path.isdir(root):
                for toolkit in sorted(os.listdir(root), reverse=True):
                    yield os.path.join(root, toolkit, "bin")
    yield os.environ.get("PATH", "")
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield os.path.join(os.environ[name], "bin")
    base = "/usr/local"
    if os.path.isdir(base):
        for entry in ["cuda", *sorted((e for e in os.listdir(base) if e.startswith("cuda-")), reverse=True)]:
            yield os.path.join(base, entry, "bin")


def _mismatch() -> tuple[str, str] | None:
    """Message and mending command where the packages that must match don't."""
    found = {name: version for name in TOGETHER if (version := distributions.version_of(name))}
    if "nvidia-cuda-tileiras" not in found or len({_series(version) for version in found.values()}) == 1:
        return None
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    series = _series(found["nvidia-cuda-tileiras"])
    return (
        f"NVIDIA's packages must have one major.minor version, and these don't: {listed}",
        distributions.pip(*(f"{name}=={series}.*" for name in found)),
    )


def _series(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _ask(path: str) -> subprocess.Popen[str] | None:
    env = {k: v for k, v in os.environ.items() if k not in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")}
    try:
        return subprocess.Popen(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=env,
        )
    except OSError:
        return None


def _answer(process: subprocess.Popen[str] | None) -> str:
    if process is None:
        return ""
    try:
        output, _ = process.communicate(timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return ""
    return output.strip() if process.returncode == 0 else ""
