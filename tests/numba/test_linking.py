"""What is linked with a kernel, and what can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOURCE = 'extern "C" __device__ int scale(float *result, float x) {{ *result = x * {factor}f; return 0; }}\n'
KERNEL = """\
import os

from numba import cuda

scale = cuda.declare_device("scale", "float32(float32)", link=os.path.join(os.path.dirname(__file__), "scale.cu"))


# tile-lsp: x=float32[::1] target=sm_90
@cuda.jit
def k(x):
    x[0] = scale(x[1])
"""


async def test_a_file_that_is_linked_is_part_of_the_kernel(tmp_path: Path, python: str):
    files = {"k.py": KERNEL, "scale.cu": SOURCE.format(factor="3.0")}
    async with workbench(tmp_path, files, python=python) as bench:
        await bench.open("k.py")
        assert "FMUL R" in (await bench.show("k.py", Stage.SASS)).text
        assert "3" in (await bench.show("k.py", Stage.PTX)).text
        bench.ran()
        (tmp_path / "scale.cu").write_text(SOURCE.format(factor="1.0"))
        bench.session.retry()
        await bench.session.inferred(bench.path("k.py"))
        assert "FMUL R" not in (await bench.show("k.py", Stage.SASS)).text
        assert bench.ran()["codegens"] == 1


async def faults(numba, code: str) -> list[str]:
    name = await numba.open(code)
    fault = await numba.bench.session.artifact(numba.bench.path(name), "k", Stage.SASS)
    assert isinstance(fault, Fault), fault
    return [line for line in (fault.message, fault.help) if line]


DECLARED = """\
f = cuda.declare_device("f", "float32(float32)"{link})

# tile-lsp: x=float32[::1]
@cuda.jit
def k(x):
    x[0] = f(x[1])
"""


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("", ["no code of the name f is linked: declare_device takes link=…, CUDA C++, PTX or objects"]),
        (", link='/nowhere/f.cu'", ["f.cu, which is linked, is not there: /nowhere/f.cu"]),
        (
            ", link=cuda.CUSource('#include <nowhere.cuh>')",
            [
                "CUDA C++ that is linked does not compile: <unnamed-cu>(1): catastrophic error: cannot open source",
                "set NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS to the folder of that header",
            ],
        ),
        (
            ", link=cuda.CUSource('int f() { return x; }')",
            ["CUDA C++ that is linked does not compile: <unnamed-cu>(1): error: "],
        ),
    ],
)
async def test_what_is_wrong_with_what_is_linked(numba, link: str, said: list[str]):
    found = await faults(numba, DECLARED.format(link=link))
    assert [line[: len(start)] for line, start in zip(found, said, strict=True)] == said


async def test_functions_of_the_hosts_libraries(numba):
    code = """\
    import ctypes
    cos = ctypes.CDLL(None).abs
    cos.argtypes, cos.restype = [ctypes.c_int], ctypes.c_int

    # tile-lsp: x=int32[::1]
    @cuda.jit
    def k(x):
        x[0] = cos(x[1])
    """
    (message,) = await faults(numba, code)
    assert message.startswith("a function of a library of the host's (ctypes, cffi), which no GPU can call")
