"""What LLVM is asked about every example of the front ends that have LLVM IR."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.support.workbench import Workbench, workbench
from tile_lsp.analysis.snapshot import KernelView
from tile_lsp.engine import own_tools
from tile_lsp.ide.diagnostics import diagnostics
from tile_lsp.model.outcome import Artifact, Fault, Severity
from tile_lsp.model.stage import Stage

ROOT = Path(__file__).parents[2]
VENVS = ROOT / "build" / "venvs"
TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")
STAGES = (Stage.LLVM, Stage.LLVM_REMARKS, Stage.PTX_LLVM)


FOUND = sorted(path.parts[-3] for path in VENVS.glob("*/bin/python"))
TRITONS = [name for name in FOUND if name.startswith("triton-")] or ["triton"]
COMPILERS = ["numba", *TRITONS]


def python_of(compiler: str) -> str:
    python = VENVS / compiler / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{compiler} is not here: make venvs")
    return str(python)


def examples(compiler: str) -> dict[str, str]:
    folder = ROOT / "examples" / compiler.partition("-")[0]
    return {path.name: path.read_text() for path in sorted(folder.glob("*.py"))}


def kernels(bench: Workbench) -> tuple[KernelView, ...]:
    return bench.session.snapshot().kernels()


async def shown(bench: Workbench, kernel: KernelView, stage: Stage) -> Artifact:
    made = await bench.session.artifact(kernel.path, kernel.name, stage)
    assert isinstance(made, Artifact), made
    return made


def sources(kernel: KernelView, artifact: Artifact) -> set[int]:
    """Lines of the kernel's file that are linked."""
    chains = (kernel.positions.chain(chain) for row in artifact.lines for chain in row)
    return {place.span.line for chain in chains for place in chain if place.path == kernel.path}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("compiler", COMPILERS)
async def test_every_example(tmp_path: Path, compiler: str, target: str):
    python = python_of(compiler)
    async with workbench(tmp_path, examples(compiler), python=python) as bench:
        for name in examples(compiler):
            await bench.open(name)
            for kernel in bench.session.snapshot().files[bench.path(name)].kernels:
                bench.session.override(bench.path(name), kernel.name, f"# tile-lsp: target={target}")
            await bench.session.inferred(bench.path(name))
        assert len(kernels(bench)) >= 5
        bench.ran()
        for kernel in kernels(bench):
            llvm = await shown(bench, kernel, Stage.LLVM)
            names = re.findall(r"^define [^@\n]*@([\w.$]+)\(", llvm.text, re.M)
            assert names[0] == kernel.name, kernel.name
            for called in names[1:]:
                assert re.search(rf"(?:call|invoke|@llvm.used) [^\n]*@{re.escape(called)}\b", llvm.text), called
            assert "not verified" not in llvm.text
            assert "!dbg" not in llvm.text
            assert len(sources(kernel, llvm)) >= 3

            ptx = await shown(bench, kernel, Stage.PTX_LLVM)
            assert ptx.text.startswith("// What LLVM's own NVPTX makes")
            assert f".entry {kernel.name}(" in ptx.text
            assert f".target {target}" in ptx.text
            assert not re.search(r"\.loc\t|\.section|\.debug_", ptx.text)
            assert len(sources(kernel, ptx)) >= 3

            remarks = await shown(bench, kernel, Stage.LLVM_REMARKS)
            assert all(remark.chain and remark.severity is Severity.HINT for remark in remarks.remarks)
            assert "_ZN" not in remarks.text
        ran = bench.ran()
        # Of more kernels than workers keep their typed IR, some are inferred again.
        assert (ran["llvm"], ran["codegens"]) == (3 * len(kernels(bench)), len(kernels(bench)))
        for kernel in kernels(bench):
            for stage in STAGES:
                await bench.session.artifact(kernel.path, kernel.name, stage)
        assert bench.ran().get("llvm", 0) == 0


@pytest.mark.parametrize("compiler", COMPILERS)
async def test_nothing_runs_for_what_is_known(tmp_path: Path, compiler: str):
    python, name = python_of(compiler), "saxpy.py" if compiler == "numba" else "softmax.py"
    files = {name: examples(compiler)[name]}
    cache = tmp_path / "cache"
    for ran in ({"llvm": 3, "codegens": 1}, {}):
        async with workbench(tmp_path / "files", files, python=python, targets=["sm_90"], cache=cache) as bench:
            await bench.open(name)
            bench.ran()
            await bench.show(name, Stage.TYPED if compiler == "numba" else Stage.TTIR)
            assert bench.ran() == {}  # nobody looked
            for stage in STAGES:
                await bench.show(name, stage)
            assert bench.ran() == ran
            text = files[name]
            await bench.edit(name, f"# moved\n\n{text}")
            for stage in STAGES:
                await bench.show(name, stage)
            assert bench.ran() == {}


REMARKED = {
    "numba": """\
from numba import cuda, float32


@cuda.jit(device=True)
def weigh(value, weight):
    return value * weight


# tile-lsp: x=float32[::1] y=float32[::1] target=sm_90
@cuda.jit
def k(x, y):
    total = float32(0.0)
    for i in range(8):
        total += weigh(x[i], y[0])
        y[i + 1] = total
""",
    "triton": """\
import triton
import triton.language as tl


# tile-lsp: x=*fp32 target=sm_90
@triton.jit
def k(x, N: tl.constexpr = 128):
    at = tl.arange(0, N)
    tl.store(x, tl.sum(tl.load(x + at), axis=0))
""",
}


@pytest.mark.parametrize("compiler", COMPILERS)
async def test_remarks_are_hints_where_they_are_asked_for(tmp_path: Path, compiler: str):
    python, text = python_of(compiler), REMARKED[compiler.partition("-")[0]]
    settings = {"python": python, "idle_delay": 0.0, "cache": tmp_path / "cache"}
    async with workbench(tmp_path / "files", {"a.py": text}, **settings) as bench:
        await bench.open("a.py")
        await bench.session.settled()
        assert "llvm" not in bench.session.stats().tools
    async with workbench(tmp_path / "files", {"a.py": text}, **settings, llvm_remarks=True) as bench:
        await bench.open("a.py")
        await bench.session.settled()
        assert bench.session.stats().tools["llvm"] == 1
        taken = bench.session.snapshot()
        silent = diagnostics(taken)[bench.path("a.py")]
        assert [found for found in silent if found.code == "llvm"] == []
        said = diagnostics(taken, llvm_remarks=True)[bench.path("a.py")]
    lines = text.split("\n")
    found = [
        f"{item.span.line}: {lines[item.span.line - 1][item.span.column : item.span.end_column]}: {item.message}"
        for item in said
        if item.code == "llvm"
    ]
    assert all(item.severity is Severity.HINT for item in said if item.code == "llvm")
    if compiler == "numba":
        assert found == snapshot(
            [
                "13: for i in range(8):: completely unrolled loop with 8 iterations",
                "14: weigh(x[i], y[0]): 'weigh' inlined into 'k' with (cost=-40, threshold=4125)",
                "14: x[i]: load of type float not eliminated",
                "14: y[0]: failed to move load with loop-invariant address because the loop may invalidate its value",
                "14: y[0]: load of type float eliminated",
            ]
        )
    else:
        assert found == snapshot(["9: tl: load of type i32 not eliminated"])


async def test_without_llvmlite_the_ir_is_shown_whole_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    python = python_of("numba")
    async with workbench(tmp_path, {"a.py": REMARKED["numba"]}, python=python) as bench:
        await bench.open("a.py")
        own = own_tools._OWN["llvm"]
        monkeypatch.setitem(own_tools._OWN, "llvm", own._replace(distribution="no-such-thing"))
        llvm = await bench.show("a.py", Stage.LLVM)
        head = llvm.text.split("\n")[:3]
        assert head[0] == "; The whole of what was compiled, not verified:"
        assert head[1].startswith("; LLVM can't be asked: no-such-thing is not installed for tile-lsp in ")
        assert head[2].endswith(" -m pip install 'llvmlite>=0.50'")
        assert 'define linkonce_odr i32 @"weigh"(' in llvm.text
        fault = await bench.session.artifact(bench.path("a.py"), "k", Stage.PTX_LLVM)
        assert isinstance(fault, Fault)
        assert fault.help.endswith(" -m pip install 'llvmlite>=0.50'")
        monkeypatch.setitem(own_tools._OWN, "llvm", own)
        # Nothing has to be said to have it looked at again.
        assert "not verified" not in (await bench.show("a.py", Stage.LLVM)).text


@pytest.mark.parametrize("compiler", TRITONS)
async def test_amds_ir_is_sliced_and_has_no_ptx(tmp_path: Path, compiler: str):
    text = REMARKED["triton"].replace("sm_90", "gfx942")
    async with workbench(tmp_path, {"a.py": text}, python=python_of(compiler)) as bench:
        await bench.open("a.py")
        llvm = await bench.show("a.py", Stage.LLVM)
        assert "amdgpu_kernel void @k(" in llvm.text
        assert "not verified" not in llvm.text
        fault = await bench.session.artifact(bench.path("a.py"), "k", Stage.PTX_LLVM)
        assert isinstance(fault, Fault)
        assert fault.message == "gfx942 is AMD's: LLVM's PTX is there for NVIDIA's targets"
