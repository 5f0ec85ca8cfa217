"""The assembler's remarks."""

from __future__ import annotations

import pytest

from tile_lsp.analysis import remarks
from tile_lsp.model.location import Place
from tile_lsp.model.outcome import Remark, Severity

from .conftest import TARGETS, Case


def test_what_tileiras_writes(corpus: dict[tuple[str, str], Case]) -> None:
    loads = [r for r in remarks.parse(corpus["matmul", "sm_90"].remarks) if "Load instruction" in r.message]
    assert [(r.chain, r.message.split(",")[0]) for r in loads] == [
        ((Place("kernels.matmul/matmul", 6, 12),), "Load instruction selected: TMA Load instruction"),
        ((Place("kernels.matmul/matmul", 7, 12),), "Load instruction selected: TMA Load instruction"),
    ]
    assert {r.severity for r in loads} == {Severity.HINT}
    failed = [r for r in remarks.parse(corpus["softmax", "sm_90"].remarks) if r.severity is not Severity.HINT]
    assert failed == [
        Remark(
            "Failed to select TMA load instruction: TMA only supports zero padding",
            Severity.INFORMATION,
            (Place("kernels.softmax/softmax", 4, 10),),
            "RemarkMemoryTmaLoadFailed",
        )
    ]


def test_names_that_are_not_ascii(corpus: dict[tuple[str, str], Case]) -> None:
    found = remarks.parse(corpus["größe", "sm_90"].remarks)
    assert {r.chain[0].member for r in found} == {"kernels.größe/größe"}


@pytest.mark.parametrize("target", TARGETS)
def test_asking_for_remarks_leaves_the_cubin_alone(corpus: dict[tuple[str, str], Case], target: str) -> None:
    path = corpus["matmul", target].path
    assert path.read_bytes() == path.with_suffix(".plain").read_bytes()


def test_the_artifact(corpus: dict[tuple[str, str], Case]) -> None:
    made = remarks.read(corpus["attention", "sm_90"].remarks)
    assert made.text.split("\n")[:-1] == [r.message for r in made.remarks]
    assert [chains[0] for chains in made.lines] == [r.chain for r in made.remarks]
    assert len(set(made.remarks)) == len(made.remarks) > 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("nonsense: [", ()),
        ("--- !Missed\n...\n", ()),
        ("--- !Missed\nName:  Some\n...\n", (Remark("Some", code="Some"),)),
        (
            (
                "--- !Passed\nName: N\nDebugLoc: { File: 'it''s, here', Line: 3, Column: 4 }\nArgs:\n"
                "  - Remark:      'a: b'\n  - NumCTAs:     2\n...\n"
            ),
            (Remark("a: b: num CTAs 2", Severity.HINT, (Place("it's, here", 3, 4),), "N"),),
        ),
        (
            '--- !Analysis\nName: N\nDebugLoc: { File: "a\\"b", Line: 3, Column: 4 }\nArgs:\n  - String: x\n...\n',
            (Remark("x", Severity.HINT, (Place('a"b', 3, 4),), "N"),),
        ),
        ("--- !Passed\nName: N\nDebugLoc: { File: , Line: 3", (Remark("N", Severity.HINT, (), "N"),)),
    ],
)
def test_parse(text: str, expected: tuple[Remark, ...]) -> None:
    assert remarks.parse(text) == expected
