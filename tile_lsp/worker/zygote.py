"""The warm process that forks a worker for each piece of work. It runs no user code, has one thread and no CUDA
context.

Server → zygote: `{"op": "fork", "id": 7, "memory": N, "touch": true}` with two descriptors: the worker's socket, and
the pipe for its output. Zygote → server: `{"event": "forked", "id": 7, "pid": P}`, and when it ends `{"event":
"exit", "pid": P, "status": S | null, "signal": S | null}`.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections import deque
from typing import Any, NoReturn

from . import child, confine
from .standins import StandIns
from .wire import Channel


def serve(control: socket.socket, standins: StandIns) -> None:
    """Until the server goes away; then the workers go too."""
    zygote = _Zygote(control, standins)
    try:
        zygote.run()
    finally:
        zygote.end_all()
        os._exit(0)


class _Zygote:
    def __init__(self, control: socket.socket, standins: StandIns) -> None:
        self._control = control
        self._channel = Channel(control.fileno())
        self._standins = standins
        self._workers: set[int] = set()
        self._descriptors: deque[int] = deque()
        self._buffer = b""
        # A signal that arrives between two waits must end the next one: it leaves a byte in this pipe.
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self._woken, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        confine.adopt_orphans()

    def run(self) -> None:
        while True:
            ready, _, _ = select.select([self._control, self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._reap()
            if self._control in ready and not self._take_requests():
                return

    def end_all(self) -> None:
        for pid in self._workers:
            _kill_group(pid)

    def _take_requests(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 16)
        if not data:
            return False
        self._descriptors.extend(descriptors)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._fork(child.decode(line))
        return True

    def _fork(self, request: dict[str, Any]) -> None:
        connection, output = self._descriptors.popleft(), self._descriptors.popleft()
        pid = os.fork()
        if pid == 0:
            self._become_worker(request, connection, output)
        os.close(connection)
        os.close(output)
        self._workers.add(pid)
        self._channel.send({"event": "forked", "id": request["id"], "pid": pid})

    def _become_worker(self, request: dict[str, Any], connection: int, output: int) -> NoReturn:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            confine.redirect_output(output)
            confine.close_inherited([self._control.detach(), self._woken, self._waker, *self._descriptors])
            connection = confine.move_high(connection)
            confine.confine(request["memory"])
            child.serve(Channel(connection), self._standins, touch=request["touch"])
            status = 0
        finally:
            os._exit(status)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._workers:
                self._workers.discard(pid)
                _kill_group(pid)
                code = os.waitstatus_to_exitcode(status)
                self._channel.send(
                    {
                        "event": "exit",
                        "pid": pid,
                        "status": code if code >= 0 else None,
                        "signal": -code if code < 0 else None,
                    }
                )
                self._end_orphans()

    def _end_orphans(self) -> None:
        """Processes that a dead worker's code started and that left its group."""
        for pid in confine.children_of_this_process():
            if pid not in self._workers:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass


def _kill_group(pid: int) -> None:
    """A worker leads a group of its own; before it does, there is nothing but itself to end."""
    for end in (os.killpg, os.kill):
        try:
            end(pid, signal.SIGKILL)
        except OSError:
            pass
