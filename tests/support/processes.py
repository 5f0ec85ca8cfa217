"""Processes that come and go while a test looks at them: one that has gone meanwhile is no error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import psutil

from .patience import PATIENCE


def named(name: str) -> list[psutil.Process]:
    """Those below this process that have this name and run, or stand still: not those that only wait to be reaped."""
    return [process for process in below() if _is(process, name)]


def below() -> list[psutil.Process]:
    """All that this process started, and what they started."""
    return psutil.Process().children(recursive=True)


def numbered(pids: Iterable[int]) -> list[psutil.Process]:
    """Those that still are."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(pid))
    return found


def outlive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Those that are left once all had time to end."""
    return psutil.wait_procs(list(processes), timeout=PATIENCE)[1]


def status(process: psutil.Process) -> str:
    """As psutil's; `dead` for one that is no more."""
    try:
        return process.status()
    except psutil.NoSuchProcess:
        return psutil.STATUS_DEAD


def command(process: psutil.Process) -> str:
    """Empty for one that is no more."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _is(process: psutil.Process, name: str) -> bool:
    try:
        return process.name() == name and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
