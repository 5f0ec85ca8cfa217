"""What a process prints."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable

from .limits import Limits


class Output:
    """What a process prints: drained all the time, its end kept."""

    def __init__(self, fd: int, limits: Limits, on_flood: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._limits = limits
        self._on_flood = on_flood
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.total = 0
        self._printed: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self._read)
        self._open = True

    def printed(self) -> asyncio.Future[None]:
        """Done when the process next prints something, or can't any more."""
        self._printed = self._loop.create_future()
        if not self._open:
            self._printed.set_result(None)
        return self._printed

    def text(self) -> str:
        while self._open and self._read():
            pass
        return b"".join(self._chunks)[-self._limits.output_tail :].decode("utf-8", "replace")

    def close(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._notify()

    def _notify(self) -> None:
        if self._printed is not None and not self._printed.done():
            self._printed.set_result(None)

    def _read(self) -> bool:
        """True if there was something."""
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        self._notify()
        self._chunks.append(data)
        self._size += len(data)
        self.total += len(data)
        while self._size - len(self._chunks[0]) >= self._limits.output_tail:
            self._size -= len(self._chunks.popleft())
        if self.total > self._limits.output_cap:
            self._on_flood()
            self.close()
        return True
