"""From machine code, PTX and Tile IR back to the members' text."""

from __future__ import annotations

import re

import pytest

from tile_lsp.analysis import cubin as elf
from tile_lsp.analysis import linetable, ptx, sass, tileir
from tile_lsp.analysis.sources import Sources
from tile_lsp.model.location import Chain, Place

from .conftest import TARGETS, Case, Tools
from .corpus import KERNELS

_POSITION = re.compile(r'(?:File |at )"([^"]*)", line (\d+)')


def text_at(place: Place) -> str:
    """What stands at a place of the corpus, to the end of its line."""
    module, _, name = place.member.partition("/")
    members = KERNELS[module.removeprefix("kernels.")][0]
    (member,) = [m for m in members if f"def {name}(" in m]
    line = member.split("\n")[place.line - 1].encode()
    return line[max(place.column, 0) :].decode()


def _decoded(file: str) -> str:
    """nvdisasm shows names as the assembler left them, escapes and all."""
    raw = re.sub(rb"[\\/]([0-3][0-7]{2})", lambda match: bytes([int(match[1], 8)]), file.encode())
    return raw.decode()


@pytest.mark.parametrize(("option", "section"), [("-gi", linetable.SOURCE), ("-gp", linetable.PTX)])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", ["softmax", "layer_norm", "attention", "größe"])
def test_line_tables_as_nvdisasm_reads_them(
    corpus: dict[tuple[str, str], Case], tools: Tools, kernel: str, target: str, option: str, section: str
) -> None:
    case = corpus[kernel, target]
    check_lines(case.cubin, section, tools.run("nvdisasm", "-c", option, case.path))


def test_line_table_of_several_kernels(tools: Tools, calls_ptx: str) -> None:
    path, _ = tools.assemble(calls_ptx, "sm_90", "-lineinfo")
    check_lines(elf.read(path.read_bytes()), linetable.SOURCE, tools.run("nvdisasm", "-c", "-g", path))


def check_lines(cubin: elf.Cubin, section: str, theirs: str) -> None:
    """nvdisasm writes a stack of comment lines wherever the position changes."""
    tables = linetable.read(cubin, section)
    names = {f".text.{function.name}": function for function in cubin.functions}
    function, stack, changed, seen = None, [], False, 0
    for line in theirs.split("\n"):
        if line.startswith(".text."):
            function, stack = names[line.rstrip(":")], []
        elif "//##" in line:
            if not changed:
                stack, changed = [], True
            stack += [(_decoded(file), int(number)) for file, number in _POSITION.findall(line)]
        elif match := re.match(r"\s*/\*([0-9a-f]{4,})\*/", line):
            fresh, changed = changed, False
            assert function is not None
            frames = tables[function.section].at(int(match[1], 16))
            if stack and frames:
                ours = [(frame.file or ".nv_debug_ptx_txt", frame.line) for frame in frames]
                # Each comment names a frame and its call site, which the next one names again. A change of the call
                # site alone is not shown.
                assert ours[0] == stack[0], line
                assert not fresh or list(dict.fromkeys(stack)) == list(dict.fromkeys(ours)), line
                seen += 1
    assert seen > 5


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_instruction_has_its_source(
    corpus: dict[tuple[str, str], Case], tools: Tools, kernel: str, target: str
) -> None:
    case = corpus[kernel, target]
    made = sass.read(case.cubin, tools.disassemble(case.cubin), case.tileir)
    members = {f"kernels.{kernel}/{text.split('def ', 1)[1].split('(', 1)[0]}" for text in KERNELS[kernel][0]}
    exact = 0
    for line, chains in zip(made.text.split("\n"), made.lines, strict=False):
        if sass.parse_line(line).instruction is None:
            assert chains == ()
            continue
        (chain,) = chains
        assert {place.member for place in chain} <= members
        exact += all(place.column >= 0 for place in chain)
        for place in chain:
            assert text_at(place) or place.column <= 0
    assert exact >= 0.95 * sum(map(bool, made.lines))


def test_inlined_code_leads_through_its_call(corpus: dict[tuple[str, str], Case], tools: Tools) -> None:
    case = corpus["softmax", "sm_90"]
    (texts,) = tools.disassemble(case.cubin)
    sources = Sources(case.cubin, case.tileir)
    section = case.cubin.functions[0].section
    exponentials = [sources.chain(section, 16 * n) for n, text in enumerate(texts) if "MUFU.EX2" in text]
    assert exponentials
    for chain in exponentials:
        assert [text_at(place) for place in chain] == ["ct.exp(row - high)", "normalise(row))"]


def test_without_tile_ir_lines_remain(corpus: dict[tuple[str, str], Case]) -> None:
    case = corpus["softmax", "sm_90"]
    section = case.cubin.functions[0].section
    exact, plain = Sources(case.cubin, case.tileir), Sources(case.cubin)
    same = 0
    addresses = range(0, len(case.cubin.functions[0].code), 16)
    for address in addresses:
        lines = [place[:2] for place in plain.chain(section, address)]
        same += lines == [place[:2] for place in exact.chain(section, address)]
        assert all(place.column == -1 for place in plain.chain(section, address))
    assert same > 0.95 * len(addresses)
    # Tile IR of another kernel says nothing of this one.
    other = Sources(case.cubin, corpus["vadd", "sm_90"].tileir)
    assert all(other.chain(section, a) == plain.chain(section, a) for a in addresses)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_ptx(corpus: dict[tuple[str, str], Case], kernel: str, target: str) -> None:
    case = corpus[kernel, target]
    made = ptx.read(case.cubin, case.tileir)
    lines = made.text.split("\n")
    assert len(made.lines) == made.text.count("\n")
    assert lines[0].startswith(".version")
    assert lines[-2] == "}"
    assert not re.search(r"nv_intermediate|nv_debug|\.loc\b|\0", made.text)
    code = [
        (line, chains)
        for line, chains in zip(lines, made.lines, strict=False)
        if line.startswith("\t") and line.endswith(";") and not line.strip().startswith(".")
    ]
    assert sum(1 for _, chains in code if chains) > 0.9 * len(code)
    for line, chains in code:
        for chain in chains[:1]:
            # What is multiplied on tensor cores or loaded in bulk was asked for by name.
            if re.search(r"\b(wgmma\.mma_async|mma|tcgen05\.mma)\b", line):
                assert "ct.mma(" in text_at(chain[0])
            if "cp.async.bulk.tensor" in line and ".shared::cluster.global" in line:
                assert "ct.load(" in text_at(chain[0])


def test_ptx_assembles_again(corpus: dict[tuple[str, str], Case], tools: Tools) -> None:
    """Blank lines apart nothing was taken out that means something."""
    case = corpus["histogram", "sm_80"]
    path, _ = tools.assemble(ptx.read(case.cubin).text, "sm_80")
    again = elf.read(path.read_bytes())
    assert tools.disassemble(again) == tools.disassemble(case.cubin)


def test_ptx_is_reported_missing(tools: Tools, spills_ptx: str) -> None:
    path, _ = tools.assemble(spills_ptx, "sm_90")
    cubin = elf.read(path.read_bytes())
    with pytest.raises(ValueError, match="holds no PTX"):
        ptx.read(cubin)
    assert tileir.from_cubin(cubin) is None
    assert Sources(cubin).chain(cubin.functions[0].section, 0) == ()


def test_ptx_listing_keeps_the_line_numbers(corpus: dict[tuple[str, str], Case]) -> None:
    case = corpus["talk", "sm_90"]
    listing = ptx.listing(case.cubin)
    data = case.cubin.section(".nv_debug_ptx_txt")
    assert listing is not None
    assert data is not None
    raw = data.decode().split("\0")
    for line, origin in zip(listing.lines, listing.origins, strict=True):
        assert line.strip() == (raw[origin - 1].strip() if origin else "")


@pytest.mark.parametrize("kernel", KERNELS)
def test_tile_ir(corpus: dict[tuple[str, str], Case], kernel: str) -> None:
    """The text is the one the cubin carries; each operation has its exact place."""
    case = corpus[kernel, "sm_90"]
    own = tileir.from_cubin(case.cubin)
    assert own is not None
    assert case.tileir.text == own.text
    assert "#loc" not in case.tileir.text.replace('"not \\22positive\\22 loc(#loc1)"', "")
    for line, exact, plain in zip(own.text.split("\n"), case.tileir.lines, own.lines, strict=False):
        assert exact or line.strip() in ("return", "")
        operation = line.split(" = ")[-1].split(" ")[0]
        if operation in ("load_view_tko", "mmaf", "exp", "atomic_rmw_tko"):
            wanted = {"load_view_tko": "ct.load", "mmaf": "ct.mma", "exp": "ct.exp", "atomic_rmw_tko": "ct.atomic"}
            assert text_at(exact[0][0]).startswith(wanted[operation]), line
        for chain in plain[:1]:
            assert all(place.column == -1 for place in chain)


def _one(text: str) -> Chain:
    (chains,) = tileir.read(text).lines
    return chains[0] if chains else ()


@pytest.mark.parametrize(
    ("text", "clean", "chain"),
    [
        ('x loc("m/f":3:4)', "x", (Place("m/f", 3, 4),)),
        ("x loc(unknown)", "x", ()),
        ("x", "x", ()),
        ('print "a loc(#loc1)"', 'print "a loc(#loc1)"', ()),
        ("x loc(#loc1)\n#loc1 = loc(#loc1)", "x", ()),
        ("x loc(#loc9)", "x", ()),
        ('x loc(callsite("m/g":1:2 at "m/f":3:4))', "x", (Place("m/g", 1, 2), Place("m/f", 3, 4))),
        (
            'x loc(callsite(#loc1 at callsite("m/g":1:2 at "m/f":3:4)))\n#loc1 = loc("m/h":9:0)',
            "x",
            (Place("m/h", 9, 0), Place("m/g", 1, 2), Place("m/f", 3, 4)),
        ),
        ('x loc(fused<"a">["m/g":1:2, "m/f":3:4])', "x", (Place("m/g", 1, 2),)),
        ('x loc("name"("m/g":1:2))', "x", (Place("m/g", 1, 2),)),
        ('x loc("m/gr\\C3\\B6\\C3\\9Fe":1:2)', "x", (Place("m/größe", 1, 2),)),
        ('x loc("m\\\\C3/\\22f\\22":1:2)', "x", (Place('m\\C3/"f"', 1, 2),)),
        ('x loc(#loc2)\n#loc2 = #cuda_tile.di_loc<#loc in #sub>\n#loc = loc("m/f":5:6)', "x", (Place("m/f", 5, 6),)),
        ('x loc("m/f":3', 'x loc("m/f":3', ()),
        ('x loc(callsite("m/g":1:2 at)', "x", ()),
    ],
)
def test_locations(text: str, clean: str, chain: Chain) -> None:
    assert tileir.read(text).text == f"{clean}\n"
    assert _one(text) == chain


def test_locations_that_lead_nowhere_end(tools: Tools) -> None:
    deep = "x loc(#loc0)\n" + "\n".join(f"#loc{n} = loc(callsite(#loc{n + 1} at #loc{n + 1}))" for n in range(500))
    assert _one(deep) == ()
    assert _one("x loc(" + "callsite(" * 3000 + ")") == ()


def test_regions_have_the_place_of_their_operation() -> None:
    text = 'for {\n  if {\n    a loc("m/f":1:1)\n  } else {\n    b\n  } loc("m/f":2:2)\n} loc("m/f":3:3)'
    lines = [chains[0][0].line if chains else 0 for chains in tileir.read(text).lines]
    assert lines == [3, 2, 1, 2, 0, 2, 3]
