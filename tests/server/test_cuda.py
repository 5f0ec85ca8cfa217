"""CUDA C++ over real pipes: files by any of the names that editors have for it, and headers as they are typed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cuda.conftest import missing

from .rpc import running

HEADER = "#pragma once\n__device__ inline float twice(float x) { return 2.0f * x; }\n"
KERNEL = """\
#include <cstdio>
#include "twice.cuh"

template <typename T>
__global__ void scale(T *x, int n) {
    const int i = threadIdx.x;
    if (i < n) x[i] = twice(x[i]);
}

int main() { float *x = nullptr; scale<<<1, 32>>>(x, 32); }
"""


@pytest.mark.parametrize(("editor", "language"), [("vscode", "cuda-cpp"), ("nvim", "cuda"), ("eglot", "c++")])
async def test_a_cuda_file(editor: str, language: str, tmp_path: Path, cache: Path):
    if (lack := missing()) is not None:
        pytest.skip(lack)
    (tmp_path / "twice.cuh").write_text(HEADER)
    path, header = tmp_path / "scale.cu", tmp_path / "twice.cuh"
    async with running(editor, tmp_path) as client:
        client.settings = {"python": sys.executable, "targets": ["sm_90"], "cache": {"directory": str(cache)}}
        options = {} if "configuration" in client.capabilities["workspace"] else {"settings": client.settings}
        await client.initialize(tmp_path, trusted=True, **options)
        client.open(path.as_uri(), KERNEL, language)
        here = {"textDocument": {"uri": path.as_uri()}}
        await client.ask("tile/document", {**here, "kernel": "scale", "stage": "types"})
        hover = await client.ask("textDocument/hover", {**here, "position": {"line": 5, "character": 14}})
        assert "const int" in hover["contents"]["value"]
        sass = await client.ask("tile/document", {**here, "kernel": "scale", "stage": "sass"})
        assert "STG" in sass["text"]
        # The header as it is typed, not as it is on disk.
        client.open(header.as_uri(), HEADER.replace("2.0f * x", "lost * x"), language)
        client.tell(
            "textDocument/didChange",
            {
                "textDocument": {"uri": header.as_uri(), "version": 2},
                "contentChanges": [{"text": HEADER.replace("2.0f * x", "lost + x")}],
            },
        )
        types = await client.ask("tile/document", {**here, "kernel": "scale", "stage": "types"})
        assert 'identifier "lost" is undefined' in str(types), types
        await client.close()
