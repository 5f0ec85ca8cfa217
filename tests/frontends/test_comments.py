"""Job comments as words with exact spans, whatever the front end makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tile_lsp.analysis.comments import JobComment, read_comments
from tile_lsp.model.location import Span


def comments_of(text: str) -> tuple[JobComment, ...]:
    lines = text.split("\n")
    return read_comments(
        (stripped, Span(number, len(line.encode()) - len(stripped.encode()), number, len(line.encode())))
        for number, line in enumerate(lines, 1)
        if (stripped := line.lstrip()).startswith(("#", "//"))
    )


def part(text: str, span: Span) -> str:
    """The text that a span of one line covers."""
    line = text.split("\n")[span.line - 1].encode()
    return line[span.column : span.end_column].decode()


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("# tile-lsp: A=f16[4,4] tm=128", {"A": "f16[4,4]", "tm": "128"}),
        ("#tile-lsp:tm=1", {"tm": "1"}),
        ("    #  tile-lsp :  tm=1", {"tm": "1"}),
        ("// tile-lsp: n=3", {"n": "3"}),
        (
            "# tile-lsp: A=f16[4, 4] t=(1, 2) s='a b' d=\"#\"",
            {"A": "f16[4, 4]", "t": "(1, 2)", "s": "'a b'", "d": '"#"'},
        ),
        ("# tile-lsp: tm=1 # tn=2", {"tm": "1"}),
        ("# tile-lsp: x==TILE*2", {"x": "=TILE*2"}),
        ("# tile-lsp: @target=sm_90", {"@target": "sm_90"}),
        ("# tile-lsp: größe=1 名=2 é=(3)", {"größe": "1", "名": "2", "é": "(3)"}),
        ("# tile-lsp: a=1 \\\n#   b=2 \\\n# tile-lsp: c=3", {"a": "1", "b": "2", "c": "3"}),
    ],
)
def test_items(text: str, items: dict[str, str]) -> None:
    (comment,) = comments_of(text)
    assert not comment.problems
    assert {item.name: item.value for item in comment.items} == items
    for item in comment.items:
        assert part(text, item.name_span) == item.name
        assert part(text, item.value_span) == item.value


def test_each_comment_is_a_job_and_others_are_passed_over() -> None:
    found = comments_of("# tile-lsp: a=1\n# about the kernel\n# tile-lsp: a=2\n# see tile-lsp: the manual")
    assert [comment.items[0].value for comment in found] == ["1", "2"]
    assert [comment.span.line for comment in found] == [1, 3]


def test_continued_comment_spans_its_lines() -> None:
    (comment,) = comments_of("# tile-lsp: a=1 \\\n#  b=2")
    assert comment.span == Span(1, 0, 2, 6)


@pytest.mark.parametrize(
    ("text", "word", "message"),
    [
        ("# tile-lsp: sm_90", "sm_90", "expected NAME=VALUE"),
        ("# tile-lsp: tm= 128", "tm=", "a value is missing"),
        ("# tile-lsp: a=1 =3", "=3", "a name is missing"),
        ("# tile-lsp: 3m=1", "3m", "is not a name"),
        ("# tile-lsp: A=f16[4,4 tm=1", "[", "is never closed"),
        ("# tile-lsp: é='x tm=1", "'x", "is never closed"),
        ("# tile-lsp: A=f16)4] tm=1", ")", "closes nothing"),
        ("# tile-lsp: tm=1 \\", "\\", "no comment line follows"),
        ("# tile-lsp:", "# tile-lsp:", "names arguments, a target or hints"),
        ("# tile-lsp tm=1", "tile-lsp", "starts with `tile-lsp:`"),
        ("# tile_lsp: tm=1", "tile_lsp", "starts with `tile-lsp:`"),
    ],
)
def test_problems(text: str, word: str, message: str) -> None:
    (comment,) = comments_of(text)
    problem = comment.problems[0]
    assert part(text, problem.span) == word
    assert message in problem.message


def test_the_rest_of_a_broken_comment_is_read() -> None:
    (comment,) = comments_of("# tile-lsp: A=f16[4,4 tm=1 what tn=2")
    assert [item.name for item in comment.items] == ["tm", "tn"]
    assert len(comment.problems) == 2


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), max_size=3))
def test_never_raises(texts: list[str]) -> None:
    for comment in read_comments((f"# tile-lsp:{t}", Span(n, 0, n, 9)) for n, t in enumerate(texts, 1)):
        assert comment.items or comment.problems
