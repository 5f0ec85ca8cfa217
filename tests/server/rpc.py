"""A strict JSON-RPC client over real pipes.

It has the capabilities of a real editor, answers what that editor would answer, and fails on what none should get:
messages that are malformed, answers to nothing, requests that the client never said it takes, popups and log lines that
nobody waited for.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cattrs import Converter
from lsprotocol import converters, types

from tests.support.patience import PATIENCE

CLIENTS = Path(__file__).with_name("clients")
SERVER = [sys.executable, "-c", "import sys; from tile_lsp.server import main; sys.exit(main())"]


def server_after(statements: str) -> list[str]:
    """The server with something of it set otherwise."""
    return [*SERVER[:2], f"{statements}\n{SERVER[2]}"]


#: It generates no code before somebody asks.
UNASKED_NOTHING = server_after(
    "from tile_lsp.engine.session import Session\nSession.__init__.__kwdefaults__['idle_delay'] = None"
)
_CONVERTER: Converter = converters.get_converter()

#: Requests of the server, and where the client's capabilities must allow them.
_ALLOWED = {
    "workspace/configuration": ("workspace", "configuration"),
    "client/unregisterCapability": ("workspace", "didChangeWatchedFiles", "dynamicRegistration"),
    "window/workDoneProgress/create": ("window", "workDoneProgress"),
    "window/showDocument": ("window", "showDocument"),
    "window/showMessageRequest": ("window", "showMessage"),
    "workspace/inlayHint/refresh": ("workspace", "inlayHint", "refreshSupport"),
    "workspace/codeLens/refresh": ("workspace", "codeLens", "refreshSupport"),
    "workspace/diagnostic/refresh": ("workspace", "diagnostics", "refreshSupport"),
    "workspace/semanticTokens/refresh": ("workspace", "semanticTokens", "refreshSupport"),
    "workspace/textDocumentContent/refresh": ("workspace", "textDocumentContent"),
}
_POPUPS = ("window/showMessage", "window/logMessage")


class RpcError(Exception):
    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    def __init__(self, process: asyncio.subprocess.Process, capabilities: dict[str, Any]) -> None:
        self.process = process
        self.capabilities = capabilities
        self.settings: dict[str, Any] = {}
        self.answers: dict[str, Callable[[Any], Any]] = {}
        """By method: what to answer to a request of the server, where it isn't null; a future is what is said later."""
        self.received: list[tuple[str, Any]] = []
        """Requests and notifications, in order."""
        self.server: dict[str, Any] = {}
        """Its capabilities."""
        self._pending: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._id = 0
        self._news = asyncio.Condition()
        self._fault: str | None = None
        self._reading = asyncio.ensure_future(self._read())

    # -- talking -----------------------------------------------------------------------------------------------------

    def send(self, method: str, params: Any = None) -> asyncio.Future[Any]:
        """A request; `request_id` of the future names it for cancelling."""
        self._id += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.request_id = self._id  # type: ignore[attr-defined]
        self._pending[self._id] = (method, future)
        self.raw({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return future

    async def ask(self, method: str, params: Any = None) -> Any:
        return await asyncio.wait_for(self.send(method, params), PATIENCE)

    def tell(self, method: str, params: Any = None) -> None:
        self.raw({"jsonrpc": "2.0", "method": method, "params": params})

    def raw(self, message: Any) -> None:
        self.raw_bytes(json.dumps(message).encode())

    def raw_bytes(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def until(self, method: str, wanted: Callable[[Any], bool] = lambda params: True) -> Any:
        """The parameters of the first message of a method that satisfies a condition; it counts as consumed."""

        def find() -> int | None:
            return next((i for i, (m, p) in enumerate(self.received) if m == method and wanted(p)), None)

        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(lambda: find() is not None or self._fault), PATIENCE)
            except TimeoutError:
                raise AssertionError(f"no {method} came; there came {[m for m, _ in self.received]}") from None
        self.check()
        index = find()
        assert index is not None
        return self.received.pop(index)[1]

    def check(self) -> None:
        assert self._fault is None, self._fault

    # -- hearing -----------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            while True:
                headers = {}
                while line := (await self.process.stdout.readline()).decode("ascii").strip():
                    name, _, value = line.partition(":")
                    headers[name.lower()] = value.strip()
                if not headers:
                    break
                body = await self.process.stdout.readexactly(int(headers["content-length"]))
                self._take(json.loads(body))
                async with self._news:
                    self._news.notify_all()
        except Exception as error:
            self._fault = f"malformed output: {error!r}"
        for _, future in self._pending.values():
            if not future.done():
                future.set_exception(ConnectionError(self._fault or "the server ended"))
        async with self._news:
            self._news.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        assert message["jsonrpc"] == "2.0", message
        if "method" not in message:
            self._take_answer(message)
            return
        method, params = message["method"], message.get("params")
        self.received.append((method, params))
        if known := types.METHOD_TO_TYPES.get(method):
            _CONVERTER.structure(message, known[0])
        if "id" not in message:
            return
        for keys in _allowed(method, params):
            value: Any = self.capabilities
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            assert value, f"{method}: this client does not take it"
        result = self._default(method, params) if method not in self.answers else self.answers[method](params)
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if isinstance(result, asyncio.Future):
            result.add_done_callback(lambda said: self.raw({**answer, "result": said.result()}))
        else:
            self.raw({**answer, "result": result})

    def _default(self, method: str, params: Any) -> Any:
        if method == "workspace/configuration":
            return [self.settings for _ in params["items"]]
        return {"success": True} if method == "window/showDocument" else None

    def _take_answer(self, message: dict[str, Any]) -> None:
        if message["id"] is None:
            self.received.append(("error", message["error"]))
            return
        method, future = self._pending.pop(message["id"])
        if future.done():
            return
        if "error" in message:
            future.set_exception(RpcError(message["error"]))
            return
        if (known := types.METHOD_TO_TYPES.get(method)) and known[1]:
            _CONVERTER.structure(message, known[1])
        future.set_result(message["result"])

    # -- the life of a session ---------------------------------------------------------------------------------------

    async def initialize(
        self, root: Path | None, *, folders: list[dict[str, str]] | None = None, **options: Any
    ) -> dict[str, Any]:
        result = await self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri() if root else None,
                **({"workspaceFolders": folders} if folders is not None else {}),
                "capabilities": self.capabilities,
                "initializationOptions": options or None,
            },
        )
        self.server = result["capabilities"]
        self.tell("initialized", {})
        return result

    @property
    def encoding(self) -> str:
        return self.server["positionEncoding"]

    def character(self, line: str, index: int) -> int:
        """The column, in the negotiated encoding, of a Python index into a line."""
        prefix = line[:index]
        if self.encoding == "utf-32":
            return len(prefix)
        return len(prefix.encode()) if self.encoding == "utf-8" else len(prefix.encode("utf-16-le")) // 2

    def open(self, uri: str, text: str, language: str = "python") -> None:
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    async def close(self) -> None:
        """Say goodbye in the way the protocol has it; the server must end well, and have said nothing unasked."""
        assert await self.ask("shutdown") is None
        self.tell("exit")
        assert await asyncio.wait_for(self.process.wait(), PATIENCE) == 0
        await self._reading
        self.check()
        assert not self._pending, self._pending
        unasked = [(method, params) for method, params in self.received if method in _POPUPS]
        assert not unasked, unasked

    async def kill(self) -> None:
        self._reading.cancel()
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


def _allowed(method: str, params: Any) -> list[tuple[str, ...]]:
    if method != "client/registerCapability":
        return [_ALLOWED[method]]
    return [(*one["method"].split("/"), "dynamicRegistration") for one in params["registrations"]]


def capabilities_of(editor: str, encodings: list[str] | None = None) -> dict[str, Any]:
    """What a real editor said of itself, with other position encodings where such are given."""
    capabilities = json.loads((CLIENTS / f"{editor}.json").read_text())["capabilities"]
    if encodings is not None:
        capabilities.setdefault("general", {})["positionEncodings"] = encodings
    return capabilities


@asynccontextmanager
async def running(
    editor: str,
    home: Path,
    *,
    encodings: list[str] | None = None,
    arguments: tuple[str, ...] = ("--stdio",),
    server: list[str] = SERVER,
) -> AsyncIterator[Client]:
    """A server with an editor's capabilities; not initialized yet. Kill it if the test fails before `close`."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(home / "cache"), "HOME": str(home)}
    process = await asyncio.create_subprocess_exec(
        *server,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
        limit=1 << 26,
    )
    client = Client(process, capabilities_of(editor, encodings))
    try:
        yield client
    finally:
        await client.kill()
