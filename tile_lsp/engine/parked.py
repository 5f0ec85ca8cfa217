"""Start nvdisasm and park it just before it reads its code. A process of its own, started by path; stdlib only.

nvdisasm spends 0.3 to 0.6 s on its instruction tables at each start. In raw mode it opens its input twice: to see
whether it is an ELF file, then, with the tables built, to disassemble. A write lease (fcntl(2), F_SETLEASE) on a file
holds its opener up and tells us of it. So the first open finds a placeholder, the path is moved to an empty file while
that opener is held, and the second opener is stopped (SIGSTOP) while it is held: the stop interrupts its open, which
starts again when the process is continued. The lease is then no longer needed: the kernel's limit for breaking one does
not matter, and the process may stay parked for as long as one likes, at no cost but its memory.

Leases tell by SIGIO, whose default is to end the process: one reason for not doing this in the server.

    python parked.py NVDISASM ARCHITECTURE FOLDER

Says `ready` when parked; takes an 8-byte length (little-endian) and that many bytes of code; says `done STATUS` when
FOLDER/out is complete. End of input at any time ends everything and removes the folder. `failed WHY` means
that parking does not work here.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
import shutil
import signal
import subprocess
import sys

_PLACEHOLDER = bytes(128)
_PATIENCE = 120.0
"""Seconds for each of the two opens to come: a busy machine has little time for what is done at a low priority."""
_PR_SET_PDEATHSIG = 1


class Parked:
    def __init__(self, tool: str, architecture: str, folder: str) -> None:
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        for number in (signal.SIGIO, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        self._path = os.path.join(folder, "code")
        self._first = _leased(self._path, _PLACEHOLDER)
        self._second = _leased(f"{self._path}.next", b"")
        self._nice = _lower_priority()
        libc = ctypes.CDLL(None)
        with open(os.path.join(folder, "out"), "wb") as out, open(os.path.join(folder, "err"), "wb") as err:
            self._child = subprocess.Popen(
                [tool, "-b", architecture, self._path],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=folder,
                preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),
            )

    def park(self) -> None:
        self._wait_for_opener(self._first)
        os.rename(f"{self._path}.next", self._path)
        _release(self._first)
        os.close(self._first)
        self._wait_for_opener(self._second)
        self._child.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self._child.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self._child.returncode = os.waitstatus_to_exitcode(status)
            raise RuntimeError("nvdisasm ended instead of waiting for its code")
        _release(self._second)
        if self._nice is not None:
            os.setpriority(os.PRIO_PROCESS, self._child.pid, self._nice)

    def give(self, code: bytes) -> int:
        """nvdisasm's exit status."""
        with os.fdopen(self._second, "wb") as file:
            file.write(code)
        self._child.send_signal(signal.SIGCONT)
        while self._child.poll() is None:
            self._wait(None)
        return self._child.returncode

    def end(self) -> None:
        if self._child.returncode is None:
            self._child.kill()
            self._child.wait()

    def _wait_for_opener(self, file: int) -> None:
        while fcntl.fcntl(file, fcntl.F_GETLEASE) == fcntl.F_WRLCK:
            if self._child.poll() is not None:
                raise RuntimeError("nvdisasm ended before it had opened its input twice")
            self._wait(_PATIENCE)

    def _wait(self, patience: float | None) -> None:
        """Until a signal comes. End of input raises `EOFError`."""
        ready, _, _ = select.select([self._wake, 0], [], [], patience)
        if not ready:
            raise RuntimeError("nvdisasm did not open its input in time")
        if self._wake in ready:
            os.read(self._wake, 4096)
        elif not os.read(0, 1):
            raise EOFError


def _leased(path: str, content: bytes) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.write(file, content)
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    return file


def _release(file: int) -> None:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _lower_priority() -> int | None:
    """Building tables ahead of time must not slow what is wanted now; but only if priority can be raised for use."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    if os.geteuid() == 0 or resource.getrlimit(resource.RLIMIT_NICE)[0] >= 20 - before:
        os.setpriority(os.PRIO_PROCESS, 0, min(before + 10, 19))
        return before
    return None


def _read(count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = os.read(0, count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def main(tool: str, architecture: str, folder: str) -> None:
    parked = None
    try:
        parked = Parked(tool, architecture, folder)
        parked.park()
        _say("ready")
        code = _read(int.from_bytes(_read(8), "little"))
        _say(f"done {parked.give(code)}")
        _read(1)
    except EOFError:
        pass
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        _say(f"failed {error}")
    finally:
        if parked is not None:
            parked.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
