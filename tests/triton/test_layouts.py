"""Layouts as linear ones, held against those of each version of triton itself."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.server.rpc import running
from tile_lsp.analysis.layouts import linear, parse, types_in

from .conftest import VENVS, VERSIONS

#: The first release that says what layouts of shared memory are.
_SHARED = "triton-3.9"


@pytest.mark.parametrize("version", VERSIONS)
def test_each_layout_is_what_triton_makes_of_it(version: str):
    script = Path(__file__).with_name("reference_layouts.py")
    arguments = ["shared"] if version >= _SHARED else []
    ran = subprocess.run([VENVS / version / "bin" / "python", script, *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    reference = json.loads(ran.stdout)
    assert len(reference) > 30
    for text, bases in reference:
        (written,) = types_in(text)
        made = linear(parse(written.layout, {}), written.shape)
        assert {name: [list(basis) for basis in made.bases.get(name, ())] for name in bases} == bases, text


DOT = """\
import triton
import triton.language as tl


# tile-lsp: a_ptr=*fp16:16 c_ptr=*fp32:16 SIDE=64 num_warps=4 target=sm_80
@triton.jit
def k(a_ptr, c_ptr, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)
    where = at[:, None] * SIDE + at[None, :]
    a = tl.load(a_ptr + where)
    acc = tl.dot(a, a)
    tl.store(c_ptr + where, acc)
"""


@pytest.mark.skipif(not VERSIONS, reason="no triton: `make test` installs it")
async def test_thread_maps_in_hovers_of_ttgir_and_as_pictures(tmp_path: Path):
    (tmp_path / "tile-lsp.toml").write_text(f'python = "{VENVS / VERSIONS[-1] / "bin" / "python"}"\n')
    path = tmp_path / "dot.py"
    path.write_text(DOT)
    async with running("vscode", tmp_path) as client:
        await client.initialize(tmp_path)
        client.open(path.as_uri(), DOT)
        file = {"uri": path.as_uri()}
        shown = await client.ask("tile/document", {"textDocument": file, "kernel": "k", "stage": "ttgir"})
        line = next(i for i, row in enumerate(shown["text"].split("\n")) if re.search(r"%acc\w* = tt.dot", row))
        at = {"textDocument": {"uri": shown["uri"]}, "position": {"line": line, "character": 0}}
        hover = (await client.ask("textDocument/hover", at))["contents"]["value"]
        assert "64×64 over 4 warps of 32 threads: 32 elements a thread" in hover
        assert "0  0-1:T0   2-3:T1   4-5:T2   6-7:T3   8-9:T32" in hover
        of_line = await client.ask("tile/layout", at)
        row, text = next((i, row) for i, row in enumerate(DOT.split("\n")) if "acc = " in row)
        here = {"textDocument": file, "position": {"line": row, "character": text.index("acc")}}
        of_name = await client.ask("tile/layout", here)
        assert of_name["title"] == "acc"
        assert of_name["layouts"][0]["svg"].startswith("<svg ")
        assert "warp 1, lane 0, registers 0, 1</title>" in of_name["layouts"][0]["svg"]
        assert of_line["layouts"][0] == of_name["layouts"][0]
        nothing = await client.ask("tile/layout", {"textDocument": file, "position": {"line": 0, "character": 0}})
        assert nothing["layouts"] == []
        assert "Put it on a name that holds a tensor" in nothing["problem"]


LOOP = """\
import triton
import triton.language as tl


# tile-lsp: a_ptr=*fp16:16 c_ptr=*fp32:16 n=i32 SIDE=64 num_warps=4 num_stages=3 target=sm_90
@triton.jit
def k(a_ptr, c_ptr, n, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)
    where = at[:, None] * SIDE + at[None, :]
    acc = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for step in range(n):
        a = tl.load(a_ptr + where + step * SIDE * SIDE)
        acc = tl.dot(a, a, acc)
    tl.store(c_ptr + where, acc)
"""


@pytest.mark.skipif(not VERSIONS, reason="no triton: `make test` installs it")
async def test_the_layouts_of_a_name_are_those_of_its_tensor(tmp_path: Path):
    """Triton's pipeliner gives an accumulator's name to masks and to buffers of what is loaded."""
    (tmp_path / "tile-lsp.toml").write_text(f'python = "{VENVS / VERSIONS[-1] / "bin" / "python"}"\n')
    path = tmp_path / "loop.py"
    async with running("vscode", tmp_path) as client:
        await client.initialize(tmp_path)
        client.open(path.as_uri(), LOOP)

        async def at(name: str, line: str, request: str = "tile/layout") -> dict:
            row, text = next((i, row) for i, row in enumerate(LOOP.split("\n")) if line in row)
            position = {"line": row, "character": text.index(name)}
            return await client.ask(request, {"textDocument": {"uri": path.as_uri()}, "position": position})

        shown = await at("acc", "acc = tl.dot")
        assert [layout["type"] for layout in shown["layouts"]] == ["tensor<64x64xf32, #mma>"]
        assert shown["layouts"][0]["legend"][0].startswith("a box is what a thread holds")
        assert (shown["kernel"], shown["label"]) == ("k", "sm_90 · num_stages=3 · num_warps=4")
        said = json.dumps(await at("acc", "acc = tl.dot", "textDocument/hover"))
        assert re.findall(r"layout `(.*?)`", said) == ["#mma"]
        assert (await at("step", "for step"))["problem"] == "step is int32: only tensors lie over threads"
        path.write_text(LOOP)
        client.tell(
            "textDocument/didChange",
            {
                "textDocument": {"uri": path.as_uri(), "version": 2},
                "contentChanges": [{"text": LOOP.replace("tl.dot(a, a, acc)", "tl.dot(a, a, missing)")}],
            },
        )
        assert "missing" in (await at("a", "a = tl.load"))["problem"]
