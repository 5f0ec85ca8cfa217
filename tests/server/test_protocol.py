"""What every client is owed, whatever it sends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from tests.support.patience import PATIENCE

from .rpc import SERVER, RpcError, capabilities_of, running

EDITORS = ["vscode", "nvim", "eglot", "ale"]


@pytest.mark.parametrize("editor", EDITORS)
async def test_a_session_of_each_editor(editor, tmp_path):
    async with running(editor, tmp_path) as client:
        result = await client.initialize(tmp_path)
        assert result["serverInfo"]["name"] == "tile-lsp"
        assert client.encoding == {"nvim": "utf-8"}.get(editor, "utf-16")
        pulls = editor == "vscode"
        assert ("diagnosticProvider" in client.server) == pulls, "pulling needs a client that can be told to"
        content = client.server["workspace"].get("textDocumentContent")
        assert content == ({"schemes": ["tile"]} if editor == "vscode" else None)
        await client.close()


@pytest.mark.parametrize(
    ("encodings", "chosen"),
    [
        (["utf-32", "utf-8"], "utf-32"),
        (["utf-7", "utf-8"], "utf-8"),
        (["utf-7"], "utf-16"),
        ([], "utf-16"),
    ],
)
async def test_the_clients_first_encoding_is_taken(encodings, chosen, tmp_path):
    async with running("vscode", tmp_path, encodings=encodings) as client:
        await client.initialize(tmp_path)
        assert client.encoding == chosen
        await client.close()


INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, NOT_INITIALIZED, PARSE_ERROR = -32602, -32600, -32601, -32002, -32700


@pytest.mark.parametrize(
    ("method", "params", "code", "says"),
    [
        ("textDocument/hover", {"position": {"line": 0}}, INVALID_PARAMS, "text_document"),
        ("textDocument/hover", [1, 2], INVALID_PARAMS, ""),
        ("tile/document", {"uri": 3}, INVALID_PARAMS, "$.uri"),
        ("tile/document", {}, INVALID_PARAMS, "kernel"),
        ("tile/document", {"uri": "tile:/sass/x?nonsense"}, INVALID_PARAMS, "not a document"),
        ("tile/selectJob", {"textDocument": {"uri": "file:///x.py"}, "kernel": "k", "index": 0}, INVALID_PARAMS, "k"),
        ("workspace/textDocumentContent", {"uri": "tile:/x"}, INVALID_PARAMS, "tile:/x"),
        ("workspace/executeCommand", {"command": "rm"}, INVALID_PARAMS, "rm"),
        ("workspace/executeCommand", {"command": "tile.show"}, INVALID_PARAMS, "one object"),
        ("workspace/executeCommand", {"command": "tile.show", "arguments": [{"uri": 1}]}, INVALID_PARAMS, "$.uri"),
        ("initialize", {"capabilities": {}}, INVALID_REQUEST, "already"),
        ("no/such", None, NOT_FOUND, "no/such"),
    ],
)
async def test_a_bad_request_is_answered(method, params, code, says, tmp_path):
    async with running("vscode", tmp_path) as client:
        await client.initialize(tmp_path)
        with pytest.raises(RpcError, match=r".*") as error:
            await client.ask(method, params)
        assert error.value.code == code
        assert says in str(error.value)
        await client.close()


async def test_malformed_messages_leave_the_stream_sound(tmp_path):
    async with running("nvim", tmp_path) as client:
        await client.initialize(tmp_path)
        client.raw_bytes(b"{nonsense")
        client.raw([1, 2])
        client.raw({"jsonrpc": "2.0"})
        client.process.stdin.write(b"a stray line\r\nContent-Length: x\r\n\r\n")
        client.tell("textDocument/didOpen", {"nonsense": True})
        client.tell("no/such")
        client.raw({"jsonrpc": "2.0", "id": "of nothing", "result": 1})
        codes = [(await client.until("error"))["code"] for _ in range(3)]
        assert codes == [PARSE_ERROR, INVALID_REQUEST, INVALID_REQUEST]
        assert (await client.ask("tile/status"))["state"] == "idle"
        await client.close()


async def test_requests_before_initialize_and_after_shutdown_are_refused(tmp_path):
    async with running("nvim", tmp_path) as client:
        with pytest.raises(RpcError) as error:
            await client.ask("tile/status")
        assert error.value.code == NOT_INITIALIZED
        await client.initialize(tmp_path)
        await client.ask("shutdown")
        with pytest.raises(RpcError) as error:
            await client.ask("tile/status")
        assert error.value.code == INVALID_REQUEST
        client.tell("exit")
        assert await asyncio.wait_for(client.process.wait(), PATIENCE) == 0


@pytest.mark.parametrize(
    "capabilities",
    [
        pytest.param({}, id="none"),
        pytest.param({"textDocument": {"codeAction": 7, "hover": {"contentFormat": "x"}}}, id="wrong"),
        pytest.param({"workspace": {"symbol": {"symbolKind": {"valueSet": [99]}}}, "new": {}}, id="newer than us"),
    ],
)
async def test_initialize_takes_any_capabilities(capabilities, tmp_path):
    async with running("ale", tmp_path) as client:
        client.capabilities = capabilities
        await client.initialize(tmp_path)
        await client.close()


async def test_wrong_options_are_said_and_trust_nothing(tmp_path):
    async with running("nvim", tmp_path) as client:
        await client.initialize(tmp_path, trusted="yes")
        said = await client.until("window/logMessage")
        assert "trusted" in said["message"]
        assert (await client.ask("tile/status"))["trusted"] is False
        await client.close()


async def test_other_schemes_are_nobodys_business(tmp_path):
    async with running("vscode", tmp_path) as client:
        await client.initialize(tmp_path)
        for uri in ("untitled:Untitled-1", "git:/a.py?x", "vscode-notebook-cell:/a.ipynb#W0", "file:///a/nothing.py"):
            document = {"uri": uri}
            if not uri.startswith("file:"):
                client.open(uri, "import cuda.tile as ct\n")
            at = {"textDocument": document, "position": {"line": 0, "character": 3}}
            whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
            assert await client.ask("textDocument/hover", at) is None
            assert not await client.ask("textDocument/definition", at)
            assert not await client.ask("textDocument/codeLens", {"textDocument": document})
            assert not await client.ask("textDocument/inlayHint", {"textDocument": document, "range": whole})
            change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "x"}]}
            client.tell("textDocument/didChange", change)
            client.tell("textDocument/didClose", {"textDocument": document})
        await client.close()


async def test_it_ends_when_its_input_ends(tmp_path):
    async with running("vscode", tmp_path) as client:
        await client.initialize(tmp_path)
        client.process.stdin.close()
        assert await asyncio.wait_for(client.process.wait(), PATIENCE) == 1


async def test_it_ends_when_its_client_dies_and_leaves_the_pipe_open(tmp_path):
    sleeper = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    async with running("nvim", tmp_path) as client:
        await client.ask("initialize", {"processId": sleeper.pid, "capabilities": capabilities_of("nvim")})
        sleeper.kill()
        await sleeper.wait()
        assert await asyncio.wait_for(client.process.wait(), PATIENCE) == 1


async def test_what_is_printed_never_reaches_the_client(tmp_path):
    noisy = (
        "import os, sys; from tile_lsp.server import server as module; make = module.TileServer.initialize\n"
        "def noisy(self, params):\n"
        "    print('print'); os.system('echo shell'); os.write(1, b'raw'); return make(self, params)\n"
        "module.TileServer.initialize = noisy\nfrom tile_lsp.server import main; sys.exit(main())"
    )
    process = await asyncio.create_subprocess_exec(
        SERVER[0], "-c", noisy, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    out, err = await process.communicate(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert out.startswith(b"Content-Length: ")
    assert all(word in err and word not in out for word in (b"print\n", b"shell\n", b"raw"))


async def test_one_client_over_tcp(tmp_path):
    process = await asyncio.create_subprocess_exec(*SERVER, "--tcp", stderr=asyncio.subprocess.PIPE)
    try:
        said = (await asyncio.wait_for(process.stderr.readline(), PATIENCE)).decode()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(said.rpartition(":")[2]))
        body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
        writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert (await asyncio.wait_for(reader.readline(), PATIENCE)).startswith(b"Content-Length: ")
        writer.close()
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 1
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_interrupted_it_ends(tmp_path):
    async with running("nvim", tmp_path) as client:
        await client.initialize(tmp_path)
        os.kill(client.process.pid, signal.SIGTERM)
        await asyncio.wait_for(client.process.wait(), PATIENCE)
