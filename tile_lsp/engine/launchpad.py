"""Starts programs for the server. A process of its own, started by path; stdlib only.

To start a program is to fork, and a fork of the server holds its event loop up until the new process has had its turn
on a busy machine. This process is small, and nobody waits for it.

Requests, a JSON object a line on standard input: `{"id": 7, "argv": […], "cwd": F, "env": {…}, "out": F, "err": F}`,
`{"kill": 7}`. Answers on standard output: `{"id": 7, "code": 0}`, negative for a signal, or `{"id": 7, "error": WHY}`
for what could not be started. At the end of input every program ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
_NICE = 5
"""Tools take long and use all of a core; who types comes first."""
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Launchpad:
    def __init__(self) -> None:
        self._wake, wake = os.pipe()
        for end in (self._wake, wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._buffer = b""

    def serve(self) -> None:
        """Until the end of input."""
        while True:
            ready, _, _ = select.select([0, self._wake], [], [])
            if self._wake in ready:
                os.read(self._wake, 4096)
                self._reap()
            if 0 in ready:
                data = os.read(0, 1 << 20)
                if not data:
                    break
                *lines, self._buffer = (self._buffer + data).split(b"\n")
                for line in lines:
                    self._take(json.loads(line))
        for number in list(self._running):
            self._kill(number)

    def _take(self, request: dict[str, Any]) -> None:
        if "kill" in request:
            self._kill(request["kill"])
            return
        try:
            with open(request["out"], "wb") as out, open(request["err"], "wb") as err:
                self._running[request["id"]] = subprocess.Popen(
                    request["argv"],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    cwd=request["cwd"],
                    env=request["env"],
                    # A group, and no session of its own: priorities hold within a session.
                    process_group=0,
                    preexec_fn=_prepare,
                )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            _say({"id": request["id"], "error": getattr(error, "strerror", None) or str(error)})

    def _kill(self, number: int) -> None:
        process = self._running.get(number)
        if process is not None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass

    def _reap(self) -> None:
        for number, process in list(self._running.items()):
            if process.poll() is not None:
                self._kill(number)  # what it started and left behind
                del self._running[number]
                _say({"id": number, "code": process.returncode})


def _prepare() -> None:
    """In the new process, before its program: it must not outlive this one."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.nice(_NICE)


def _say(answer: dict[str, Any]) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    Launchpad().serve()
