"""Faults as lines that compilers' users and editors know."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tile_lsp.cli.exits import Exit
from tile_lsp.cli.faults import exit_code, fault_lines
from tile_lsp.cli.source import Sources
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import Fault, FaultKind

TEXT = """\
def multiply(A, größe):
\tacc = ct.mma(幅, größe, acc)
    return (acc +
            größe)
\r
"""
NAME = SourceRange("/k.py", Span(1, 4, 1, 12))


def lines(fault: Fault, *chain: Span) -> str:
    sources = Sources({"/k.py": TEXT}.get)
    places = [SourceRange("/k.py", span) for span in chain]
    return "\n".join(fault_lines(fault, places, NAME, sources))


def test_call_chain():
    fault = Fault(FaultKind.USER, "no such operand", code="TypeCheckingError")
    assert lines(fault, Span(2, 14, 2, 17), Span(3, 12, 4, 18)) == snapshot("""\
/k.py:2:15: error: no such operand
 2 | 	acc = ct.mma(幅, größe, acc)
   | 	             ^~
/k.py:3:13: note: called from here
 3 |     return (acc +
   |             ^~~~~\
""")


def test_columns_count_characters():
    assert lines(Fault(FaultKind.USER, "unknown"), Span(2, 19, 2, 26)).splitlines()[0] == "/k.py:2:18: error: unknown"


def test_a_kernels_fault_without_a_place_is_at_its_name():
    assert lines(Fault(FaultKind.USER, "too large\nfor tileiras")) == snapshot("""\
/k.py:1:5: error: too large
for tileiras
 1 | def multiply(A, größe):
   |     ^~~~~~~~\
""")


def test_the_environments_fault_has_no_place():
    fault = Fault(
        FaultKind.ENVIRONMENT, "tileiras is missing\nlooked on PATH", help="pip install 'cuda-tile[tileiras]'"
    )
    assert lines(fault) == snapshot("""\
tile-lsp: error: tileiras is missing
looked on PATH
help: pip install 'cuda-tile[tileiras]'\
""")


@pytest.mark.parametrize("span", [Span(99, 0, 99, 1), Span(5, 0, 5, 0), Span(1, 400, 1, 500)])
def test_a_place_beyond_the_text(span: Span):
    assert lines(Fault(FaultKind.USER, "odd"), span).startswith("/k.py:")


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        ([], Exit.OK),
        ([FaultKind.USER], Exit.KERNEL),
        ([FaultKind.ENVIRONMENT], Exit.ENVIRONMENT),
        ([FaultKind.ENVIRONMENT, FaultKind.USER], Exit.KERNEL),
    ],
)
def test_exit_code(kinds: list[FaultKind], code: Exit):
    assert exit_code([Fault(kind, "m") for kind in kinds]) is code
