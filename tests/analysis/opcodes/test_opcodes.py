"""What hovers say of instructions: by example, and that nothing that compilers write is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tile_lsp.analysis.opcodes import Explanation, amdgcn, explain, llvm, ptx, sass, tileir, triton
from tile_lsp.model.stage import Stage

SEEN = Path(__file__).parent / "seen"
"""Opcodes and rows of listings of our examples, of public samples, and of what other compilers write."""
CONTROL = "/* B------:R-:W-:-:S01 */"


def row(stage: Stage, text: str) -> Explanation:
    if stage is Stage.SASS and not text.startswith("/*"):
        text = f"/*0010*/ {text} ; {CONTROL}"
    found = explain(stage, (text,), 0)
    assert found is not None, text
    return found


def unknown(found: Explanation) -> list[str]:
    return ([] if found.does else [found.name]) + [
        f"{found.name} {modifier}" for modifier, phrase in found.parts if not phrase
    ]


@pytest.mark.parametrize("name", ["sass", "ptx", "amdgcn"])
def test_every_opcode_and_modifier_seen_has_words(name: str):
    describe = {"sass": sass.LANGUAGE.describe, "ptx": ptx.LANGUAGE.describe, "amdgcn": amdgcn.describe}[name]
    lines = (SEEN / f"{name}.txt").read_text().split()
    assert len(lines) > 300
    assert [word for line in lines for word in unknown(describe(line))] == []


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("directives", Stage.PTX),
        ("tileir", Stage.TILEIR),
        ("ttir", Stage.TTIR),
        ("llvm", Stage.LLVM),
    ],
)
def test_every_row_seen_has_words(name: str, stage: Stage):
    lines = (SEEN / f"{name}.txt").read_text().splitlines()
    assert len(lines) > 20
    missing = []
    for line in lines:
        found = row(stage, line)
        missing += unknown(found)
        if "nothing more is known" in found.does:
            missing.append(line)
    assert missing == []


@pytest.mark.parametrize(
    ("stage", "text", "words"),
    [
        (
            Stage.SASS,
            "@!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x100]",
            ["global memory", ".E: 64-bit address", ".128: 128 bits", "read-only path", "`P0` is false"],
        ),
        (
            Stage.SASS,
            "HGMMA.64x128x16.F32 R24, gdesc[UR4].tnspB, R24, !UPT, gsb0",
            ["warpgroup", "m64n128k16", "summed in 32-bit floats", "B is transposed", "scoreboard 0"],
        ),
        (Stage.SASS, "HMMA.16816.F32.BF16 R4, R8, R12, R4", ["tensor core", "m16n8k16", "bfloat16"]),
        (Stage.SASS, "UTMALDG.2D [UR8], [UR4], desc[URZ]", ["TMA", "a box of a 2-dimensional tensor"]),
        (Stage.SASS, "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR5], RZ", ["mbarrier", "arrives", "one arrival, no bytes"]),
        (Stage.SASS, "S2R R0, SR_CTAID.Y", ["`SR_CTAID.Y`: index of the block in the grid, y"]),
        (Stage.SASS, "LOP3.LUT R0, R1, 0xff, RZ, 0xc0, !PT", ["R1 & 0xff"]),
        (Stage.SASS, "LOP3.LUT R0, R1, R2, R3, 0x96, !PT", ["(R1 ^ R2) ^ R3"]),
        (Stage.SASS, "LOP3.LUT R0, R1, R2, R3, 0xca, !PT", ["R1 ? R2 : R3"]),
        (Stage.SASS, "IMAD.MOV.U32 R4, RZ, RZ, R5.reuse", ["used as a move", "operand cache", "`RZ`: reads as zero"]),
        (Stage.SASS, "FSETP.GEU.AND P0, PT, R1, R2, PT", ["greater than or equal, or one is NaN"]),
        (
            Stage.SASS,
            "/*0010*/       NOP ;                                                /* B-1----:R2:W3:Y:S04 */",
            [
                "waits for scoreboard 1",
                "holds scoreboard 3 until its result",
                "holds scoreboard 2 until its operands",
                "4 cycles or more",
                "another warp may go first",
            ],
        ),
        (Stage.SASS, "FOO.BAR R0", [".BAR: ", "1 cycle or more"]),
        (
            Stage.PTX,
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f2};",
            ["D = A × B + C", "A is 16×16, B is 16×8", "D: 32-bit", "A: 16-bit", "B: 16-bit", "C: 32-bit"],
        ),
        (
            Stage.PTX,
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%r2];",
            ["TMA", ".2d: 2-dimensional", "told to a barrier", "cache policy"],
        ),
        (
            Stage.PTX,
            "tcgen05.mma.cta_group::2.kind::f16.collector::a::discard [%r1], %rd1, %rd2, %r2, %p1;",
            ["fifth-generation", "pair of blocks", "16-bit floats", "a need not be kept"],
        ),
        (Stage.PTX, "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", ["phase of a barrier", "parity"]),
        (Stage.PTX, "@!%p1 bra \t$L__BB0_3;", ["Jumps", "`%p1` is false"]),
        (Stage.PTX, "mov.u32 %r1, %tid.x;", ["`%tid.x`: index of the thread in its block, x"]),
        (Stage.PTX, "mov.b32 \t%r129, 0fFF800000;", ["`0fFF800000` is -inf"]),
        (Stage.PTX, "cvt.rn.f16x2.f32 %r1, %f1, %f2;", ["to: pair of 16-bit floats", "from: 32-bit float"]),
        (Stage.PTX, ".reqntid 128", ["Exactly this many threads"]),
        (Stage.PTX, ".maxntid 128, 1, 1", ["At most so many threads"]),
        (Stage.PTX, '\t.pragma "nounroll";', ["not unrolled"]),
        (Stage.PTX, "\t.reg .b32 \t%r<138>;", ["Virtual registers", "`%r0` to `%r137`"]),
        (
            Stage.TILEIR,
            (
                "%t, %k = load_view_tko weak %v[%i, %j] token = %0 : partition_view<tile=(1x64), "
                "padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x64xf32>, token"
            ),
            ["Loads one tile", "no other thread", "beyond the edge -∞", "a tensor in memory", "1 × 64 of 32-bit float"],
        ),
        (
            Stage.TILEIR,
            "%2 = cuda_tile.mmaf %a, %b, %c : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>",
            ["A × B + C", "128 × 64 of 16-bit float"],
        ),
        (Stage.TILEIR, "%1 = divi %a, %b signed rounding<negative_inf> : tile<i32>", ["how it is rounded, down"]),
        (
            Stage.TTIR,
            "%x = tt.load %a, %m evictionPolicy = evict_last : tensor<128x64x!tt.ptr<f16>, #blocked>",
            ["Loads through pointers", "128 × 64 of pointer to 16-bit float, laid out as `#blocked`"],
        ),
        (Stage.TTGIR, "#mma = #ttg.nvidia_mma<{versionMajor = 3}>", ["as the tensor core returns its results"]),
        (Stage.LLVM, "  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", ["index of the thread in its block, x"]),
        (Stage.LLVM, "  %8 = icmp ult i32 %1, %2", ["less than, unsigned"]),
        (
            Stage.LLVM,
            "  %p = getelementptr inbounds i8, ptr addrspace(3) @s, i32 4",
            ["shared memory", "within the object"],
        ),
        (
            Stage.LLVM,
            '  %5 = call i32 asm "{\\0A\\09.reg .pred p;\\0A ld.global.v4.b32 {$0}, [$1];}", "=r,l"(i64 %3)',
            ["Inline assembly", "`ld.global.v4.b32`: Loads from memory."],
        ),
        (
            Stage.AMDGCN,
            "\tv_mfma_f32_32x32x8_f16 a[0:15], v[94:95], v[50:51], a[0:15]",
            ["D = A × B + C", "D is 32×32, summed over 8", "_f16: 16-bit float", "`a[0:15]`: accumulation registers"],
        ),
        (
            Stage.AMDGCN,
            "\ts_waitcnt vmcnt(0) lgkmcnt(2)",
            ["`vmcnt`: at most 0 vector memory operations", "at most 2 scalar loads"],
        ),
        (Stage.AMDGCN, "\ts_cbranch_execz .LBB0_2", ["Jumps", "no lane runs"]),
        (Stage.AMDGCN, "\tglobal_load_dwordx4 v[0:3], v4, s[2:3] offset:16", ["128 bits", "16 bytes further"]),
        (Stage.AMDGCN, "\tv_add_f32_dpp v1, v2, v2 row_shr:8 bound_ctrl:1", ["of the lane 8 below", "read as zero"]),
        (Stage.AMDGCN, "\tv_dual_mov_b32 v4, 0 :: v_dual_add_f32 v7, v1, v2", ["issued together", "Adds two numbers."]),
        (Stage.AMDGCN, "\tv_cmp_gt_i32_e64 vcc, s2, v1", ["greater than", "`vcc`: mask with a bit for each lane"]),
        (Stage.AMDGCN, "\tds_read_b64_tr_b16 v[2:3], v75 offset:8", ["LDS", "transposed between the lanes"]),
    ],
)
def test_words(stage: Stage, text: str, words: list[str]):
    found = row(stage, text)
    said = "\n".join([found.does, *(f"{modifier}: {phrase}" for modifier, phrase in found.parts), *found.notes])
    assert [word for word in words if word not in said] == [], said


def test_what_is_not_known_is_not_made_up():
    for stage, text in (
        (Stage.SASS, "FOO.BAR R0"),
        (Stage.PTX, "foo.bar %r1;"),
        (Stage.AMDGCN, "ds_foo v1"),
        (Stage.TILEIR, "%0 = foo bar %1 : tile<i32>"),
    ):
        found = row(stage, text)
        assert not found.does
        assert [phrase for _, phrase in found.parts] == [""]
    assert sass.LANGUAGE.describe("LDG.E.QUUX").parts == ((".E", "64-bit address"), (".QUUX", ""))


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (Stage.SASS, "// kernel.py:1: x = 1"),
        (Stage.SASS, ".L_x_0:"),
        (Stage.SASS, "        .target sm_90"),
        (Stage.PTX, "$L__BB0_1:"),
        (Stage.PTX, ")"),
        (Stage.PTX, "{"),
        (Stage.TILEIR, "}"),
        (Stage.TTIR, "#loc = loc(unknown)"),
        (Stage.LLVM, "}"),
        (Stage.LLVM, "4:                     ; preds = %0"),
        (Stage.LLVM, 'target triple = "nvptx64"'),
        (Stage.RESOURCES, "registers 40"),
        (Stage.AMDGCN, ".LBB0_2:"),
        (Stage.AMDGCN, "; %bb.38:"),
        (Stage.AMDGCN, "\t.p2align 8"),
    ],
)
def test_rows_without_an_instruction(stage: Stage, text: str):
    assert explain(stage, (text,), 0) is None


def test_what_a_scoreboard_waits_for_is_named():
    rows = (
        ".type k,@function",
        "/*0000*/       LDG.E R1, [R2.64] ;                                  /* B------:R-:W2:-:S01 */",
        "/*0010*/       STG.E [R2.64], R4 ;                                  /* B------:R1:W-:-:S01 */",
        "/*0020*/       FADD R1, R1, R1 ;                                    /* B-12---:R-:W-:-:S01 */",
    )
    found = explain(Stage.SASS, rows, 3)
    assert found is not None
    assert "1 (operands of `STG.E` at `0010`), 2 (`LDG.E` at `0000`)" in found.notes[-1]


@pytest.mark.parametrize(
    ("target", "text", "expected"),
    [
        (80, "ULDC.64 UR4, c[0x0][0x160]", [("c[0x0][0x160]", 0, 8)]),
        (90, "IMAD R0, R1, c[0x0][0x214], RZ", [("c[0x0][0x214]", 4, 4)]),
        (120, "LDC R1, c[0x0][0x37c]", []),
        (100, "LDCU.128 UR8, c[0x0][0x390]", [("c[0x0][0x390]", 16, 16)]),
    ],
)
def test_parameters_in_constant_memory(target: int, text: str, expected: list[tuple[str, int, int]]):
    rows = (f"        .target sm_{target}", f"/*0010*/ {text} ; {CONTROL}")
    assert [tuple(one) for one in sass.parameters(rows, 1)] == expected


def test_tables_of_logic_are_right():
    """Each expression that is shown has the table that it is shown for."""
    for table in range(256):
        expression = sass.boolean(table)
        if not expression or expression.startswith("at least") or "?" in expression:
            continue
        value = eval(expression, {"a": 0xF0, "b": 0xCC, "c": 0xAA})
        assert value & 0xFF == table, expression


def test_words_are_plain():
    """Sentences end in a full stop, phrases don't; no table says nothing."""
    for module in (sass, ptx, amdgcn, tileir, triton, llvm):
        assert all(sentence.endswith(".") and len(sentence) > 4 for sentence in module.OPCODES.values())
        phrases = [
            *module.LANGUAGE.modifiers.values(),
            *(p for own in module.LANGUAGE.own.values() for p in own.values()),
        ]
        assert all(phrase and not phrase.endswith(".") for phrase in phrases)
