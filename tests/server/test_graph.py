"""`tile/graph` over real pipes."""

from __future__ import annotations

import pytest

from .rpc import RpcError
from .test_features import BROKEN, content, workspace

__all__ = ["workspace"]


async def test_a_graph_has_its_blocks_with_their_listing_and_their_source(workspace):
    async with workspace() as ws:
        named = {"textDocument": {"uri": ws.uri}, "kernel": "copy", "stage": "sass"}
        found = await ws.client.ask("tile/graph", named)
        assert found["dot"].startswith("digraph {")
        assert (found["kernel"], found["stage"], found["label"]) == ("copy", "sass", "sm_90")
        assert found["source"] == ws.uri
        assert found["problems"] == []
        rows = (await content(ws, found["uri"])).split("\n")
        assert found["blocks"][0]["name"] == "entry"
        for block in found["blocks"]:
            assert f'{block["id"]} [id="{block["id"]}"' in found["dot"]
            assert rows[block["first"]].lstrip().startswith("/*")
            assert block["first"] <= block["last"]
        sources = [block["source"] for block in found["blocks"] if block["source"]]
        assert ws.at("ct.store")["line"] in [place["range"]["start"]["line"] for place in sources]
        # By its listing, it is the same.
        assert await ws.client.ask("tile/graph", {"uri": found["uri"]}) == found


async def test_why_there_is_none(workspace):
    async with workspace(text=BROKEN) as ws:
        named = {"textDocument": {"uri": ws.uri}, "kernel": "copy"}
        found = await ws.client.ask("tile/graph", {**named, "stage": "sass"})
        assert (found["dot"], found["blocks"]) == ("", [])
        assert "nothing" in found["problems"][0]
        with pytest.raises(RpcError, match="ptx has no control-flow graph; llvm, sass, amdgcn have one"):
            await ws.client.ask("tile/graph", {**named, "stage": "ptx"})
