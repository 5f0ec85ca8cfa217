"""Faults as lines that compilers' users and editors know."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tile_lsp.analysis.snapshot import ProblemView
from tile_lsp.cli.exits import Exit
from tile_lsp.cli.faults import exit_code, fault_lines, problem_lines
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


def test_a_sources_control_characters_are_shown_not_obeyed():
    sources = Sources({"/k.py": 'y = "\x1b]0;Z\x07\x9b" nope\n'}.get)
    problem = ProblemView("invalid syntax", Span(1, 15, 1, 19))
    assert "\n".join(problem_lines([problem], "/k.py", sources)) == snapshot("""\
/k.py:1:15: error: invalid syntax
 1 | y = "\\x1b]0;Z\\x07\\x9b" nope
   |                        ^~~~\
""")


def test_a_file_of_errors_has_the_first_ones_written_out():
    sources = Sources({"/k.py": "?\n" * 30}.get)
    problems = [ProblemView("no character of Python's", Span(line, 0, line, 1)) for line in range(1, 31)]
    *_, last = problem_lines(problems, "/k.py", sources)
    assert last == snapshot("/k.py: note: 10 more like these")


def test_a_stage_that_a_target_does_not_have_is_the_command_lines_fault():
    fault = Fault(FaultKind.USER, "gfx942 has no SASS", code="stage")
    assert lines(fault) == "tile-lsp: error: gfx942 has no SASS"
    assert exit_code([fault]) is Exit.USAGE
    assert exit_code([fault, Fault(FaultKind.USER, "m")]) is Exit.KERNEL


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
