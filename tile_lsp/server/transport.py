"""Messages in and out: framing, standard streams, sockets.

Pipes and sockets are read and written on the event loop: each thread that a message goes through would have to wait for
the interpreter's lock, which analysis holds most of the time under load. Files, and output that a client is slow to
read, go through threads of their own, so nothing ever stops the event loop; neither thread keeps the process alive.
"""

from __future__ import annotations

import asyncio
import os
import queue
import select
import stat
import threading
from collections.abc import AsyncIterator
from typing import Protocol

_MAX_MESSAGE = 1 << 30
"""Bytes. A length beyond it is garbage in the stream."""
_CHUNK = 1 << 16


class Writer(Protocol):
    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


async def read_messages(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Bodies of messages until the stream ends. Lines that are no header are skipped: noise in between is harmless."""
    length: int | None = None
    try:
        while line := await reader.readline():
            name, colon, value = line.partition(b":")
            if colon and name.strip().lower() == b"content-length":
                digits = value.strip()
                length = int(digits) if digits.isdigit() and int(digits) <= _MAX_MESSAGE else None
            elif not line.strip() and length is not None:
                body = await reader.readexactly(length)
                length = None
                yield body
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        return


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def read_descriptor(descriptor: int) -> asyncio.StreamReader:
    """A reader fed from a file descriptor; at its end, EOF. Call it on the running loop."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_MAX_MESSAGE)

    def take() -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            reader.feed_data(data)
        else:
            loop.remove_reader(descriptor)
            reader.feed_eof()

    if _is_stream(descriptor):
        try:
            loop.add_reader(descriptor, take)
            return reader
        except (OSError, NotImplementedError):
            pass

    def feed() -> None:
        while True:
            try:
                data = os.read(descriptor, _CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(reader.feed_data if data else lambda _: reader.feed_eof(), data)
            except RuntimeError:
                return  # the loop has ended before the stream
            if not data:
                return

    threading.Thread(target=feed, name="tile-lsp-stdin", daemon=True).start()
    return reader


def _is_stream(descriptor: int) -> bool:
    """True for pipes and sockets."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return os.name == "posix" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


class DescriptorWriter:
    """Writes to a file descriptor in order, without ever blocking the caller."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._poll = select.poll() if _is_stream(descriptor) else None
        if self._poll is not None:
            self._poll.register(descriptor, select.POLLOUT)
        # While the thread has something to write, what comes after it must wait its turn. A count for each of the two
        # threads: neither needs a lock.
        self._put = self._taken = 0
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tile-lsp-stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        if self._put != self._taken or not self._written_at_once(data):
            self._hand_over(data)

    def _hand_over(self, data: bytes) -> None:
        self._put += 1
        self._queue.put(data)

    def _written_at_once(self, data: bytes) -> bool:
        """What fits into a page of a pipe is taken whole or not at all."""
        if self._poll is None or len(data) > select.PIPE_BUF:
            return False
        ready = self._poll.poll(0)
        if not ready or ready[0][1] != select.POLLOUT:
            return False
        try:
            rest = data[os.write(self._descriptor, data) :]
        except OSError:
            return False
        if rest:
            self._hand_over(rest)
        return True

    def close(self, timeout: float = 2.0) -> None:
        """Write what is left; give up on a client that does not read."""
        self._queue.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        while (data := self._queue.get()) is not None:
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError:
                return  # the client is gone; the reader sees it too
            self._taken += 1
