"""Control flow read from listings: small texts, and real kernels against what the tools themselves say."""

from __future__ import annotations

import textwrap

import pytest

from tile_lsp.analysis import flow


def check(functions: tuple[flow.Function, ...], expected: str) -> None:
    """`name: first-last -> to when, to when` a line for each block; a `*` marks an edge that closes a loop."""
    lines = []
    for function in functions:
        lines.append(f"{function.name}:")
        for index, block in enumerate(function.blocks):
            edges = ", ".join(f"{edge.to}{'*' * edge.back} {edge.when}".strip() for edge in block.edges)
            lines.append(f"  {index} {block.name or '-'} {block.first}-{block.last} -> {edges}".rstrip())
    assert "\n".join(lines) == textwrap.dedent(expected).strip()


def sass(text: str) -> list[str]:
    """Rows of a listing, from the instructions alone."""
    rows = []
    address = 0
    for line in textwrap.dedent(text).strip().split("\n"):
        if line.endswith(":"):
            rows.append(line)
        else:
            rows.append(f"    /*{address:04x}*/       {line} ;                  /* B------:R-:W-:-:S05 */")
            address += 16
    return rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k:\nMOV R1, R2\nEXIT", "k:\n  0 entry 1-2 ->"),
        (
            "k:\n@!P0 BRA `(.L_x_0)\nMOV R1, R2\n.L_x_0:\nEXIT",
            "k:\n  0 entry 1-1 -> 2 !P0, 1\n  1 - 2-2 -> 2\n  2 .L_x_0 4-4 ->",
        ),
        (
            "k:\n@P0 EXIT\n.L_x_0:\nIADD3 R0, R0, 0x1, RZ\n@P1 BRA `(.L_x_0)\nEXIT\n.L_x_1:\nBRA `(.L_x_1)\nNOP",
            "k:\n  0 entry 1-1 -> 1\n  1 .L_x_0 3-4 -> 1* P1, 2\n  2 - 5-5 ->",
        ),
        (
            "k:\nBRA.U !UP0, `(.L_x_0)\nEXIT\n.L_x_0:\nEXIT",
            "k:\n  0 entry 1-1 -> 2 !UP0, 1\n  1 - 2-2 ->\n  2 .L_x_0 4-4 ->",
        ),
        (
            "k:\n@P1 BRA P2, `(.L_x_0)\nEXIT\n.L_x_0:\nEXIT",
            "k:\n  0 entry 1-1 -> 2 P1 & P2, 1\n  1 - 2-2 ->\n  2 .L_x_0 4-4 ->",
        ),
        (
            "k:\nBRA.DIV ~URZ, `(.L_x_0)\nEXIT\n.L_x_0:\nEXIT",
            "k:\n  0 entry 1-1 -> 2 diverged, 1\n  1 - 2-2 ->\n  2 .L_x_0 4-4 ->",
        ),
        (
            (
                "k:\nBSSY B1, `(.L_x_1)\nBSSY B0, `(.L_x_0)\n@P0 BRA `(.L_x_2)\nBSYNC B1\n.L_x_0:\nNOP\n.L_x_2:\nEXIT\n"
                ".L_x_1:\nEXIT"
            ),
            "k:\n  0 entry 1-3 -> 2 P0, 1\n  1 - 4-4 -> 3\n  2 .L_x_2 8-8 ->\n  3 .L_x_1 10-10 ->",
        ),
        (
            "k:\nCALL.REL.NOINC `($f)\nEXIT\n$f:\nRET.REL.NODEC R2 `(k)",
            "k:\n  0 entry 1-2 ->\n$f:\n  0 entry 4-4 ->",
        ),
    ],
)
def test_sass(text: str, expected: str):
    check(flow.of_sass(sass(text)), expected)


def test_indirect_branches_of_sass():
    rows = sass("k:\nMOV R2, R3\n.L_x_1:\nEXIT\n.L_x_2:\nEXIT")
    rows.insert(2, '    /*0008*/       BRX R2 -0x40 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*) ;    /* B------:R-:W-:-:S05 */')
    check(flow.of_sass(rows), "k:\n  0 entry 1-2 -> 1, 2\n  1 .L_x_1 4-4 ->\n  2 .L_x_2 6-6 ->")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("define void @k() {\n  ret void\n}", "k:\n  0 entry 1-1 ->"),
        (
            (
                'define ptx_kernel void @"a b"(i1 %c) #0 {\n  br i1 %c, label %2, label %"x y"\n\n2:   ; preds = %1\n'
                '  br label %"x y"\n\n"x y":\n  br i1 %c, label %2, label %3, !llvm.loop !4\n\n3:\n  unreachable\n}'
            ),
            'a b:\n  0 entry 1-1 -> 1 true, 2 false\n  1 2 4-4 -> 2\n  2 "x y" 7-7 -> 1* true, 3 false\n  3 3 10-10 ->',
        ),
        (
            (
                "define void @k(i32 %v) {\n  switch i32 %v, label %d [\n    i32 0, label %a\n    i32 -1, label %b\n"
                "    i32 2, label %a\n  ]\na:\n  ret void\nb:\n  ret void\nd:\n  ret void\nunreached:\n  ret void\n}"
            ),
            "k:\n  0 entry 1-5 -> 1 case 0, case 2, 2 case -1, 3 default\n  1 a 7-7 ->\n  2 b 9-9 ->\n  3 d 11-11 ->",
        ),
        (
            (
                "define void @k(i1 %c) {\n  br i1 %c, label %a, label %a\na:\n  ret void\n}\n\ndeclare void @f()\n\n"
                "define void @g() {\n  ret void\n}"
            ),
            "k:\n  0 entry 1-1 -> 1 true, false\n  1 a 3-3 ->\ng:\n  0 entry 9-9 ->",
        ),
    ],
)
def test_llvm(text: str, expected: str):
    check(flow.of_llvm(text.split("\n")), expected)


def test_amdgcn():
    text = """\
k:                                      ; @k
; %bb.0:
\ts_cmp_lt_i32 s0, 1
\ts_cbranch_scc1 .LBB0_3
.LBB0_1:                                ; %loop
\t; k.py:2: while x:
\tv_mov_b32_e32 v0, 0
\ts_cbranch_execnz .LBB0_1
; %bb.2:
\ts_branch .LBB0_3
.LBB0_3:
\ts_endpgm
\t.section\t.rodata
amdhsa.kernels:
"""
    expected = """
    k:
      0 entry 2-3 -> 3 SCC = 1, 1
      1 .LBB0_1 6-7 -> 1* EXEC ≠ 0, 2
      2 - 9-9 -> 3
      3 .LBB0_3 11-11 ->
    """
    check(flow.of_amdgcn(text.split("\n")), expected)


def test_nothing_to_read():
    assert flow.of_amdgcn(["; no code", ""]) == ()
    assert flow.of_sass(["// no code", ""]) == ()
    assert flow.of_llvm(["; no code", "", "declare void @f()"]) == ()
