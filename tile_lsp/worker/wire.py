"""The protocol's frame: one JSON object a line, in both directions, on a socket that user code has no name for."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

PROTOCOL = 2

_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode
_decode = json.JSONDecoder().decode


def encode(message: Mapping[str, Any]) -> bytes:
    # A lone surrogate, as in a file name that isn't UTF-8, has no encoding.
    return (_text(message) + "\n").encode("utf-8", "replace")


class Closed(Exception):
    """The descriptor is no longer the socket that it was."""


class Channel:
    """Blocking. Holds its own references to what it uses: user code may patch `json`."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._identity = _identity(fd)
        self._buffer = bytearray()

    def receive(self) -> dict[str, Any] | None:
        """The next message, or None where the other side is gone."""
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                line = self._buffer[:end]
                del self._buffer[: end + 1]
                return _decode(line.decode())
            data = os.read(self.fd, 1 << 20)
            if not data:
                return None
            self._buffer += data

    def send(self, message: Mapping[str, Any]) -> None:
        """Raises `Closed` where user code closed the descriptor, perhaps to open something else in its place."""
        if _identity(self.fd) != self._identity:
            raise Closed
        data = memoryview(encode(message))
        while data:
            data = data[os.write(self.fd, data) :]


def _identity(fd: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino
