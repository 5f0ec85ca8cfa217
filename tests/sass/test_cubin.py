"""The cubin's tables, its resources, and what becomes of damaged ones."""

from __future__ import annotations

import random
import re

import pytest

from tile_lsp.analysis import cubin as elf
from tile_lsp.analysis import disassembly, linetable, ptx, resources, sass, tileir

from .conftest import TARGETS, Case, Tools
from .corpus import KERNELS


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_resources_as_cuobjdump_reads_them(
    corpus: dict[tuple[str, str], Case], tools: Tools, kernel: str, target: str
) -> None:
    case = corpus[kernel, target]
    assert case.cubin.arch == target
    check_usage(case.cubin, tools.run("cuobjdump", "-res-usage", case.path))


@pytest.mark.parametrize("target", TARGETS)
def test_resources_of_several_kernels(tools: Tools, calls_ptx: str, target: str) -> None:
    path, _ = tools.assemble(calls_ptx, target)
    check_usage(elf.read(path.read_bytes()), tools.run("cuobjdump", "-res-usage", path))


def check_usage(cubin: elf.Cubin, theirs: str) -> None:
    wanted = {}
    for name, numbers in re.findall(r"Function (\S+):\n\s+(.*)", theirs):
        wanted[name] = {key: int(value) for key, value in re.findall(r"(\S+):(\d+)", numbers)}
    ours = {}
    for u in resources.usage(cubin):
        ours[u.kernel] = {"REG": u.registers, "STACK": u.stack, "SHARED": u.shared, "LOCAL": u.local}
        ours[u.kernel] |= {"TEXTURE": 0, "SURFACE": 0, "SAMPLER": 0}
        ours[u.kernel] |= {f"CONSTANT[{bank}]": size for bank, size in u.constant}
    assert ours == wanted


@pytest.mark.parametrize("target", TARGETS[:3])
def test_spills_as_the_assembler_counts_them(tools: Tools, spills_ptx: str, target: str) -> None:
    path, words = tools.assemble(spills_ptx, target, "--maxrregcount", "24", "-v")
    told = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", words)
    assert told is not None
    (u,) = resources.usage(elf.read(path.read_bytes()))
    assert (u.stack, u.spill_store_bytes, u.spill_load_bytes) == tuple(map(int, told.groups()))
    assert u.spill_stores > 0
    assert u.spill_loads > 0


def test_the_table(corpus: dict[tuple[str, str], Case]) -> None:
    case = corpus["talk", "sm_90"]
    (u,) = resources.usage(case.cubin)
    assert u.threads is not None
    assert u.shared_reserve == 1024
    assert u.instructions < u.code // 16
    rows = {
        row[0].strip(): row[1]
        for row in (line.strip().split("  ", 1) for line in resources.read(case.cubin).text.split("\n")[1:])
        if len(row) == 2
    }
    assert rows["registers"].split() == [str(u.registers)]
    assert rows["shared memory"].split()[:2] == [str(u.shared), "B"]
    assert rows["code"].split()[-2:] == [str(u.instructions), "instructions"]


def test_symbols(tools: Tools, calls_ptx: str) -> None:
    path, _ = tools.assemble(calls_ptx, "sm_90")
    cubin = elf.read(path.read_bytes())
    assert {f.name: [s.name for s in f.symbols] for f in cubin.functions} == {
        "first": ["first", "$first$line", "$first$square"],
        "second": ["second", "$second$line"],
    }
    assert [s.name for s in cubin.symbols if s.entry] == ["first", "second"]
    (targets,) = (f.branch_targets for f in cubin.functions if f.branch_targets)
    assert [len(to) for to in targets.values()] == [5]


def _read_all(data: bytes) -> None:
    """Every reader, on one cubin."""
    cubin = elf.read(data)
    for name in (linetable.SOURCE, linetable.PTX, linetable.TILEIR):
        linetable.read(cubin, name)
    resources.read(cubin)
    tileir.from_cubin(cubin)
    ptx.read(cubin)
    codes = disassembly.sections(cubin)
    disassembly.combine(codes)
    sass.read(cubin, [("NOP",) * (len(code) // 16) for code in codes])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kernel", ["vadd", "softmax"])
def test_damage_is_a_value_error(corpus: dict[tuple[str, str], Case], kernel: str, seed: int) -> None:
    """Truncated anywhere, or with bytes changed where the tables are: read, or `ValueError`, nothing else."""
    data = corpus[kernel, "sm_90" if seed % 2 else "sm_100"].path.read_bytes()
    rng = random.Random(seed)
    outcomes = set()
    (header_start,) = (int.from_bytes(data[40:48], "little"),)
    for attempt in range(60):
        damaged = bytearray(data)
        if attempt % 3 == 0:
            del damaged[rng.randrange(len(damaged)) :]
        else:
            span = (0, len(data)) if attempt % 3 == 1 else (header_start, len(data))
            for _ in range(rng.choice((1, 4, 64))):
                damaged[rng.randrange(*span)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        try:
            _read_all(bytes(damaged))
            outcomes.add("read")
        except ValueError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"MZ" * 100, bytes(200), b"\x7fELF\x02\x01" + bytes(200)])
def test_what_is_no_cubin_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="cubin"):
        elf.read(data)


def test_hostile_sizes_cost_little(corpus: dict[tuple[str, str], Case]) -> None:
    """Sixty thousand sections that are each the whole file: refused before anything is copied."""
    data = bytearray(corpus["vadd", "sm_90"].path.read_bytes())
    header = bytearray(64)
    header[4:8] = (1).to_bytes(4, "little")
    header[32:40] = len(data).to_bytes(8, "little")
    start = len(data)
    data += header * 60_000
    data[40:48] = start.to_bytes(8, "little")
    data[60:62] = (60_000).to_bytes(2, "little")
    with pytest.raises(ValueError, match="overlap"):
        elf.read(bytes(data))
