"""Running one server on one stream, until the client ends it, closes the stream, or dies."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from tile_lsp.engine import collector

from .server import TileServer
from .transport import DescriptorWriter, Writer, read_descriptor, read_messages

log = logging.getLogger(__name__)

_CLIENT_CHECK = 3.0
"""Seconds between looks at whether the client's process still lives."""
_FAREWELL = 5.0
"""Seconds that workers get to end before we leave without them."""


SWITCH_INTERVAL = 0.0002
"""Seconds that a thread may keep the interpreter to itself while a message waits for it."""


async def serve(reader: asyncio.StreamReader, writer: Writer) -> int:
    """Serve one client. Returns the exit code: 0 if it said goodbye in the way the protocol has it, else 1."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    stopped = asyncio.Event()
    server = TileServer(stopped.set)
    server.protocol.set_writer(writer)

    async def pump() -> None:
        async for body in read_messages(reader):
            server.protocol.receive(body)
        stopped.set()

    async def watch_client() -> None:
        # No event tells of another process's end.
        while server.client_process is None or _alive(server.client_process):  # noqa: ASYNC110
            await asyncio.sleep(_CLIENT_CHECK)
        log.warning("the client's process is gone")
        stopped.set()

    tasks = [asyncio.ensure_future(pump()), asyncio.ensure_future(watch_client())]
    try:
        await stopped.wait()
    finally:
        for task in tasks:
            task.cancel()
        try:
            await asyncio.wait_for(server.close(), _FAREWELL)
        except TimeoutError:
            log.warning("workers did not end in time")
        writer.close()
    return server.protocol.exit_code if server.protocol.exit_code is not None else 1


def run_stdio() -> int:
    """Serve on standard input and output. Whatever else writes to standard output goes to standard error instead."""
    output = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    async def main() -> int:
        collector.calm()
        return await serve(read_descriptor(0), DescriptorWriter(output))

    return asyncio.run(main())


def run_tcp(host: str, port: int) -> int:
    """Wait for one client, and serve it. The address goes to standard error, for a port that was chosen freely."""

    async def main() -> int:
        code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if code.done() or busy:
                writer.close()
                return
            busy.append(True)
            result = await serve(reader, writer)
            if not code.done():
                code.set_result(result)

        busy: list[bool] = []
        listener = await asyncio.start_server(connected, host, port)
        address = listener.sockets[0].getsockname()
        print(f"tile-lsp listens on {address[0]}:{address[1]}", file=sys.stderr, flush=True)  # noqa: T201
        async with listener:
            return await code

    return asyncio.run(main())


def _alive(process: int) -> bool:
    if os.name == "nt":
        import psutil

        return psutil.pid_exists(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it lives, and is another user's
    return True
