"""Places of members, found in today's text, and the way back."""

from __future__ import annotations

from inline_snapshot import snapshot

from tests.analysis.cuda.fixtures import MAIN, closure_of, files_of
from tile_lsp.model.location import Place, Span

TEXT = """\
// first
__device__ float twice(float x) { return 2 * x; }

__global__ void k(float *ä, // a comment
                  int n) {
    ä[n] = /* here */ twice(ä[0])
        + 1.5f;
}
"""


def test_every_token_goes_there_and_back():
    positions = closure_of(TEXT).positions
    lines = TEXT.encode().split(b"\n")
    found = []
    for number in range(1, 29):
        place = positions.resolve(Place("main.cu/k", number))
        assert place is not None
        span = place.span
        found.append(lines[span.line - 1][span.column : span.end_column].decode())
        (back,) = positions.places_at(MAIN, span.line, span.column)[-1:]
        assert back.line == number
    assert found == snapshot(
        [
            "__global__",
            "void",
            "k",
            "(",
            "float",
            "*",
            "ä",
            ",",
            "int",
            "n",
            ")",
            "{",
            "ä",
            "[",
            "n",
            "]",
            "=",
            "twice",
            "(",
            "ä",
            "[",
            "0",
            "]",
            ")",
            "+",
            "1.5f",
            ";",
            "}",
        ]
    )


def test_ranges():
    positions = closure_of(TEXT).positions
    place = positions.resolve(Place("main.cu/k", 12, 0, 27, 0))
    assert place is not None
    assert place.span == snapshot(Span(line=5, column=25, end_line=7, end_column=14))


def test_lines():
    positions = closure_of(TEXT).positions
    assert {place.member for place in positions.places_at(MAIN, 2)} == {"main.cu/twice"}
    assert positions.places_at(MAIN, 1) == ()
    assert positions.places_at("/ws/other.cu", 2) == ()


def test_what_moved_is_found_where_it_is():
    moved = "\n\n\n" + TEXT
    before, after = closure_of(TEXT).positions, closure_of(moved).positions
    one, two = before.resolve(Place("main.cu/twice", 8)), after.resolve(Place("main.cu/twice", 8))
    assert one is not None
    assert two is not None
    assert two.span.line == one.span.line + 3
    assert files_of(moved)[MAIN].startswith("\n\n\n")
