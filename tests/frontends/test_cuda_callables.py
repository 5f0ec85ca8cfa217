"""Which of a kernel's template parameters stand for functions."""

from __future__ import annotations

import pytest

from tests.analysis.cuda.fixtures import MAIN, workspace
from tile_lsp.analysis.cuda import find_kernels
from tile_lsp.frontends.cuda import Cuda
from tile_lsp.frontends.cuda.jobs import UNKNOWN
from tile_lsp.model.settings import decode

HELPERS = """
template <typename G> __device__ void apply(float *x, G g) { x[0] = g(x[1]); }
template <typename G> __device__ void twice(float *x, const G &fn) { apply<G>(x, fn); apply(x + 2, fn); }
template <typename G> __device__ void around(G first, G second) { around(second, first); }
template <typename T> __device__ void fill(float *x, T value) { x[0] = value; }
namespace ops { template <typename G> __device__ void forwarded(G &&g, float *x) { twice(x, std::forward<G>(g)); } }
"""
CASES = {
    "called": ("f(x[0])", UNKNOWN),
    "made and called": ("x[0] = F{}(x[1])", UNKNOWN),
    "passed on to what calls it": ("apply(x, f)", UNKNOWN),
    "passed on twice": ("twice(x, f)", UNKNOWN),
    "passed on with its type": ("apply<F>(x, f)", UNKNOWN),
    "in another namespace, forwarded": ("ops::forwarded(std::move(f), x)", UNKNOWN),
    "passed on in another call's arguments": ("fill(x, 1), apply(at(x, 2), f)", UNKNOWN),
    "passed on in a circle": ("around(f, f)", "float"),
    "passed on as a value": ("fill(x, f)", "float"),
    "passed on to what is nowhere": ("reduce(x, f)", "float"),
    "in place of another argument": ("apply(f, x)", "float"),
    "a method of another thing": ("x[0] = y.f(x[1])", "float"),
}


def specs_of(statement: str):
    made = workspace(f"{HELPERS}template <typename F> __global__ void k(float *x, F f) {{ {statement}; }}\n")
    (kernel,) = find_kernels(MAIN, made)
    (spec,), problems = Cuda().job_specs(kernel, made, (), decode({})[0])
    assert not problems
    return spec


@pytest.mark.parametrize(("statement", "expected"), CASES.values(), ids=CASES.keys())
def test_what_is_assumed(statement: str, expected: str) -> None:
    assert [argument.spec for argument in specs_of(statement).arguments] == [expected]


@pytest.mark.parametrize(
    ("statement", "expected"), [("cub::reduce(x, f)", UNKNOWN), ("fill(x, f)", UNKNOWN), ("x[0] = f", "int")]
)
def test_what_is_tried_next(statement: str, expected: str) -> None:
    assert specs_of(statement).alternatives[0][0].spec == expected
