"""What an edit of a .cu file costs, told by what ran."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.cuda.conftest import missing
from tests.support.workbench import Workbench, workbench
from tile_lsp.model.stage import Stage

MAIN = """\
#include <cstdio>
#include "helper.cuh"

constexpr int N = 4;

__device__ float f(float x) { return x * N; }

__global__ void k(float *x) { x[0] = f(x[1]) + helper(); }

__global__ void other(float *x) { x[0] = 1.0f; }

int main() { k<<<1, 1>>>(nullptr); }
"""
HELPER = "#pragma once\n__device__ inline float helper() { return 1.0f; }\ninline int host() { return 1; }\n"


@pytest_asyncio.fixture
async def bench(tmp_path) -> AsyncIterator[Workbench]:
    if (lack := missing()) is not None:
        pytest.skip(lack)
    async with workbench(tmp_path, {"main.cu": MAIN, "helper.cuh": HELPER}, targets=["sm_90"]) as made:
        await made.open("main.cu")
        await made.show("main.cu", Stage.SASS, "k")
        await made.session.settled()
        made.ran()
        yield made


async def test_what_keeps_the_version_runs_nothing(bench: Workbench):
    for text in (
        MAIN.replace("return x * N;", "/* why */ return x * N; // so\n"),
        "\n\n\n" + MAIN,
        MAIN.replace("int main() {", "int main() { puts(0);"),
        MAIN.replace("#include <cstdio>", "#include <cstdio>\n#include <vector>"),
    ):
        await bench.edit("main.cu", text)
        await bench.show("main.cu", Stage.SASS, "k")
        await bench.session.settled()
        assert bench.ran() == {}
    bench.write("helper.cuh", "// host code\n" + HELPER.replace("host() { return 1", "host() { return 2"))
    await bench.session.inferred(bench.path("main.cu"))
    assert bench.ran() == {}


async def test_an_edit_costs_the_kernels_that_it_is_part_of(bench: Workbench):
    await bench.edit("main.cu", MAIN.replace("x[0] = 1.0f", "x[0] = 2.0f"))
    assert bench.ran() == {"inferences": 1}
    bench.write("helper.cuh", HELPER.replace("return 1.0f", "return 2.0f"))
    await bench.session.inferred(bench.path("main.cu"))
    await bench.session.settled()
    assert bench.ran() == {"inferences": 1}


async def test_undo_is_found_again(bench: Workbench):
    await bench.edit("main.cu", MAIN.replace("x * N", "x + N"))
    assert bench.ran() == {"inferences": 1}
    await bench.edit("main.cu", MAIN)
    await bench.show("main.cu", Stage.SASS, "k")
    assert bench.ran() == {}


async def test_configs_share_an_inference(tmp_path):
    if (lack := missing()) is not None:
        pytest.skip(lack)
    text = "// tile-lsp: target=sm_80,sm_90,sm_120\n// tile-lsp: target=sm_90 maxrregcount=32\n"
    text += "__global__ void k(float *x) { x[threadIdx.x] *= 2.0f; }\n"
    async with workbench(tmp_path, {"main.cu": text}) as bench:
        await bench.open("main.cu")
        await bench.session.settled()
        assert bench.ran() == {"inferences": 1}
        for job in bench.kernel("main.cu").jobs:
            await bench.show("main.cu", Stage.PTX, job=job.job)
        assert bench.ran() == {"codegens": 4}


async def test_the_target_counts_where_the_text_can_tell(tmp_path):
    if (lack := missing()) is not None:
        pytest.skip(lack)
    text = "// tile-lsp: target=sm_80,sm_90\n__global__ void k(int *x) {\n"
    text += "#if __CUDA_ARCH__ >= 900\n    x[0] = 1;\n#endif\n}\n"
    async with workbench(tmp_path, {"main.cu": text}) as bench:
        await bench.open("main.cu")
        await bench.session.settled()
        assert bench.ran() == {"inferences": 2}


def many(edited: int | None = None) -> str:
    """5,000 lines with 50 kernels, each with a function, a type and a constant of its own."""
    parts = [
        "#include <cstdio>\n#include <cuda_fp16.h>\n#define SQUARE(x) ((x) * (x))\n",
        "__device__ float shared_by_all(float x) { return x + 1; }\n",
    ]
    for i in range(50):
        extra = " + 1.0f" if i == edited else ""
        body = "".join(
            f"    // step {line}\n    value = value * {line}.5f + table{i}[{line} % 4];\n" for line in range(44)
        )
        parts.append(
            f"constexpr float table{i}[4] = {{1, 2, 3, {i}}};\n"
            f"struct State{i} {{ float x; int n; }};\n"
            f"__device__ float step{i}(State{i} s) {{ return SQUARE(s.x) * s.n; }}\n\n"
            f"/** Kernel {i}. */\n__global__ void kernel{i}(float *x, int n) {{\n"
            f"    float value = x[threadIdx.x];\n{body}"
            f"    x[threadIdx.x] = step{i}(State{i}{{value, n}}) + shared_by_all(value){extra};\n}}\n\n"
            f"void launch{i}(float *x, int n) {{\n    kernel{i}<<<1, 32>>>(x, n);\n}}\n\n"
        )
    return "".join(parts)


@pytest.mark.slow
async def test_in_a_file_of_fifty_kernels_an_edit_recompiles_one(tmp_path):
    if (lack := missing()) is not None:
        pytest.skip(lack)
    text = many()
    assert text.count("\n") >= 5000
    async with workbench(tmp_path, {"main.cu": text}, targets=["sm_90"]) as bench:
        await bench.open("main.cu")
        await bench.session.settled()
        assert len(bench.session.snapshot().files[bench.path("main.cu")].kernels) == 50
        assert not [view.faults for view in bench.session.snapshot().kernels() if view.faults]
        await bench.show("main.cu", Stage.SASS, "kernel7")
        bench.ran()
        await bench.edit("main.cu", many(7))
        await bench.show("main.cu", Stage.SASS, "kernel7")
        await bench.session.settled()
        assert bench.ran() == {"inferences": 1, "codegens": 1, "nvdisasm": 1}
