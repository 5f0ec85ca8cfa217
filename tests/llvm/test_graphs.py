"""Graphs of real kernels, held against what the tools themselves say of their control flow."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import llvmlite.binding
import pytest

from tests.support.workbench import workbench
from tile_lsp.analysis import flow
from tile_lsp.analysis.cubin import read as read_cubin
from tile_lsp.ide.documents import document
from tile_lsp.ide.graph import graph
from tile_lsp.model.stage import Stage

from .test_stages import COMPILERS, TRITONS, examples, kernels, python_of

pytestmark = pytest.mark.slow


def jumps_of_nvdisasm(dot: str) -> set[tuple[int, int]]:
    """Edges of `nvdisasm -bbcfg` from the last instruction of a block to the first of another, by their indices, less
    those to the next one."""
    starts: dict[str, int] = {}
    ends: dict[str, int] = {}
    count = 0
    for match in re.finditer(r'^"([^"]+)"\n\[label="(.*)"\]$', dot, re.M):
        # An instruction ends in a semicolon; a directive does not.
        instructions = len(re.findall(r"\\ ;|(?<=[^\\]);", match[2]))
        starts[match[1]], count = count, count + instructions
        ends[match[1]] = count - 1
    edges = re.findall(r'^"([^"]+)":\w+:\w+ -> "([^"]+)":', dot, re.M)
    return {(ends[a], starts[b]) for a, b in edges if starts[b] != ends[a] + 1}


def jumps_of_ours(function: flow.Function, rows: list[str]) -> set[tuple[int, int]]:
    index = {row: int(match[1], 16) // 16 for row in range(len(rows)) if (match := ADDRESS.match(rows[row]))}
    return {
        (index[block.last], index[function.blocks[edge.to].first])
        for block in function.blocks
        for edge in block.edges
        if index[function.blocks[edge.to].first] != index[block.last] + 1
    }


ADDRESS = re.compile(r"\s*/\*([0-9a-f]{4,})\*/")


CASES = [("cutile", "sm_90"), ("numba", "sm_80"), ("numba", "sm_120"), *((triton, "sm_100") for triton in TRITONS)]


@pytest.mark.parametrize(("compiler", "target"), CASES)
async def test_sass(tmp_path: Path, compiler: str, target: str):
    settings = {} if compiler == "cutile" else {"python": python_of(compiler)}
    async with workbench(tmp_path, examples(compiler), targets=[target], **settings) as bench:
        for name in examples(compiler):
            await bench.open(name)
        compared = 0
        for kernel in kernels(bench):
            artifact = await bench.session.artifact(kernel.path, kernel.name, Stage.SASS)
            binary = (await bench.session.artifact(kernel.path, kernel.name, Stage.CUBIN)).data
            served = document(bench.session.snapshot(), kernel, kernel.job.job, Stage.SASS, artifact)
            functions = flow.of_sass(served.rows)
            found = graph(served, kernel.path)
            assert found is not None
            assert len(found.nodes) == sum(len(function.blocks) for function in functions)
            assert any(node.source for node in found.nodes)
            if len(read_cubin(binary).functions) > 1 or len(functions) > 1:
                continue  # nvdisasm draws each function that is called into its callers
            tools = (await bench.session.environment(kernel.path)).tools
            cubin = tmp_path / "cubin"
            cubin.write_bytes(binary)
            run = await asyncio.create_subprocess_exec(
                tools["nvdisasm"].path, "-bbcfg", str(cubin), stdout=asyncio.subprocess.PIPE
            )
            drawn = (await run.communicate())[0].decode()
            compared += 1
            ours, theirs = jumps_of_ours(functions[0], list(served.rows)), jumps_of_nvdisasm(drawn)
            assert ours <= theirs, kernel.name
            # What it has beyond ours leaves from where nothing leads to: padding that jumps to itself.
            reached = {index for a, b in ours for index in (a, b)}
            assert all(a == b or a not in reached for a, b in theirs - ours), kernel.name
        assert compared >= 1


def edges_of_llvm(text: str) -> Iterator[tuple[str, list[set[str]]]]:
    """Of each function, what each block goes on to, by their order."""
    # Its metadata is folded into links.
    module = llvmlite.binding.parse_assembly(re.sub(r", ![\w.]+ !\d+", "", text))
    for function in module.functions:
        if not function.is_declaration:
            dot = llvmlite.binding.get_function_cfg(function, show_inst=False)
            names = re.findall(r'^\t(Node\w+) \[.*label="\{(.*?)[|}]', dot, re.M)
            edges = re.findall(r"^\t(Node\w+)(?::\w+)? -> (Node\w+)", dot, re.M)
            order = {node: index for index, (node, _) in enumerate(names)}
            yield function.name, [{order[b] for a, b in edges if a == node} for node, _ in names]


@pytest.mark.parametrize("compiler", COMPILERS)
async def test_llvm(tmp_path: Path, compiler: str):
    async with workbench(tmp_path, examples(compiler), targets=["sm_90"], python=python_of(compiler)) as bench:
        for name in examples(compiler):
            await bench.open(name)
        for kernel in kernels(bench):
            artifact = await bench.session.artifact(kernel.path, kernel.name, Stage.LLVM)
            served = document(bench.session.snapshot(), kernel, kernel.job.job, Stage.LLVM, artifact)
            ours = {function.name: function for function in flow.of_llvm(served.rows)}
            for name, blocks in edges_of_llvm(artifact.text):
                assert [{edge.to for edge in block.edges} for block in ours.pop(name).blocks] == blocks, name
            assert not ours
