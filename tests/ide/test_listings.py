"""Outline, folding and tokens of served documents."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from tile_lsp.ide.documents import Document
from tile_lsp.ide.folding import Fold, folds
from tile_lsp.ide.outline import outline
from tile_lsp.ide.semantic_tokens import semantic_tokens
from tile_lsp.ide.stages import FORMATS, TOKEN_TYPES
from tile_lsp.model.stage import Stage

PTX = """\
    // PTX of k for sm_90
    // A=f16[64]

    .visible .entry k(
    \t.param .u32 k_param_0
    )
    {
    \tmov.b64 \t%rd5, k_param_0;
    $L__BB0_1:
    \t// k.py:2: while x:
    \t@%p1 bra \t$L__BB0_1;
    $L__BB0_2:
    \tret;
    }
"""
TILEIR = """\
    // Tile IR of k for sm_90

    entry @k(%a: tile<i32>) {
      %0 = constant <i32: 8> : tile<i32>
      %r = for %i in (%0 to %0, step %0) : tile<i32> iter_values(%x = %0) -> (tile<i32>) {
        // k.py:2: {
        continue %x : tile<i32>
      }
      return
    }
"""
SASS = """\
    // SASS of k for sm_90

    k:
            /*0000*/   @P0 BRA `(.L_x_0) ;                                      /* B------:R-:W-:-:S01 */
    .L_x_0:
            // k.py:2: x = EXIT
            /*0010*/       FFMA.FTZ R1, -R2, 0x3f, c[0x0][0x28] ;               /* B------:R-:W-:-:S01 */
            /*0020*/       EXIT ;                                               /* B------:R-:W-:-:S05 */
"""
AMDGCN = """\
    ; AMDGCN of k for gfx942

    \t.globl\tk
    k:                                      ; @k
    ; %bb.0:
    \ts_cmp_lt_i32 s0, 1
    \ts_cbranch_scc1 .LBB0_2
    .LBB0_1:
    \t; k.py:2: while x:
    \tv_mov_b32_e32 v0, 0x7f
    .LBB0_2:
    \ts_endpgm
    \t.section\t.rodata
"""


def document(stage: Stage, text: str) -> Document:
    rows = tuple(textwrap.dedent(text).splitlines())
    return Document(stage, rows, ((),) * len(rows), (-1,) * len(rows))


def parts(found):
    return [(part.name, part.kind, part.first, part.last, parts(part.parts)) for part in found]


@pytest.mark.parametrize(
    ("stage", "text", "expected"),
    [
        (
            Stage.PTX,
            PTX,
            [("k", "function", 3, 13, [("$L__BB0_1", "block", 8, 10, []), ("$L__BB0_2", "block", 11, 12, [])])],
        ),
        (Stage.TILEIR, TILEIR, [("k", "function", 2, 9, [("for", "region", 4, 7, [])])]),
        (Stage.SASS, SASS, [("k", "function", 2, 7, [("k", "block", 3, 3, []), (".L_x_0", "block", 6, 7, [])])]),
        (
            Stage.AMDGCN,
            AMDGCN,
            [
                (
                    *("k", "function", 3, 11),
                    [("entry", "block", 5, 6, []), (".LBB0_1", "block", 9, 9, []), (".LBB0_2", "block", 11, 11, [])],
                )
            ],
        ),
        (Stage.TYPED, "x: Tile[int32,()] = f()", []),
        (Stage.PTX, ".visible .entry k(", [("k", "function", 0, 0, [])]),
        (Stage.TILEIR, "entry @k {", [("k", "function", 0, 0, [])]),
    ],
)
def test_outline(stage, text, expected):
    assert parts(outline(document(stage, text))) == expected


def test_folds_begin_with_the_header():
    assert folds(document(Stage.PTX, PTX)) == (Fold(0, 1, comment=True), Fold(3, 13), Fold(8, 10), Fold(11, 12))


def tokens(stage: Stage, row: str) -> list[tuple[str, str]]:
    return [(token.type, row[token.column :][: token.length]) for token in semantic_tokens(document(stage, row))]


@pytest.mark.parametrize(
    ("stage", "row", "expected"),
    [
        (
            Stage.SASS,
            "/*0010*/  @!P0 FFMA.FTZ R1, -R2, 0x3f, `(.L_x_0) ;                  /* B------:R-:W-:-:S01 */",
            (
                "comment:/*0010*/ keyword:@!P0 function:FFMA.FTZ variable:R1 variable:R2 number:0x3f label:`(.L_x_0) "
                "comment:/* B------:R-:W-:-:S01 */"
            ),
        ),
        (
            Stage.SASS,
            "HGMMA.64x128x16.F32 R88, gdesc[UR4].tnspB, RZ, !UPT ;",
            "function:HGMMA.64x128x16.F32 variable:R88 variable:UR4 variable:RZ variable:UPT",
        ),
        (
            Stage.PTX,
            "@%p1 mov.b64 %rd5, k_param_15; // é",
            "keyword:@%p1 function:mov.b64 variable:%rd5 comment:// é",
        ),
        (
            Stage.TILEIR,
            "%0 = muli %1, %c : tile<4xi32>",
            "variable:%0 function:muli variable:%1 variable:%c type:tile",
        ),
        (
            Stage.TYPED,
            '$1: Tile[pointer[float16],()] = f(x=A_0.0, fn="mul")',
            'variable:$1 type:Tile[pointer[float16],()] function:f variable:A_0.0 string:"mul"',
        ),
        (
            Stage.TYPES,
            "h.py:11:12 block: Tile[int32,()] = 1  ← matmul.py:36",
            "number:h.py:11:12 variable:block type:Tile[int32,()] = 1",
        ),
        (
            Stage.AMDGCN,
            "global_store_dwordx4 v[0:1], v2, s[2:3] offset:16 sc0 ; x",
            (
                "function:global_store_dwordx4 variable:v[0:1] variable:v2 variable:s[2:3] type:offset number:16 "
                "type:sc0 comment:; x"
            ),
        ),
        (Stage.AMDGCN, "s_cbranch_vccz .LBB0_2", "function:s_cbranch_vccz label:.LBB0_2"),
        (Stage.RESOURCES, "registers 40", ""),
    ],
)
def test_tokens(stage, row, expected):
    assert " ".join(f"{kind}:{text}" for kind, text in tokens(stage, row)) == expected


def test_the_legend_has_every_type():
    for stage, text in [(Stage.SASS, SASS), (Stage.PTX, PTX), (Stage.TILEIR, TILEIR)]:
        found = semantic_tokens(document(stage, text))
        assert {token.type for token in found} <= set(TOKEN_TYPES)
        assert list(found) == sorted(found, key=lambda token: (token.line, token.column))
        assert found[-1].line > 5
        assert all(token.line == 6 for token in semantic_tokens(document(stage, text), 6, 6))


def test_languages_are_those_of_the_extension_and_no_others():
    manifest = json.loads((Path(__file__).parents[2] / "vscode-extension/package.json").read_text())
    languages = {language["id"]: language["extensions"] for language in manifest["contributes"]["languages"]}
    for stage, named in FORMATS.items():
        assert f".{named.extension}" in languages[named.language] or "." in named.extension, stage
    # Style sheets, to every editor.
    assert not {"sass", "scss"} & {word for named in FORMATS.values() for word in (named.extension, named.language)}
