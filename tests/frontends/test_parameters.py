"""Which parameters of the compiled kernel an argument becomes, so that listings name them."""

from __future__ import annotations

import pytest

from tile_lsp.frontends.cutile import CuTile
from tile_lsp.model.job import Argument


def layout(types: dict[str, str] | None = None, **specs: str) -> list[tuple[str, int, int]]:
    arguments = [Argument(name, spec) for name, spec in specs.items()]
    return [(one.name, one.offset, one.size) for one in CuTile().parameters(arguments, types or {})]


def test_an_array_is_its_address_lengths_and_strides():
    assert layout(a="f16[?,?]", tile="64", eps="f32", b="i32[16]") == [
        ("a", 0, 8),
        ("a.shape[0]", 8, 4),
        ("a.shape[1]", 12, 4),
        ("a.strides[0]", 16, 4),
        ("a.strides[1]", 20, 4),
        ("eps", 24, 4),
        ("b", 32, 8),
        ("b.shape[0]", 40, 4),
        ("b.strides[0]", 44, 4),
    ]


@pytest.mark.parametrize(
    ("spec", "type_"), [("f32[?]/index=i64", ""), ("f32[?]", "Array[float32,(?):(1),index_dtype=int64]")]
)
def test_wide_indices(spec: str, type_: str):
    assert layout({"a": type_}, a=spec) == [("a", 0, 8), ("a.shape[0]", 8, 8), ("a.strides[0]", 16, 8)]


@pytest.mark.parametrize("spec", ["list[f32[?]]", "(f32,f32)", "no such thing"])
def test_what_has_no_names_is_left_alone(spec: str):
    assert layout(a="f32[?]", b=spec) == []
