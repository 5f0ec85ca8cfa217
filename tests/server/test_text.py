from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tile_lsp.server.text import Change, apply_changes, from_byte_column, sound, split_lines, to_byte_column

LINE = "s = '😋é'; y = x"
#: The column of `y` in each encoding.
COLUMN_OF_Y = {"utf-8": 14, "utf-16": 11, "utf-32": 10}


@pytest.mark.parametrize("encoding", COLUMN_OF_Y)
def test_columns_after_wide_characters(encoding):
    assert to_byte_column(LINE, COLUMN_OF_Y[encoding], encoding) == 14
    assert from_byte_column(LINE, 14, encoding) == COLUMN_OF_Y[encoding]


@pytest.mark.parametrize(
    ("encoding", "character", "column"),
    [
        pytest.param("utf-16", 6, 5, id="inside a surrogate pair"),
        pytest.param("utf-8", 7, 5, id="inside four bytes"),
        pytest.param("utf-16", 10_000, len(LINE.encode()), id="past the end in utf-16"),
        pytest.param("utf-32", 10_000, len(LINE.encode()), id="past the end in utf-32"),
    ],
)
def test_positions_that_are_none(encoding, character, column):
    assert to_byte_column(LINE, character, encoding) == column


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\n", ["a", "b", "c", ""]),
        pytest.param("a\x0cb\x85c\u2028d", ["a\x0cb\x85c\u2028d"], id="what ends no line in the protocol"),
        ("", [""]),
    ],
)
def test_lines(text, lines):
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        pytest.param("ab\ncd\n", [Change("X", (1, 1), (1, 1))], "ab\ncXd\n", id="insert"),
        pytest.param("ab\r\ncd\r\n", [Change("", (0, 2), (1, 0))], "abcd\r\n", id="join lines"),
        pytest.param("a\n", [Change("b\n", (7, 0), (9, 4))], "a\nb\n", id="past the end"),
        pytest.param("a\r\nb", [Change("!", (0, 99), (0, 99))], "a!\r\nb", id="past the end of a line"),
        pytest.param("é😋z", [Change("-", (0, 3), (0, 4))], "é😋-", id="utf-16"),
        pytest.param("a", [Change("b"), Change("c", (0, 1), (0, 1))], "bc", id="whole text, then a range"),
        pytest.param("a\x0cb\nc", [Change("!", (1, 1), (1, 1))], "a\x0cb\nc!", id="form feed"),
    ],
)
def test_changes(before, changes, after):
    assert apply_changes(before, changes, "utf-16") == after


def test_half_a_surrogate_pair_is_replaced():
    assert sound("a\ud83db") == "a\ufffdb"
    assert sound("a😋") == "a😋"


@given(line=st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), data=st.data())
def test_columns_round_trip(line, data):
    index = data.draw(st.integers(0, len(line)))
    column = len(line[:index].encode())
    for encoding in COLUMN_OF_Y:
        assert to_byte_column(line, from_byte_column(line, column, encoding), encoding) == column


@given(
    text=st.text(st.sampled_from("aé😋\r\n\x0c")),
    encoding=st.sampled_from(list(COLUMN_OF_Y)),
    insert=st.text(st.sampled_from("xé😋\n")),
    data=st.data(),
)
def test_an_edit_replaces_just_its_range(text, encoding, insert, data):
    """Where the edit's ends lie between whole characters, the text around it stays."""
    lines = split_lines(text)
    spots = []
    for _ in range(2):
        line = data.draw(st.integers(0, len(lines) - 1))
        index = data.draw(st.integers(0, len(lines[line])))
        spots.append((line, index))
    (l0, i0), (l1, i1) = sorted(spots)

    def position(line, index):
        return line, from_byte_column(lines[line], len(lines[line][:index].encode()), encoding)

    after = apply_changes(text, [Change(insert, position(l0, i0), position(l1, i1))], encoding)
    head, tail = "".join(lines[:l0]) + lines[l0][:i0], lines[l1][i1:] + "".join(lines[l1 + 1 :])
    ends = str.maketrans("", "", "\r\n")
    assert after.translate(ends) == (head + insert + tail).translate(ends)
