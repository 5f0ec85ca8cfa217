"""The SASS listing says what `nvdisasm -c` says for the same cubin."""

from __future__ import annotations

import re

import pytest

from tile_lsp.analysis import cubin as elf
from tile_lsp.analysis import disassembly, sass
from tile_lsp.analysis.sass import LineKind
from tile_lsp.model.outcome import Artifact

from .conftest import TARGETS, Case, Tools
from .corpus import KERNELS

_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:/\*.*?\*/)?\s*(.*?)\s*;", re.MULTILINE)
_LABEL = re.compile(r"^(\S+):$", re.MULTILINE)


def said(listing: str) -> list[tuple[str, str]]:
    """(address, instruction) of each instruction, with single spaces."""
    return [(address, " ".join(text.split())) for address, text in _INSTRUCTION.findall(listing)]


def labels(listing: str) -> dict[str, str]:
    """Each label that is referred to -> the instruction that it stands before."""
    found = {}
    for match in _LABEL.finditer(listing):
        following = _INSTRUCTION.search(listing, match.end())
        if following and (f"`({match[1]})" in listing or f"{match[1]}@" in listing):
            found[match[1]] = f"{following[1]} {' '.join(following[2].split())}"
    return found


def check(made: Artifact, theirs: str) -> None:
    ours = made.text
    assert said(ours) == said(theirs)
    assert labels(ours) == labels(theirs)
    assert len(made.lines) == ours.count("\n")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_same_as_nvdisasm(corpus: dict[tuple[str, str], Case], tools: Tools, kernel: str, target: str) -> None:
    case = corpus[kernel, target]
    made = sass.read(case.cubin, tools.disassemble(case.cubin), case.tileir)
    check(made, tools.run("nvdisasm", "-c", case.path))


@pytest.mark.parametrize("options", [(), ("-c",)], ids=["linked", "relocatable"])
@pytest.mark.parametrize("target", TARGETS)
def test_calls_jump_tables_and_relocations(tools: Tools, calls_ptx: str, target: str, options: tuple[str, ...]) -> None:
    path, _ = tools.assemble(calls_ptx, target, *options)
    cubin = elf.read(path.read_bytes())
    check(sass.read(cubin, tools.disassemble(cubin)), tools.run("nvdisasm", "-c", path))


def test_spills_are_marked(tools: Tools, spills_ptx: str) -> None:
    path, _ = tools.assemble(spills_ptx, "sm_90", "--maxrregcount", "24")
    cubin = elf.read(path.read_bytes())
    made = sass.read(cubin, tools.disassemble(cubin))
    assert made.text.count("SpillRefill") > 20
    check(made, tools.run("nvdisasm", "-c", path))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", ["matmul", "attention", "angles"])
def test_control_codes(corpus: dict[tuple[str, str], Case], tools: Tools, kernel: str, target: str) -> None:
    """The reuse bits sit beside the others and nvdisasm shows them; barriers that are waited for must have been set."""
    cubin = corpus[kernel, target].cubin
    for function, texts in zip(cubin.functions, tools.disassemble(cubin), strict=True):
        set_somewhere: set[int | None] = set()
        waited: set[int] = set()
        for number, text in enumerate(texts):
            told = sass.control(function.code[16 * number : 16 * number + 16])
            assert bool(told.reuse) == (".reuse" in text), text
            set_somewhere |= {told.read_barrier, told.write_barrier}
            waited |= set(told.waits)
        assert waited
        assert waited <= set_somewhere
        assert set_somewhere <= {None, 0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize("target", TARGETS)
def test_listing_reads_back(corpus: dict[tuple[str, str], Case], tools: Tools, target: str) -> None:
    cubin = corpus["talk", target].cubin
    (texts,) = tools.disassemble(cubin)
    lines = [sass.parse_line(line) for line in sass.read(cubin, [texts]).text.split("\n")]
    instructions = [line.instruction for line in lines if line.instruction is not None]
    assert [i.address for i in instructions] == list(range(0, 16 * len(texts), 16))
    for number, (instruction, text) in enumerate(zip(instructions, texts, strict=True)):
        head, _, _ = text.removeprefix(f"@{instruction.predicate} ").partition(" ")
        assert ".".join((instruction.opcode, *instruction.modifiers)) == head
        assert text.startswith("@") == bool(instruction.predicate)
        told = sass.control(cubin.functions[0].code[16 * number : 16 * number + 16])
        assert instruction.control == told._replace(reuse=0)
        if disassembly.target(text) is None:
            assert ", ".join(instruction.operands) == text.removeprefix(f"@{instruction.predicate} ")[len(head) + 1 :]
    kinds = {line.kind for line in lines}
    assert kinds == set(LineKind)


@pytest.mark.parametrize(
    ("line", "kind", "operands", "labels"),
    [
        ("        .target sm_90", LineKind.DIRECTIVE, (), ()),
        ("//--------------------- .text.f --------------------------", LineKind.COMMENT, (), ()),
        (".L_x_12:", LineKind.LABEL, (), ()),
        ("$k1$f:", LineKind.LABEL, (), ()),
        ("", LineKind.BLANK, (), ()),
        (
            "        /*00a0*/  @!P1 BRA `(.L_x_1) ;                                      /* B0----5:R2:W-:Y:S05 */",
            LineKind.INSTRUCTION,
            ("`(.L_x_1)",),
            (".L_x_1",),
        ),
        (
            "        /*1a0*/ no instruction",
            LineKind.DIRECTIVE,
            (),
            (),
        ),
        (
            '        /*02d0*/       BRXU UR4 -0x2e0 (*"BRANCH_TARGETS .L_x_4,.L_x_5"*) ; /* B------:R-:W-:-:S05 */',
            LineKind.INSTRUCTION,
            ("UR4 -0x2e0",),
            (".L_x_4", ".L_x_5"),
        ),
        (
            "        /*0030*/       MOV R20, 32@lo((k2 + .L_x_0@srel)) ;                 /* B------:R-:W-:-:S02 */",
            LineKind.INSTRUCTION,
            ("R20", "32@lo((k2 + .L_x_0@srel))"),
            (),
        ),
        (
            "        /*0030*/       LDG.E R2, desc[UR36][R2.64+0x10] ;                   /* B------:R-:W-:-:S02 */",
            LineKind.INSTRUCTION,
            ("R2", "desc[UR36][R2.64+0x10]"),
            (),
        ),
    ],
)
def test_parse_line(line: str, kind: LineKind, operands: tuple[str, ...], labels: tuple[str, ...]) -> None:
    parsed = sass.parse_line(line)
    assert parsed.kind is kind
    assert (parsed.instruction.operands if parsed.instruction else ()) == operands
    assert (parsed.instruction.labels if parsed.instruction else ()) == labels


def test_outline(tools: Tools, calls_ptx: str) -> None:
    path, _ = tools.assemble(calls_ptx, "sm_90")
    cubin = elf.read(path.read_bytes())
    text = sass.read(cubin, tools.disassemble(cubin)).text
    lines = text.split("\n")
    outline = sass.outline(text)
    assert [f.name for f in outline] == ["first", "$first$line", "$first$square", "second", "$second$line"]
    covered = []
    for function in outline:
        assert lines[function.first] == f"{function.name}:"
        assert function.blocks[-1].last == function.last
        for block in function.blocks:
            assert function.first < block.first <= block.last <= function.last
            assert not block.label or lines[block.first - 1] == f"{block.label}:"
            covered += range(block.first, block.last + 1)
    instructions = [n for n, line in enumerate(lines) if sass.parse_line(line).kind is LineKind.INSTRUCTION]
    assert covered == instructions


def test_sections_run_together_come_out_as_if_alone(corpus: dict[tuple[str, str], Case], tools: Tools) -> None:
    cubins = [corpus[kernel, "sm_100"].cubin for kernel in ("matmul", "talk", "layer_norm")]
    codes = [code for cubin in cubins for code in disassembly.sections(cubin)]
    path = corpus["matmul", "sm_100"].path.with_suffix(".together")
    path.write_bytes(disassembly.combine(codes))
    together = disassembly.split(tools.run("nvdisasm", "-b", "SM100", path), codes)
    assert together == [texts for cubin in cubins for texts in tools.disassemble(cubin)]
    assert disassembly.decode(disassembly.encode(together[:1]), cubins[0]) == together[:1]
    with pytest.raises(ValueError, match="not of this cubin"):
        disassembly.decode(disassembly.encode(together[:1]), cubins[1])


@pytest.mark.parametrize(
    "output",
    [
        "",
        "\t/*0000*/ EXIT ;\n",
        "\t/*0000*/ EXIT ;\n\t/*0000*/ EXIT ;\n",
        "\t/*0000*/ EXIT ;\n\t/*0010*/ NOP ;\n\t/*0020*/ NOP ;\n",
    ],
)
def test_incomplete_output_is_refused(output: str) -> None:
    with pytest.raises(ValueError, match="instructions for 2"):
        disassembly.split(output, [bytes(32)])
