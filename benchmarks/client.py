"""A language client with nothing but framing: what it measures is the server."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any


class Client:
    """`tile-lsp --stdio` as a child process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._id = 0
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def start(cls, environment: dict[str, str]) -> Client:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tile_lsp",
            "--stdio",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            limit=1 << 26,
        )
        return cls(process)

    async def initialize(self, folder: Path, settings: dict[str, Any]) -> None:
        await self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "capabilities": {"general": {"positionEncodings": ["utf-8"]}},
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
                "initializationOptions": {"settings": settings},
            },
        )
        self.tell("initialized", {})

    def ask(self, method: str, params: Any) -> asyncio.Future[Any]:
        self._id += 1
        answer = self._answers[self._id] = asyncio.get_running_loop().create_future()
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return answer

    def tell(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def timed(self, method: str, params: Any) -> tuple[float, Any]:
        start = time.perf_counter()
        answer = await self.ask(method, params)
        return time.perf_counter() - start, answer

    async def end(self) -> None:
        await self.ask("shutdown", None)
        self.tell("exit", None)
        await self.process.wait()
        self._reading.cancel()

    def _send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        while header := await stdout.readline():
            length = int(header.partition(b":")[2])
            while (await stdout.readline()).strip():
                pass
            message = json.loads(await stdout.readexactly(length))
            if "method" not in message:
                answer = self._answers.pop(message["id"])
                if not answer.done():
                    answer.set_result(message.get("result"))
            elif "id" in message:
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": None})
