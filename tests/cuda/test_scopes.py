"""The functions and classes that types belong to, by the names that a C++ reader would write."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest
from inline_snapshot import snapshot

from tests.cuda.conftest import Cuda, missing
from tests.cuda.test_clang_types import unit
from tests.support.records import type_records
from tile_lsp.worker.drivers.cuda import clang_library


def scopes(code: str, name: str = "k") -> dict[str, str | None]:
    """Scope by the name of what is declared there."""
    try:
        records = type_records(unit(code), name, ["-arch=sm_90"])
    except clang_library.Unavailable as lack:
        pytest.skip(f"{lack}: pip install libclang")
    return {record["name"]: record.get("scope") for record in records if record["kind"] in ("store", "declared")}


CODE = """
template <typename T> __device__ T twice(T v) { auto w = v + v; return w; }
template <> __device__ int twice<int>(int v) { auto integral = v + v; return integral; }
__device__ float over(float a) { auto single = a; return single; }
__device__ double over(double a) { auto wide = a; return wide; }
struct Acc {
    float held;
    __device__ Acc() : held(0) { auto made = 1.f; held = made; }
    __device__ void add(float x) { auto added = x; held += added; }
    __device__ float get() { auto mine = held; return mine; }
    __device__ float get() const { auto constant = held; return constant; }
    __device__ Acc &operator+=(float x) { auto more = x; held += more; return *this; }
    __device__ operator float() const { auto turned = held; return turned; }
};
namespace ops {
enum Mode { Fast, Slow };
inline namespace v2 {
template <typename T, int N> struct Box {
    T boxed[N];
    __device__ T get() const;
    template <typename U> __device__ U as() const { auto cast = U(boxed[0]); return cast; }
};
template <typename T, int N> __device__ T Box<T, N>::get() const { auto got = boxed[0]; return got; }
}
template <typename T> struct Box<T, 1> {
    T alone;
    __device__ T get() const { auto only = alone; return only; }
};
template <typename... A> __device__ auto sum(A... a) { auto all = (a + ...); return all; }
template <Mode M, float (*F)(float)> __device__ float by(float x) { auto mode = F(x); return mode; }
}
extern "C" __device__ int plain(int x) { auto simple = x; return simple; }
namespace { __device__ int hidden(int x) { auto kept = x; return kept; } }
__global__ void k(float *o, double *d, int n)
{
    auto own = twice(o[1]) + twice(n) + over(o[1]) + over(d[0]);
    Acc acc; const Acc &fixed = acc;
    acc.add(own); acc += own;
    ops::Box<float, 4> box; ops::Box<int, 1> one;
    struct Local { __device__ int of() { auto local = 2; return local; } };
    auto generic = [](auto q) { auto inside = q; return inside; };
    auto lambda = [=](float q) { auto caught = q; return caught; };
    own += acc.get() + fixed.get() + fixed + box.get() + box.as<int>() + one.get() + Local().of() + generic(n);
    own += ops::sum(1, 2.f, 3u) + ops::by<ops::Slow, over>(own) + lambda(own) + plain(n) + hidden(n);
}
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("w", "twice<float>"),
        ("integral", "twice<int>"),
        ("single", "over(float)"),
        ("wide", "over(double)"),
        ("held", "Acc"),
        ("made", "Acc::Acc"),
        ("added", "Acc::add"),
        ("mine", "Acc::get()"),
        ("constant", "Acc::get() const"),
        ("more", "Acc::operator+="),
        ("turned", "Acc::operator float"),
        ("Slow", "ops::Mode"),
        ("boxed", "ops::Box<T, N>"),
        ("got", "ops::Box<float, 4>::get"),
        ("cast", "ops::Box<float, 4>::as<int>"),
        ("alone", "ops::Box<T, 1>"),
        ("only", "ops::Box<int, 1>::get"),
        ("all", "ops::sum<int, float, unsigned int>"),
        ("mode", "ops::by<ops::Slow, &over>"),
        ("simple", "plain"),
        ("kept", "hidden"),
        ("own", None),
        ("local", None),
        ("inside", "lambda<int>"),
        ("caught", None),
    ],
)
def test_names(name: str, expected: str | None):
    assert scopes(CODE)[name] == expected


BROKEN = """
namespace ops { template <typename T> __device__ T twice(T v) { auto w = v + missing; auto u = v; return u; } }
template <typename T> struct Box { __device__ T never() { auto bare = 2; return bare; } };
template <typename T> __global__ void k(T *o) { auto own = ops::twice(o[0]); o[0] = own; }
"""


def test_names_in_broken_code():
    found = scopes(BROKEN, "k<float>")
    assert {name: found.get(name) for name in ("u", "bare", "own")} == snapshot(
        {"u": "ops::twice", "bare": None, "own": None}
    )


LISTED = """\
template <typename T> __device__ T twice(T v) { return v + v; }
struct Acc {
    float s;
    __device__ void add(float x) { s += x; }
    __device__ void sub(float y) { s -= y; }
};
__constant__ float bias;
__global__ void k(float *o, double *d) {
    Acc a;
    a.add(twice(o[1]) + twice(d[0])), a.sub(bias);
    o[0] = a.s;
}
"""


def test_a_listing_has_a_heading_for_each(tmp_path: pathlib.Path):
    if (lack := missing()) is not None:
        pytest.skip(lack)
    (tmp_path / "k.cu").write_text(LISTED)
    command = [sys.executable, "-m", "tile_lsp", "show", "types", "k.cu", "--python", sys.executable]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert re.sub(" +\n", "\n", ran.stdout) == snapshot("""\
k · k.cu
  8:26  o → float *
  8:37  d → double *
  9:9   a → Acc

Acc · k.cu
  3:11  s → float

Acc::add · k.cu
  4:31  x → float

Acc::sub · k.cu
  5:31  y → float

bias · k.cu
  7:20  bias → __constant__ float

twice<float> · called at 10:11
  1:20  T → type float
  1:44  v → float

twice<double> · called at 10:25
  1:20  T → type double
  1:44  v → double
""")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_hover_says_which_instantiation_a_type_belongs_to(cuda: Cuda):
    code = """\
    template <typename T> __device__ T twice(T v) { T ‸w = v + v; return w; }
    __global__ void k(float *o, double *d) { o[0] = twice(o[1]) + twice(d[0]); }
    """
    assert await cuda.hover(code) == snapshot("""\
w: float

as twice<float> in k, called at case.cu:2

w: double

as twice<double> in k, called at case.cu:2

k for sm_90\
""")


@pytest.mark.asyncio(loop_scope="module")
async def test_instantiations_that_one_call_reaches_are_told_apart(cuda: Cuda):
    code = """\
    template <typename T> __device__ T one(T v) { T ‸w = v + v; return w; }
    template <typename... A> __device__ double all(A... a) { return (one(a) + ...); }
    __global__ void k(float *o, double *d) { o[0] = all(o[1], d[0]); }
    """
    assert await cuda.hover(code) == snapshot("""\
w: float

as one<float> in k, called at case.cu:2 ← case.cu:3

w: double

as one<double> in k, called at case.cu:2 ← case.cu:3

k for sm_90\
""")
