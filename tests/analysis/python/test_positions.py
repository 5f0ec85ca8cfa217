"""Places that are no node's range, whole lines, and the way back."""

from __future__ import annotations

import pytest

from tests.analysis.python.fixtures import HEAD, files_of, site, workspace
from tile_lsp.analysis.positions import Positions
from tile_lsp.analysis.python import build_closure
from tile_lsp.model.location import Place, SourceRange, Span

TEXT = (
    HEAD
    + '''
SIZE = 3; X = []
X.append(
    SIZE)


# comment
@ct.kernel(
    occupancy=2,
)
def  kernel(a,
            b: "x" = None):
    """Doc."""
    # comment
    first = (a .attr
             + b.call(key = 1))  # more
    if a:

        second = f"{a!r} {b}" \\
            + f"{b}"
    elif b: third = 1
    else:
        third = 2; fourth = 3
    for i, \\
            j in b:
        pass
    try:
        pass
    except ValueError as error:
        pass
    with a as c, b as d:
        del c
    return first and (
        second), X
'''
)
WORLD = workspace(files_of(TEXT))
RESULT = build_closure(site(WORLD), WORLD)
NORMAL = {m.id: m.text for module in RESULT.closure.modules for m in module.members} if RESULT.closure else {}
LINES = TEXT.split("\n")


def at(needle: str, member: str = "main/kernel") -> Place:
    """The place of a stretch of normalised text."""
    for row, line in enumerate(NORMAL[member].split("\n")):
        if needle in line:
            column = line.index(needle)
            return Place(member, row + 1, column, row + 1, column + len(needle))
    raise AssertionError(f"{needle!r} not in {NORMAL[member]}")


def text_of(found: SourceRange | None) -> str:
    assert found is not None
    line, column, end_line, end_column = found.span
    if line == end_line:
        return LINES[line - 1][column:end_column]
    return " ".join([LINES[line - 1][column:], *LINES[line : end_line - 1], LINES[end_line - 1][:end_column]])


RANGES = {
    "kernel": "kernel",
    "def kernel": "kernel",
    "first": "first",
    "a.attr": "a .attr",
    "attr": "attr",
    "+": "+",
    "b.call(key=1)": "b.call(key = 1)",
    "key": "key",
    "key=1": "key = 1",
    "call": "call",
    "b: 'x'=None": "kernel",
    "f'{a!r} {b}'": 'f"{a!r} {b}"',
    "{a!r}": 'f"{a!r} {b}"',
    "occupancy": "occupancy",
    "@": "ct.kernel( occupancy=2, )",
    "and": "and",
    "i, j": "i, \\             j",
}


@pytest.mark.parametrize("needle", RANGES)
def test_ranges(needle: str):
    found = " ".join(text_of(RESULT.positions.resolve(at(needle))).split())
    assert found == " ".join(RANGES[needle].split())


WHOLE_LINES = {
    "def kernel": "kernel",
    "@ct.kernel": "ct.kernel(     occupancy=2, )",
    "first =": "first = (a .attr              + b.call(key = 1))",
    "second =": 'second = f"{a!r} {b}" \\             + f"{b}"',
    "elif b": "if b",
    "third = 2": "third = 2",
    "fourth": "fourth = 3",
    "for (i, j) in b": "for i, \\             j in b",
    "except": "except ValueError",
    "with": "with a as c, b as d",
    "return": "return first and (         second), X",
}


@pytest.mark.parametrize("needle", WHOLE_LINES)
def test_whole_lines(needle: str):
    needle = (
        needle
        if any(needle in line for line in NORMAL["main/kernel"].split("\n"))
        else needle.replace("(", "").replace(")", "")
    )
    place = at(needle)
    found = text_of(RESULT.positions.resolve(Place(place.member, place.line)))
    expected = WHOLE_LINES[needle] if needle in WHOLE_LINES else WHOLE_LINES["for (i, j) in b"]
    assert found.removeprefix("el").split() == expected.split()


def test_every_line_leads_somewhere_within_the_kernel():
    for member, text in NORMAL.items():
        for line in range(1, text.count("\n") + 2):
            found = RESULT.positions.resolve(Place(member, line))
            assert found is not None
            if member == "main/kernel":
                assert 8 <= found.span.line <= 36, (line, found)


def test_a_start_without_an_end_is_the_innermost_node_there():
    place = at("b.call(key=1)")
    assert text_of(RESULT.positions.resolve(Place(place.member, place.line, place.column))) == "b"
    place = at("first =")
    assert text_of(RESULT.positions.resolve(Place(place.member, place.line, place.column))) == "first"


def test_places_that_are_nowhere():
    assert RESULT.positions.resolve(Place("other/x", 1)) is None
    assert Positions().resolve(Place("main/kernel", 1)) is None
    for place in (Place("main/kernel", 999), Place("main/kernel", 0, 5, 0, 9), Place("main/kernel", 3, 500, 3, 600)):
        found = RESULT.positions.resolve(place)
        assert found is not None
        assert found.path == "/ws/main.py"


def test_chains_keep_what_can_be_resolved():
    places = (at("first"), Place("gone/x", 1), Place("main/X#2", 1))
    assert [text_of(found) for found in RESULT.positions.chain(places)] == ["first", "X.append(     SIZE)"]


def test_the_way_back_with_a_column():
    line = next(row for row, text in enumerate(LINES, 1) if "b.call" in text)
    column = LINES[line - 1].index("call")
    found = RESULT.positions.places_at("/ws/main.py", line, column + 1)
    assert found[0] == at("call")
    assert at("b.call(key=1)") in found
    assert all(place.member == "main/kernel" for place in found)
    spans = [RESULT.positions.resolve(place) for place in found]
    assert all(span is not None and span.span.contains(line, column + 1) for span in spans)


def test_the_way_back_by_line():
    line = next(row for row, text in enumerate(LINES, 1) if "+ b.call" in text)
    (place,) = RESULT.positions.places_at("/ws/main.py", line)
    assert place == Place("main/kernel", at("first =").line)
    (constant,) = RESULT.positions.places_at("/ws/main.py", 3)[:1]
    assert constant == Place("main/SIZE", 1)
    assert RESULT.positions.places_at("/ws/main.py", 1)[0].member == "main/ct"
    assert RESULT.positions.places_at("/ws/other.py", line) == ()
    assert RESULT.positions.places_at("/ws/main.py", 9999) == ()
    assert RESULT.positions.places_at("/ws/main.py", 5) == (Place("main/X#2", 1),)


def test_other_files_are_reached():
    files = files_of(
        HEAD + "from lib import f\n@ct.kernel\ndef k(x):\n    return f(x)\n"
        "-- lib.py\n# é\n\ndef f(x):\n    '''doc'''\n    return x + 'é' + x\n"
    )
    world = workspace(files)
    positions = build_closure(site(world), world).positions
    assert positions.resolve(Place("lib/f", 2, 22, 2, 23)) == SourceRange("/ws/lib.py", Span(5, 22, 5, 23))


def test_reduced_factories_keep_their_places():
    text = (
        HEAD + "def make(n):\n    print(n)\n\n    m = n + 1\n    @ct.kernel\n    def k(x):\n        return (x * m)\n"
        "    return k\nmake(3)\n"
    )
    world = workspace(files_of(text))
    result = build_closure(site(world), world)
    assert result.closure is not None
    normal = result.closure.modules[0].members[-1]
    row = next(i for i, line in enumerate(normal.text.split("\n"), 1) if "x * m" in line)
    column = normal.text.split("\n")[row - 1].index("x * m")
    assert result.positions.resolve(Place(normal.id, row, column, row, column + 5)) == SourceRange(
        "/ws/main.py", Span(8, 16, 8, 21)
    )
    last = normal.text.count("\n") + 1  # `return k`, which was made, stands for what is around it
    assert result.positions.resolve(Place(normal.id, last)) is not None


def test_whole_modules_have_positions_too():
    text = HEAD + "globals()['N'] = 3\n\n\n# c\n@ct.kernel\ndef k():\n    return N\n"
    world = workspace(files_of(text))
    result = build_closure(site(world), world)
    assert result.closure is not None
    (member,) = result.closure.modules[0].members
    row = next(i for i, line in enumerate(member.text.split("\n"), 1) if "return" in line)
    assert result.positions.resolve(Place(member.id, row, 11, row, 12)) == SourceRange(
        "/ws/main.py", Span(8, 11, 8, 12)
    )
    assert result.positions.places_at("/ws/main.py", 8) == (Place(member.id, row),)
