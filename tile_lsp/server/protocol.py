"""The JSON-RPC side of the server: pygls' protocol with the parts replaced that lose or mishandle messages.

Every request is answered: malformed, unknown, early or late ones with an error that says why. Work of an `async`
handler ends when its request is cancelled, `workspace/executeCommand` included. `initialize` reads only what this
server uses of the client's capabilities, so that a client that is newer than lsprotocol is no malformed one.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import msgspec
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from .client import InitializeParams
from .lsp import types
from .requests import REQUESTS
from .transport import frame

if TYPE_CHECKING:
    from .server import TileServer

log = logging.getLogger(__name__)

MsgId = int | str | None


class TileProtocol(LanguageServerProtocol):
    """One connection."""

    _server: TileServer

    def __init__(self, server: TileServer, converter: Any) -> None:
        super().__init__(server, converter)
        self.initialized = False
        self._loaded = False
        self.exit_code: int | None = None
        """Set once the client asked us to exit."""
        self.commands: dict[str, Callable[[types.ExecuteCommandParams], Coroutine[Any, Any, Any]]] = {}

    # -- in ----------------------------------------------------------------------------------------------------------

    def receive(self, body: bytes) -> None:
        """Take in one message. Never raises."""
        try:
            data = _decode(body)
        except ValueError as error:
            self._fail(None, JsonRpcParseError(f"not JSON: {error}"))
            return
        if not isinstance(data, dict):
            self._fail(None, JsonRpcInvalidRequest("a message is one JSON object"))
            return
        method, msg_id = data.get("method"), data.get("id")
        try:
            if method is None and msg_id is not None:
                self._receive_response(msg_id, data)
            elif not isinstance(method, str):
                self._fail(msg_id, JsonRpcInvalidRequest("a message has a method, or an id and a result"))
            elif "id" in data:
                self._receive_request(method, msg_id, data)
            else:
                self._receive_notification(method, data)
        except Exception as error:
            log.exception("could not handle %s", method)
            if "id" in data and method is not None:
                self._fail(msg_id, JsonRpcInternalError(f"{type(error).__name__}: {error}"))

    def _receive_request(self, method: str, msg_id: MsgId, data: dict[str, Any]) -> None:
        if self._shutdown:
            self._fail(msg_id, JsonRpcInvalidRequest("the server is shutting down"))
            return
        if not self.initialized and method != types.INITIALIZE:
            self._fail(msg_id, JsonRpcServerNotInitialized("the first request is initialize"))
            return
        try:
            handler = self._get_handler(method)
            params = self._params(method, data)
        except JsonRpcException as error:
            self._fail(msg_id, error)
            return

        def run() -> None:
            self._ctx_msg_id.set(msg_id)
            self._execute_handler(
                msg_id, handler, lambda future: self._send_handler_result(future, msg_id=msg_id), args=(params,)
            )

        contextvars.copy_context().run(run)

    def _receive_notification(self, method: str, data: dict[str, Any]) -> None:
        if method == types.EXIT:
            self.exit_code = 0 if self._shutdown else 1
            self._server.stop()
            return
        if self._shutdown or not self.initialized:
            return
        if method == types.CANCEL_REQUEST:
            future = self._request_futures.pop((data.get("params") or {}).get("id"), None)
            if future is not None:
                future.cancel()
            return
        try:
            handler = self._get_handler(method)
            params = self._params(method, data)
        except JsonRpcMethodNotFound:
            return
        except JsonRpcException as error:
            log.warning("%s ignored: %s", method, error.message)
            return
        contextvars.copy_context().run(
            self._execute_handler, f"notification {method}", handler, self._check_handler_result, (params,)
        )

    def _receive_response(self, msg_id: MsgId, data: dict[str, Any]) -> None:
        future = self._request_futures.pop(msg_id, None)
        result_type = self._result_types.pop(msg_id, None)
        if future is None or future.done():
            return
        if (error := data.get("error")) is not None:
            error = error if isinstance(error, dict) else {}
            future.set_exception(
                JsonRpcException(str(error.get("message", "error")), error.get("code"), error.get("data"))
            )
            return
        try:
            message = self._converter.structure(data, result_type) if result_type else None
            future.set_result(message.result if message is not None else data.get("result"))
        except Exception as malformed:
            log.warning("the client's answer to a request is malformed: %r", malformed)
            future.set_exception(JsonRpcInvalidParams(f"malformed answer: {malformed!r}"))

    def _params(self, method: str, data: dict[str, Any]) -> Any:
        """The message's parameters as the handler takes them. Raises `JsonRpcInvalidParams`."""
        if (request := REQUESTS.get(method)) is not None:
            return convert(data.get("params") or {}, request.params)
        if method == types.INITIALIZE:
            return convert(data.get("params") or {}, InitializeParams)
        message_type = self.get_message_type(method)
        if message_type is None:
            return data.get("params")
        try:
            return self._converter.structure(data, message_type).params
        except Exception as error:
            from cattrs import transform_error

            reasons = "; ".join(transform_error(error, path="params")[:3])
            raise JsonRpcInvalidParams(f"{method}: {reasons.replace('params.params', 'params')}") from error

    # -- out ---------------------------------------------------------------------------------------------------------

    def _send_handler_result(self, future: Future[Any] | asyncio.Future[Any], *, msg_id: MsgId) -> None:
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._fail(msg_id, JsonRpcRequestCancelled())
            return
        error = future.exception()
        if error is None:
            self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "result": future.result()})
        elif isinstance(error, JsonRpcException):
            self._fail(msg_id, error)
        else:
            log.error("request %s failed", msg_id, exc_info=error)
            self._fail(msg_id, JsonRpcInternalError(f"{type(error).__name__}: {error}"))

    def _check_handler_result(self, future: Future[Any] | asyncio.Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            log.error("a notification's handler failed", exc_info=error)

    def _fail(self, msg_id: MsgId, error: JsonRpcException) -> None:
        self._send_data(
            {"jsonrpc": self.VERSION, "id": msg_id, "error": {"code": error.code, "message": error.message}}
        )

    def _send_data(self, data: Any) -> None:
        if self.writer is None:
            return
        plain = self._converter.unstructure(data)
        try:
            body = msgspec.json.encode(plain)
        except UnicodeEncodeError:  # half of a surrogate pair: JSON can say it, UTF-8 can't
            body = json.dumps(msgspec.to_builtins(plain)).encode()
        self.writer.write(frame(body))

    def _get_handler(self, feature_name: str) -> Callable[..., Any]:
        if self.initialized and not self._loaded:
            self.load()
        return super()._get_handler(feature_name)

    def load(self) -> None:
        """Register the handlers; they take time to import, and `initialize` is answered without them."""
        if not self._loaded:
            from .handlers import register_all

            register_all(self._server)
            self._loaded = True

    # -- the life of a connection ------------------------------------------------------------------------------------

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: InitializeParams) -> types.InitializeResult:
        if self.initialized:
            raise JsonRpcInvalidRequest("initialize was already called")
        result = self._server.initialize(params)
        self.initialized = True
        asyncio.get_running_loop().call_soon(self.load)
        return result

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, *_: object) -> None:
        current = asyncio.current_task()
        self._shutdown = True
        for future in list(self._request_futures.values()):
            if future is not current and not future.done():
                future.cancel()
        await self._server.close()

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:
        command = self.commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"no such command: {params.command}")
        return await command(params)

    # The session holds the texts; pygls' own workspace would be a second one, with other line ends.

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.did_open(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.did_change(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.did_close(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._server.did_open_notebook(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        self._server.did_change_notebook(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        self._server.did_close_notebook(params)

    @lsp_method(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def lsp_workspace__did_change_workspace_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        self._server.did_change_folders(params)

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        self._server.work_done.cancel(params.token)


def convert(value: object, type_: type[Any]) -> Any:
    """Raises `JsonRpcInvalidParams` with the path of what is wrong."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise JsonRpcInvalidParams(str(error)) from error


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return json.loads(body)  # takes halves of surrogate pairs, which a client may send while one is typed
