"""Every example, every stage, on each version of triton and each architecture of the bars."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.workbench import Workbench
from tile_lsp.analysis import cubin, flow, ptx_text, sass
from tile_lsp.analysis.opcodes import explain
from tile_lsp.ide.code_lens import code_lenses
from tile_lsp.ide.stages import machine_code
from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

EXAMPLES = Path(__file__).parents[2] / "examples" / "triton"
KERNELS = [
    "add.py::add",
    "softmax.py::softmax",
    "matmul.py::matmul",
    "layer_norm.py::forward",
    "layer_norm.py::backward",
    "attention.py::attention",
    "gluon_copy.py::copy",
]
NVIDIA = ("sm_80", "sm_90", "sm_100", "sm_120")
STAGES = (Stage.TTIR, Stage.TTGIR, Stage.LLVM, Stage.PTX, Stage.SASS, Stage.RESOURCES, Stage.REMARKS)


async def opened(bench: Workbench, kernel: str, target: str) -> tuple[str, str]:
    file, name = kernel.split("::")
    if not (bench.folder / file).exists():
        bench.write(file, (EXAMPLES / file).read_text())
    await bench.open(file)
    bench.session.override(bench.path(file), name, f"# tile-lsp: target={target}")
    await bench.session.inferred(bench.path(file))
    return file, name


@pytest.mark.parametrize("target", NVIDIA)
@pytest.mark.parametrize("kernel", KERNELS)
async def test_every_stage_is_there_with_its_sources(bench: Workbench, kernel: str, target: str):
    file, name = await opened(bench, kernel, target)
    assert not bench.kernel(file, name).faults
    for stage in STAGES:
        shown = await bench.show(file, stage, name)
        assert shown.text or stage is Stage.REMARKS, stage
        if stage in (Stage.TTIR, Stage.TTGIR, Stage.LLVM, Stage.PTX, Stage.SASS):
            chains = [chain for line in shown.lines for chain in line]
            assert len({chain[0].line for chain in chains}) > 3, stage
            for chain in chains:
                assert bench.kernel(file, name).positions.chain(chain), (stage, chain)
            assert " loc(" not in shown.text
            assert "!dbg" not in shown.text
            assert ".loc\t" not in shown.text


_USES_SHARED = ("softmax", "matmul", "forward", "backward", "attention", "copy")


@pytest.mark.parametrize("kernel", KERNELS)
async def test_amd_has_amdgcn_in_place_of_ptx_and_sass(bench: Workbench, kernel: str):
    file, name = await opened(bench, kernel, "gfx942")
    shown = await bench.show(file, Stage.AMDGCN, name)
    assert "s_endpgm" in shown.text
    assert len({chain[0].line for line in shown.lines for chain in line}) > 3
    rows = shown.text.split("\n")
    found = [explain(Stage.AMDGCN, rows, row) for row in range(len(rows))]
    assert [one.name for one in found if one is not None and not one.does] == []
    (function,) = flow.of_amdgcn(rows)
    assert function.name == name
    lenses = {lens.stage for lens in code_lenses(bench.session.snapshot(), bench.path(file)) if lens.kernel == name}
    assert Stage.AMDGCN in lenses
    assert not lenses & {Stage.PTX, Stage.SASS}
    assert machine_code(bench.kernel(file, name)) is Stage.AMDGCN
    fault = await bench.session.artifact(bench.path(file), name, Stage.SASS)
    assert isinstance(fault, Fault)
    assert "amdgcn" in fault.message
    rows = dict(re.findall(r"^  (\S.*?) {2,}(\d+)", (await bench.show(file, Stage.RESOURCES, name)).text, re.MULTILINE))
    assert int(rows["registers"]) > 0
    assert int(rows["waves"]) > 0
    assert int(rows["code"]) > 100
    assert (int(rows["shared memory"]) > 0) == (kernel.split("::")[1] in _USES_SHARED)


@pytest.mark.parametrize("kernel", KERNELS)
async def test_lines_of_sass_are_those_of_the_ptx_outside_inline_assembly(bench: Workbench, kernel: str):
    """Checked another way: the last `.loc` before the PTX line that is in no `begin inline asm` … `end`."""
    file, name = await opened(bench, kernel, "sm_90")
    job = bench.kernel(file, name).job.job
    tracker = bench.session._trackers[bench.path(file)][name]
    planned = tracker._plan.jobs[tracker._active_index]
    compiler = bench.session._compiler
    assert planned.view.job == job
    ptx = await compiler.blob(planned.compilation, "ptx")
    binary = cubin.read(await compiler.blob(planned.compilation, "cubin"))
    listing = await bench.show(file, Stage.SASS, name)
    expected = _locs(ptx.decode())
    sources = ptx_text.Sources(binary, {})
    agree = total = 0
    for text, chains in zip(listing.text.split("\n"), listing.lines, strict=False):
        parsed = sass.parse_line(text)
        if parsed.instruction is None:
            continue
        line = sources.ptx_line(binary.functions[0].section, parsed.instruction.address)
        if line is not None and expected[line] is not None:
            total += 1
            agree += bool(chains) and (chains[0][0].line, chains[0][0].column + 1) == expected[line]
    assert total > 20
    assert agree >= 0.99 * total


def _locs(ptx: str) -> dict[int, tuple[int, int] | None]:
    """Line of the text → line and column of the source; None for what has none of the closure's own."""
    files = [line.split() for line in ptx.split("\n") if line.lstrip().startswith(".file")]
    own = {words[1] for words in files if not words[2].startswith('"/')}
    found: dict[int, tuple[int, int] | None] = {}
    now: tuple[int, int] | None = None
    inside = False
    for number, line in enumerate(ptx.split("\n"), 1):
        words = line.split()
        if words[:1] == [".loc"] and not inside:
            column = int(words[3].rstrip(","))
            now = (int(words[2]), column) if words[1] in own and int(words[2]) else None
        elif "// begin inline asm" in line:
            inside = True
        elif "// end inline asm" in line:
            inside = False
        found[number] = now
    return found


async def test_a_vector_load_stands_at_its_own_line(bench: Workbench):
    file, name = await opened(bench, "add.py::add", "sm_90")
    listing = await bench.show(file, Stage.SASS, name)
    positions = bench.kernel(file, name).positions
    source = bench.text(file).split("\n")
    loads = [
        source[positions.chain(chains[0])[0].span.line - 1].strip()
        for text, chains in zip(listing.text.split("\n"), listing.lines, strict=False)
        if "LDG.E.128" in text
    ]
    assert sorted(set(loads)) == [
        "x = tl.load(x_ptr + offsets, mask=mask)",
        "y = tl.load(y_ptr + offsets, mask=mask)",
    ]


async def test_divisibility_is_what_makes_a_load_wide(bench: Workbench):
    file, name = await opened(bench, "add.py::add", "sm_90")
    wide = await bench.show(file, Stage.SASS, name)
    bench.session.override(bench.path(file), name, "# tile-lsp: n=i32 target=sm_90")
    await bench.session.inferred(bench.path(file))
    narrow = await bench.show(file, Stage.SASS, name)
    assert "LDG.E.128" in wide.text
    assert "LDG.E.128" not in narrow.text
