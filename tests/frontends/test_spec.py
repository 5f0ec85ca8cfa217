"""The notation of arguments: what is read, what it is written as, and where a fault is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tile_lsp.analysis.comments import read_comments, write_comment
from tile_lsp.frontends import dtypes
from tile_lsp.frontends.cutile.spec import (
    ArraySpec,
    ConstantSpec,
    Dim,
    DtypeSpec,
    ExpressionSpec,
    ListSpec,
    ScalarSpec,
    SpecFault,
    TupleSpec,
    parse,
)
from tile_lsp.model.location import Span


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("f16[4096,4096]", "f16[4096,4096]"),
        ("float16[ 4096 , 4096, ]", "f16[4096,4096]"),
        ("half[?,?:16]", "f16[?,?:16]"),
        ("f32[]", "f32[]"),
        ("f16[4096,4096]/strides=(4096,1)/align=16", "f16[4096,4096]"),
        ("f16[4096,4096]/strides=(1,4096)", "f16[4096,4096]/strides=(1,4096)"),
        ("f16[?,?]/strides=(?:8,1)/align=32/index=int64", "f16[?,?]/strides=(?:8,1)/align=32/index=i64"),
        ("f16[8]/strides=(2,)", "f16[8]/strides=(2,)"),
        ("list[float16[?,?]]", "list[f16[?,?]]"),
        ("(f32, i32)", "(f32,i32)"),
        ("(128,)", "(128,)"),
        ("()", "()"),
        ("(f16[?],(1,True))", "(f16[?],(1,True))"),
        ("int32", "i32"),
        ("bool", "bool"),
        ("f8e4m3", "f8e4m3fn"),
        ("float8_e8m0fnu", "f8e8m0fnu"),
        ("0x80", "128"),
        ("1_024", "1024"),
        ("-1", "-1"),
        ("1e-5", "1e-05"),
        ("-inf", "-inf"),
        ("nan", "nan"),
        ("True", "True"),
        ("None", "None"),
        ('"a b"', "'a b'"),
        ("dtype:bfloat16", "dtype:bf16"),
        ("=TILE", "=TILE"),
        ("=TILE*2", "=(TILE * 2)"),
        ("=(TILE * 2)", "=(TILE * 2)"),
        ("(=f(1,2),3)", "(=(f(1, 2)),3)"),
    ],
)
def test_canonical(written: str, canonical: str) -> None:
    assert str(parse(written)) == canonical
    assert str(parse(canonical)) == canonical


@pytest.mark.parametrize(
    ("text", "part", "message"),
    [
        ("f17[4]", "f17", "did you mean `f16`?"),
        ("q[4]", "q", "there are bool, i8"),
        ("f16[4,a]", "a", "is no dimension"),
        ("f16[4,-1]", "-1", "is no dimension"),
        ("f16[4,]]", "]", "left over"),
        ("f16[4", "4", "expected `]`"),
        ("f16[?:0]", "0", "at least 1"),
        ("f16[4]/align=12", "12", "power of two"),
        ("f16[4]/strides=(1,2)", "(1,2)", "2 strides for 1 dimensions"),
        ("f16[4]/shape=3", "shape", "expected `strides=(…)`"),
        ("f16[4]/align=16/align=16", "align", "given twice"),
        ("f16[4]/index=f32", "f32", "indexed with i32 or i64"),
        ("list[f32]", "f32", "a list holds arrays"),
        ("(f32)", ")", "ends in a comma"),
        ("dtype:float12", "float12", "is not a dtype"),
        ("12abc", "12abc", "neither a number nor a type"),
        ("=1+", "1+", "no Python expression"),
        ("=", "=", "an expression is missing"),
        ("'abc", "'abc", "never closed"),
        ("f16[99999999999999999999]", "99999999999999999999", "64 bits"),
        ("(((((((((1,),),),),),),),),)", "(", "nested more than"),
    ],
)
def test_faults(text: str, part: str, message: str) -> None:
    fault = parse(text)
    assert isinstance(fault, SpecFault)
    assert text[fault.start : fault.end] == part
    assert message in fault.message


_dtype = st.sampled_from(sorted(dtypes.DTYPES))
_dim = st.one_of(st.integers(0, 1 << 40).map(Dim), st.integers(1, 4096).map(lambda n: Dim(None, n)))
_array = st.builds(
    ArraySpec,
    _dtype,
    st.lists(_dim, max_size=5).map(tuple),
    st.none(),
    st.sampled_from([1, 4, 16, 128]),
    st.sampled_from([None, "i64"]),
)
_constant = st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.none()).map(
    lambda value: ConstantSpec(repr(value))
)
_leaf = st.one_of(
    _array,
    _array.map(ListSpec),
    _dtype.map(ScalarSpec),
    _dtype.map(DtypeSpec),
    _constant,
    st.sampled_from(["TILE", "TILE * 2", "f(1, 2)", "x['a b']"]).map(ExpressionSpec),
)
_spec = st.recursive(
    _leaf, lambda inner: st.lists(inner, max_size=3).map(lambda items: TupleSpec(tuple(items))), max_leaves=6
)


@given(_spec)
def test_text_stands_for_the_spec(spec: object) -> None:
    assert parse(str(spec)) == spec


@given(st.text())
def test_never_raises(text: str) -> None:
    parse(text)


@given(st.dictionaries(st.sampled_from(["A", "b", "größe", "tm"]), _spec, min_size=1))
def test_comment_round_trip(arguments: dict[str, object]) -> None:
    items = [(name, str(spec)) for name, spec in arguments.items()]
    text = write_comment(items)
    (comment,) = read_comments([(text, Span(1, 0, 1, len(text.encode("utf-8", "surrogatepass"))))])
    assert not comment.problems
    assert [(item.name, item.value) for item in comment.items] == items
