"""What keeps user code from harming anything but the process that it runs in."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Iterable
from typing import Any

if sys.platform != "win32":
    import fcntl
    import resource

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_HIGH = 500
_MAX_SUBPROCESSES = 64

#: User code may leave `open` replaced, and what we do after it ran must go on.
_open = open
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def move_high(fd: int) -> int:
    """The descriptor under a number that code which counts up from 3 doesn't meet, and closed on exec."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, min(_HIGH, max(soft - 16, 3)))
    os.close(fd)
    return moved


def keep_freed_memory() -> None:
    """Have glibc's allocator give nothing back: a page that a fork has made its own once is not to be had anew."""
    if _libc is not None and hasattr(_libc, "mallopt"):
        _libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)
        _libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)


def thread_count() -> int:
    """Threads of this process, those that Python doesn't know included."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def die_with_parent() -> None:
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Descendants that lose their parent become ours, so that they can be found and ended."""
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children_of_this_process() -> list[int]:
    try:
        with _open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def is_busy() -> bool:
    """True if the loaded code left threads or processes running."""
    return thread_count() > 1 or bool(children_of_this_process())


def confine(memory: int) -> None:
    """In a fresh worker process, before any user code. `memory`: bytes that it may still allocate; 0: no limit."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _limit(resource.RLIMIT_CORE, 0)
    if memory:
        # Not the address space: libraries such as torch map far more of it than they ever touch.
        _limit(resource.RLIMIT_DATA, _data() + memory)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    # Last words: where Python was, when the process crashes, and when the server asks before it ends one that hangs.
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGUSR2, file=2, all_threads=False)
    sys.addaudithook(_Audit(os.getpid()))


def redirect_output(fd: int) -> None:
    """Make `fd` standard output and error; standard input is empty."""
    sys.stdout.flush()
    sys.stderr.flush()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    for spare in {null, fd} - {0, 1, 2}:
        os.close(spare)


def flush_output() -> None:
    """What Python and C hold back, whatever state user code left them in."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()  # type: ignore[union-attr]
        except Exception:
            pass
    if _libc is not None:
        _libc.fflush(None)


def close_inherited(descriptors: Iterable[int]) -> None:
    """Close what belongs to the process that we were forked from."""
    for fd in descriptors:
        try:
            os.close(fd)
        except OSError:
            pass


class _Audit:
    """Stops a worker from multiplying: the one thing that killing it would not undo in time."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._started = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("os.fork", "os.forkpty"):
            raise RuntimeError("os.fork() is not available where tile-lsp loads a kernel")
        if event in ("subprocess.Popen", "os.posix_spawn"):
            self._started += 1
            if self._started > _MAX_SUBPROCESSES:
                raise RuntimeError(f"more than {_MAX_SUBPROCESSES} processes were started while the kernel was loaded")


def _limit(which: int, value: int) -> None:
    try:
        hard = resource.getrlimit(which)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(which, (value, value))
    except (ValueError, OSError):
        pass


def _data() -> int:
    """Bytes of private writable memory in use."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
