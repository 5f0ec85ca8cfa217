"""Messages in and out: framing, standard streams, sockets.

Standard input is read and standard output is written in threads of their own, which works for pipes, sockets, files and
terminals alike: a client that does not read never stops the event loop, and neither thread keeps the process alive.
"""

from __future__ import annotations

import asyncio
import os
import queue
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


class DescriptorWriter:
    """Writes to a file descriptor in order, without ever blocking the caller."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tile-lsp-stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._queue.put(data)

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
