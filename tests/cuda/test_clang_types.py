"""What clang says of device code: the cursor stands where `‸` does, and the innermost record is what is said there."""

from __future__ import annotations

import importlib.util
import os
import re
import textwrap

import pytest

from tests.support.records import type_records
from tile_lsp.worker.drivers.cuda import clang_library, clang_types, clang_unit

CURSOR = "‸"
DIRECTIVE = re.compile(r'#line (\d+) "(.*)"')


def headers() -> str:
    """The folder of NVIDIA's own headers, from a wheel."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for release in ("cu13", "cuda_runtime"):
            path = os.path.join(folder, release, "include")
            if os.path.exists(os.path.join(path, "cooperative_groups.h")):
                return path
    pytest.skip("NVIDIA's headers are not here: pip install nvidia-cuda-runtime")


@pytest.fixture(scope="module", autouse=True)
def clang() -> None:
    try:
        clang_unit.precompile()
    except clang_library.Unavailable as missing:
        pytest.skip(f"{missing}: pip install libclang")


def members(source: str) -> tuple[str, str, int, int]:
    """The text without its cursor, and member, line and column of that."""
    member, number = "", 1
    for line in source.split("\n"):
        if found := DIRECTIVE.fullmatch(line):
            member, number = found[2], int(found[1])
            continue
        if CURSOR in line:
            return source.replace(CURSOR, ""), member, number, len(line.partition(CURSOR)[0].encode())
        number += 1
    raise AssertionError(f"no {CURSOR} in the text")


def text_at(source: str, place: list) -> str:
    """What stands at a place."""
    lines: dict[tuple[str, int], bytes] = {}
    member, number = "", 1
    for line in source.split("\n"):
        if found := DIRECTIVE.fullmatch(line):
            member, number = found[2], int(found[1])
            continue
        lines[member, number] = line.encode()
        number += 1
    name, line, column, end_line, end_column = place
    if line == end_line:
        return lines[name, line][column:end_column].decode()
    return lines[name, line][column:].decode() + " …"


def said(record: dict, source: str) -> str:
    label = record.get("name") or text_at(source, record["chain"][0])
    text = f"{label}: {record['type']}"
    if "constant" in record:
        text += f" = {record['constant']}"
    return " · ".join([text, *(f"{name} {value}" for name, value in record.get("facts", ()))])


def unit(code: str) -> str:
    code = textwrap.dedent(code).strip("\n") + "\n"
    return code if code.startswith("#line") else f'#line 1 "k/k"\n{code}'


def at_cursor(code: str, name: str = "k", *options: str) -> list[str]:
    """What the innermost records say, each once."""
    source, member, line, column = members(unit(code))
    found = []
    for record in type_records(source, name, ["-arch=sm_90", *options]):
        inside, first, begin, last, end = record["chain"][0]
        if inside == member and (first, begin) <= (line, column) < (last, end):
            found.append(((last - first, end - begin), said(record, source)))
    smallest = min((size for size, _ in found), default=None)
    return list(dict.fromkeys(text for size, text in found if size == smallest))


def check(code: str, expected: str, name: str = "k", *options: str) -> None:
    assert at_cursor(code, name, *options) == [expected]


MADE = "make_float4(in[i], 0, 0, twice(scale)): float4 · calls float4 make_float4(float, float, float, float)"
SHUFFLE = "__shfl_down_sync: function float (unsigned int, float, unsigned int, int)"
PLAIN = """
typedef float real;
enum Mode { Fast, Slow = 3 };
struct Particle { float4 position; int id; };
__constant__ float weights[16];
__device__ int counter;
__device__ float twice(float x) { return 2 * x; }
__global__ void k(const float *__restrict__ in, Particle *out, real scale, double big, int n)
{
    __shared__ float tile[32][33];
    extern __shared__ int dynamic[];
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    constexpr int width = 4 * sizeof(float);
    auto v = make_float4(in[i], 0, 0, twice(scale));
    decltype(v.x) w = v.w;
    float &r = tile[threadIdx.y][threadIdx.x];
    auto *p = &out[i];
    p->position = v;
    for (int step = 0; step < width; ++step) {
        r += weights[step] * in[i + step];
    }
    atomicAdd(&counter, Slow);
    float sum = __shfl_down_sync(0xffffffff, r, 16);
    auto d = sum + big;
    out[i].position.y = d;
    auto square = [=](float a) { return a * a; };
    w = square(w) + tex2D<float>(0, 1.f, 2.f);
    if (n > dynamic[0] && __popc(n) == width) w = fmaxf(w, sqrt(sum));
}
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("k(const float *__restrict__ ", "‸in,", "in: const float *__restrict"),
        ("Particle *", "‸out,", "out: Particle *"),
        ("out, ", "‸real", "real: type float"),
        ("real ", "‸scale,", "scale: real · is float"),
        ("__shared__ float ", "‸tile[32]", "tile: __shared__ float[32][33] · size 4224 bytes · alignment 4 bytes"),
        ("__shared__ int ", "‸dynamic", "dynamic: __shared__ int[]"),
        ("const unsigned int ", "‸i =", "i: const unsigned int"),
        ("i = ", "‸blockIdx.x", "blockIdx: uint3"),
        ("i = blockIdx", "‸.x", "blockIdx.x: unsigned int"),
        ("blockIdx.x * ", "‸blockDim", "blockDim: dim3"),
        ("blockIdx.x ", "‸* blockDim.x +", "blockIdx.x * blockDim.x: unsigned int"),
        ("constexpr int ", "‸width", "width: const int = 16"),
        ("4 * ", "‸sizeof(float)", "sizeof(float): unsigned long = 4"),
        ("auto ", "‸v =", "v: float4 · size 16 bytes · alignment 16 bytes"),
        ("auto v = make_float4", "‸(in", MADE),
        ("make_float4(", "‸in[i]", "in: const float *__restrict"),
        ("make_float4(in", "‸[i]", "in[i]: const float"),
        ("0, 0, ", "‸twice(", "twice: function float (float)"),
        ("decltype(v.x) ", "‸w", "w: decltype(v.x) · is float"),
        ("decltype(v.x) w = v", "‸.w", "v.w: float"),
        ("float &", "‸r =", "r: float &"),
        ("r = tile", "‸[threadIdx.y]", "tile[threadIdx.y]: float[33] · memory shared"),
        ("auto *", "‸p", "p: Particle *"),
        ("p", "‸->position", "p->position: float4"),
        ("step < ", "‸width", "width: const int = 16"),
        ("        ", "‸r +=", "r: float &"),
        ("r += ", "‸weights", "weights: __constant__ float[16]"),
        ("r += weights", "‸[step]", "weights[step]: float · memory constant"),
        ("atomicAdd(&", "‸counter", "counter: __device__ int"),
        ("atomicAdd(&counter, ", "‸Slow", "Slow: Mode = 3"),
        ("float sum = ", "‸__shfl_down_sync", SHUFFLE),
        ("auto ", "‸d = sum", "d: double"),
        ("d = ", "‸sum + big", "sum: float · converted to double"),
        ("position.y = ", "‸d;", "d: double · converted to float"),
        ("auto ", "‸square", "square: lambda · size 1 bytes · alignment 1 bytes"),
        ("float ", "‸a) { return a", "a: float"),
        ("return a ", "‸* a;", "a * a: float"),
        ("w = square", "‸(w)", "square(w): float · calls float operator()(float) const"),
        ("square(w) + ", "‸tex2D", "tex2D: function float (cudaTextureObject_t, float, float)"),
        ("n > ", "‸dynamic[0]", "dynamic: __shared__ int[]"),
        ("n > dynamic[0] ", "‸&& ", "n > dynamic[0] && __popc(n) == width: bool"),
        ("w = fmaxf(w, ", "‸sqrt(sum)", "sqrt: function float (float)"),
        ("return 2 ", "‸* x", "2 * x: float"),
        ("struct Particle { float4 ", "‸position", "position: float4 · size 16 bytes · alignment 16 bytes"),
        ("enum Mode { ", "‸Fast", "Fast: Mode = 0"),
    ],
)  # fmt: skip
def test_every_name_and_expression(before: str, after: str, expected: str):
    plain = before + after.replace(CURSOR, "")
    assert PLAIN.count(plain) == 1
    check(PLAIN.replace(plain, before + after), expected)


# -- templates ---------------------------------------------------------------------------------------------------------

TEMPLATE = """
#line 1 "ops/Pair"
template <typename A, typename B = A>
struct Pair { A first; B second; __device__ A sum() const { return first + second; } };
#line 1 "ops/scaled"
template <typename T, int K> __device__ T scaled(T value) { const T by = K; return value * by; }
#line 1 "ops/scale"
template <typename T, int N, bool Exact = true>
__global__ void scale(T *x, Pair<T> bounds)
{
    __shared__ T tile[N];
    auto value = x[threadIdx.x];
    tile[threadIdx.x % N] = scaled<T, 2 * N>(value);
    if constexpr (Exact) x[0] = bounds.sum();
}
"""


@pytest.mark.parametrize(
    ("name", "before", "after", "expected"),
    [
        ("scale<float, 128>", "scale(", "‸T *x", "T: type float"),
        ("scale<float, 128>", "T *", "‸x, ", "x: float *"),
        ("scale<double, 128>", "T *", "‸x, ", "x: double *"),
        ("scale<float, 128>", "auto ", "‸value =", "value: float"),
        ("scale<float2, 128>", "auto ", "‸value =", "value: float2"),
        ("scale<float, 128>", "template <typename T, int ", "‸N,", "N: int = 128"),
        ("scale<float, 128>", "bool ", "‸Exact =", "Exact: bool = true"),
        ("scale<float, 128>", "tile[", "‸N];", "N: int = 128"),
        ("scale<float, 64>", "__shared__ T ", "‸tile", "tile: __shared__ float[64]"),
        ("scale<float, 64>", "scaled<T, 2 ", "‸* N>", "2 * N: int = 128"),
        ("scale<float, 64>", "const T ", "‸by =", "by: const float = 128.0"),
        ("scale<float, 64>", "return first ", "‸+ second", "first + second: float"),
        ("scale<int, 64>", "return value ", "‸* by", "value * by: int"),
        ("scale<int, 64>", "if constexpr (", "‸Exact)", "Exact: bool = true"),
    ],
)  # fmt: skip
def test_the_instantiation_that_is_named(name: str, before: str, after: str, expected: str):
    plain = before + after.replace(CURSOR, "")
    assert TEMPLATE.count(plain) == 1
    found = at_cursor(TEMPLATE.replace(plain, before + after), name)
    assert [text.partition(" · ")[0] for text in found] == [expected]


def test_an_instantiation_tells_the_calls_that_lead_to_it():
    source = unit(TEMPLATE)
    records = type_records(source, "scale<float, 16>", [])
    chains = {tuple(map(tuple, r["chain"][1:])) for r in records if r["chain"][0][0] == "ops/scaled"}
    assert [[text_at(source, list(site)) for site in chain] for chain in chains] == [["scaled<T, 2 * N>(value)"]]
    assert {len(r["chain"]) for r in records if r["chain"][0][0] == "ops/scale"} == {1}


def test_a_template_that_nothing_instantiates_has_the_types_that_do_not_depend_on_it():
    check("template <class T> __device__ T f(T *p, int n) { auto m = ‸n * 2; return p[m]; }", "n: int")
    check("template <class T> __device__ T f(T *p, int n) { auto m = n * 2; return ‸p[m]; }", "p: T *")


def test_specialisations_overloads_and_methods():
    code = """
    template <class T> __device__ T pick(T x) { return x; }
    template <> __device__ int pick<int>(int x) { auto half = x / 2; return half; }
    __device__ float over(float x) { return x; }
    __device__ double over(double x) { return x; }
    template <class T> struct Memory { __device__ operator T *() { extern __shared__ int raw[]; return (T *)raw; } };
    template <class T> __global__ void k(T x) {
        T *shared = Memory<T>();
        shared[0] = pick(x) + over(x);
    }
    """
    for name, plain, marked, expected in (
        ("k<int>", "half = x", "‸half = x", "half: int"),
        ("k<double>", "over(x);", "‸over(x);", "over: function double (double)"),
        ("k<double>", "raw; }", "‸raw; }", "raw: __shared__ int[]"),
        ("k<double>", "shared[0] =", "shared‸[0] =", "shared[0]: double"),
    ):
        check(code.replace(plain, marked), expected, name)


def test_what_the_kernel_does_not_reach_is_left_out_of_sound_code():
    code = """
    __device__ int far(int x) { auto twice = 2 * x; return twice; }
    __device__ int near(int x) { auto half = x / 2; return half; }
    __global__ void k(int *x) { x[0] = near(x[1]); }
    """
    check(code.replace("half =", "‸half ="), "half: int")
    assert at_cursor(code.replace("twice =", "‸twice =")) == []
    check(code.replace("twice =", "‸twice =").replace("x[1]);", "x[1]) +;"), "twice: int")


# -- code that does not compile ----------------------------------------------------------------------------------------

BROKEN = """
#include <curand_kernel.h>
template <class T> __global__ void k(T *p, int n, curandState *states)
{
    curandState state = states[n];
    T x = p[threadIdx.x] * MISSING;
    float r = curand_uniform(&state) + x;
    p[n].nonsense = r;
    if (n < LIMIT) p[1] = x
}
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("k(T *", "‸p, int", "p: float *"),
        ("curandState *", "‸states)", "states: curandState *"),
        ("    curandState ", "‸state =", "state: curandState"),
        ("T ", "‸x = p", "x: float"),
        ("T x = ", "‸p[threadIdx.x] * MISSING", "p: float *"),
        ("curand_uniform(&state) + ", "‸x;", "x: float"),
        ("p[", "‸n].nonsense", "n: int"),
        ("if (", "‸n < LIMIT", "n: int"),
        ("LIMIT) p[1] = ", "‸x\n", "x: float"),
    ],
)
def test_what_is_sound_in_broken_code_has_types(before: str, after: str, expected: str):
    plain = before + after.replace(CURSOR, "")
    assert BROKEN.count(plain) == 1
    check(BROKEN.replace(plain, before + after), expected, "k<float>")


def test_nothing_is_said_of_what_is_unknown():
    code = "__global__ void k(float *p) { auto a = missing(p); unknown b = ‸a; auto c = gone; p[0] = c; }"
    assert at_cursor(code) == []
    source = unit(code.replace(CURSOR, ""))
    assert {said(r, source) for r in type_records(source, "k", [])} == {
        "p: float *",
        "p[0]: float",
        "b: unknown",
        "unknown: type unknown",
    }


@pytest.mark.parametrize(
    "code",
    [
        "",
        "__global__ void k(",
        "__global__ void k(float *x) { x[0] = ",
        "template <class T, __global__ void k(T *x) { x[0] = 1; }",
        "template <class... T> __global__ void k(T... x) { ((void)x, ...); }",
        "#include <missing/header.h>\n#error no\n__global__ void k(float *x) { x[0] = 1; }",
        "struct A { A a; }; __global__ void k(A a) { a.a = a; }",
        "#define F(x) x +\n__global__ void k(int *x) { x[0] = F(1) F(x[1]) 2; }",
        "__global__ void k(int *x) { x[0] = 1 }}}}\x00\xff",
        "__global__ void k(int *x) { x[0] = " + "(" * 400 + "1" + ")" * 400 + "; }",
        "__global__ void k(int *x) { x[0] = x[1]" + " + x[2]" * 2000 + "; }",
    ],
)
def test_no_text_is_too_broken(code: str):
    for name in ("k", "k<float>", "k<", "no::such<thing>"):
        clang_types.read(unit(code), name, ["-arch=sm_80"])


# -- macros, launches, doubles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x[0] = ‸WIDTH * n;", "WIDTH: int = 32"),
        ("x[0] = AT(‸n, WIDTH);", "n: int"),
        ("x[0] = AT(n, ‸WIDTH);", "WIDTH: int = 32"),
        ("x[0] = ‸AT(n, WIDTH);", "AT(n, WIDTH): int"),
        ("x[0] = AT(‸AT(n, 2), 1);", "AT(n, 2): int"),
        ("x[0] = ‸INFINITY;", "INFINITY: float = inf"),
        ("assert(‸n > 0);", "n: int"),
    ],
)
def test_macros(code: str, expected: str):
    head = "#define WIDTH 32\n#define AT(row, column) ((row) * WIDTH + (column))\n"
    found = at_cursor(f"{head}__global__ void k(float *x, int n) {{ {code} }}")
    assert [text.partition(" · ")[0] for text in found] == [expected]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("__shared__ Barrier ‸b;", "b: __shared__ Barrier"),
        ("__shared__ alignas(alignof(float4)) float ‸s[16];", "s: __shared__ float[16]"),
        ("__shared__ float *‸p; static __shared__ int n;", "p: __shared__ float *"),
        ("volatile __shared__ int ‸flag;", "flag: __shared__ volatile int"),
        ("__shared__ ‸Box<int> b;", "Box: type Box<int>"),
        ("typedef Box<float> Boxes; ‸Boxes b;", "Boxes: type Box<float>"),
    ],
)
def test_shared_memory_and_names_of_types(code: str, expected: str):
    head = "struct Barrier { int n; __device__ Barrier() : n(1) {} }; template <class T> struct Box { T x; };\n"
    found = at_cursor(f"{head}__global__ void k() {{ {code} }}")
    assert [text.partition(" · ")[0] for text in found] == [expected]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("auto [‸first, second] = pair; x[0] = first + second;", "first: float"),
        ("auto [first, second] = pair; x[0] = first + ‸second;", "second: int · converted to float"),
        ("for (auto ‸v : {1.f, 2.f}) x[0] += v;", "v: float"),
        ("for (auto v : table) x[0] += ‸v;", "v: int · converted to float"),
        ("x[0] = total(1, ‸2.5f);", None),
        ("dim3 ‸d(1, 2);", "d: dim3 · size 12 bytes · alignment 4 bytes"),
        ("dim3 d‸(1, 2);", "d(1, 2): dim3 · calls dim3(unsigned int, unsigned int, unsigned int)"),
        ("each([=] __device__(int ‸i) { x[i] = i; });", "i: int"),
        ("int Pair::*member = &Pair::n; x[0] = pair.*‸member;", "member: int Pair::*"),
        ("if (auto z = n * 2; ‸z > 3) x[5] = z;", "z: int"),
        ("int *mem = ‸new int[4]; delete[] mem;", "new int[4]: int *"),
        ("void (*fn)(int *) = nullptr; ‸fn(&n);", "fn: void (*)(int *)"),
        ("float4 *p = ‸reinterpret_cast<float4 *>(x);", "reinterpret_cast<float4 *>(x): float4 *"),
        ("x[0] = n > 2 ‸? pair.x : 1;", "n > 2 ? pair.x : 1: float"),
        ('asm volatile("mov.u32 %0, %1;" : "=r"(n) : "r"(‸n));', "n: int"),
    ],
)
def test_constructs(code: str, expected: str | None):
    head = """
    struct Pair { float x; int n; };
    __device__ int table[3];
    template <class... T> __device__ auto total(T... xs) { return (xs + ...); }
    template <class F> __device__ void each(F f) { for (int i = 0; i < 4; ++i) f(i); }
    """
    found = at_cursor(f"{textwrap.dedent(head)}__global__ void k(const Pair pair, float *x, int n) {{ {code} }}")
    assert (found == [expected]) if expected else not [text for text in found if text.startswith("2.5f")]


def test_a_pack_has_a_type_for_each_of_its_values():
    code = """
    template <class... T> __device__ auto total(T... xs) { return (xs + ...); }
    __global__ void k(double *x, int n) { x[0] = total(n, 2.f, *x); }
    """
    found = at_cursor(code.replace("(xs + ", "(‸xs + "))
    assert found == ["xs: int · converted to double", "xs: float · converted to double", "xs: double"]


_WORDS = "__shared__ alignof auto bool char const constexpr decltype else extern float for if int real return sizeof T "
_NO_VALUE = frozenset((_WORDS + "unsigned void double").split())


@pytest.mark.parametrize(("code", "name"), [(PLAIN, "k"), (TEMPLATE, "scale<float, 128>")])
def test_each_identifier_in_a_kernel_has_a_type(code: str, name: str):
    source = unit(code)
    records = type_records(source, name, [])
    ranges = {tuple(record["chain"][0]) for record in records}
    start = source.index("__global__")
    untyped = []
    for word in re.finditer(r"(?<!\w)(?<!\d\.)[A-Za-z_]\w*", source[source.index("{", start) :]):
        begin = source.index("{", start) + word.start()
        _, member, line, column = members(source[:begin] + CURSOR + source[begin:])
        end = column + len(word[0])
        if source[begin + len(word[0])] == "<":
            end += source[begin:].index(">") + 1 - len(word[0])
        covered = any(r[:2] == (member, line) and r[2] <= column and r[3:] == (line, end) for r in ranges)
        if word[0] not in _NO_VALUE and not covered:
            untyped.append((line, word[0]))
    assert untyped == []


def test_launches_from_device_code():
    code = """
    __global__ void child(float *p, int n) { p[n] = 1; }
    __global__ void k(float *p, int n) {
        auto half = n / 2;
        if (n > 2) child<<<gridDim.x, ‸half>>>(p, n);
    }
    """
    check(code, "half: int")
    check(code.replace(CURSOR, "").replace("(p, n);", "(‸p, n);"), "p: float *")
    check(code.replace(CURSOR, "").replace("child<<<", "‸child<<<"), "child: function void (float *, int)")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("y = x * 2.0;", ("x * 2.0", "computed in double: `2.0` is a double; `2.0f` stays in float")),
        ("y = x + d;", ("x + d", "computed in double: `d` is a double")),
        ("y *= 0.5;", ("y *= 0.5", "computed in double: `0.5` is a double; `0.5f` stays in float")),
        ("y = pow(x, 2.0);", ("pow(x, 2.0)", "computed in double: `2.0` is a double; `2.0f` stays in float")),
        ("y = x * 2.0 + x;", ("x * 2.0", "computed in double: `2.0` is a double; `2.0f` stays in float")),
        ("y = x * 2.0f;", None),
        ("y = x * 2;", None),
        ("y = 2.0;", None),
        ("d = x;", None),
        ("y = sqrtf(x) * powf(x, 2);", None),
    ],
)
def test_doubles_that_were_not_meant(code: str, expected: tuple[str, str] | None):
    source = unit(f"__global__ void k(float x, float y, double d) {{ {code} }}")
    found = clang_types.read(source, "k", []).remarks
    assert [(text_at(source, r["chain"][0]), r["message"]) for r in found] == ([expected] if expected else [])
    assert {(r["severity"], r["code"]) for r in found} <= {("hint", "double")}


TILE = "t: cooperative_groups::thread_block_tile<32, cooperative_groups::thread_block> ·"


def test_a_remark_quotes_on_one_line_what_stands_on_many():
    code = "__global__ void k ( float x , double * d , int i ) { x = x * ( d [ i + 1 ] - d [ 0 ] ) ; }"
    found = clang_types.read(unit(code.replace(" ", "\n")), "k", []).remarks
    assert [r["message"] for r in found] == ["computed in double: `(d[i + 1] - d[0])` is a double"]
    found = clang_types.read(unit(code.replace(" ", "\n").replace("*\n(\n", "*\n-\n2.\n*\n(\n")), "k", []).remarks
    assert [r["message"] for r in found] == ["computed in double: `-2.` is a double; `-2.f` stays in float"]


# -- headers and options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("include", "code", "expected"),
    [
        ("cuda_fp16.h", "__half2 v = ‸__floats2half2_rn(x, x);", "function __half2 (const float, const float)"),
        ("cuda_fp16.h", "half h = x; x = ‸h * h;", "h: half · is __half"),
        ("cuda_bf16.h", "auto ‸b = __float2bfloat16(x);", "__nv_bfloat16"),
        ("cooperative_groups.h", "auto ‸g = cg::this_thread_block();", "g: cooperative_groups::thread_block ·"),
        ("cooperative_groups.h", "auto ‸t = cg::tiled_partition<32>(cg::this_thread_block());", TILE),
        ("mma.h", "wmma::fragment<wmma::accumulator, 16, 16, 16, float> f; x = ‸f.num_elements;", "fragment<"),
        ("cuda_pipeline.h", "‸__pipeline_commit();", "function void ()"),
        ("math_constants.h", "x = ‸CUDART_INF_F;", "float"),
        ("stdint.h", "uint64_t ‸n = 0;", "uint64_t · is unsigned long long"),
        ("helper_cuda.h", "x = ‸rsqrtf(x);", "function float (float)"),
    ],
)  # fmt: skip
def test_headers(include: str, code: str, expected: str):
    names = (
        "namespace cooperative_groups {} namespace cg = cooperative_groups; namespace nvcuda {} using namespace nvcuda;"
    )
    found = at_cursor(f"#include <{include}>\n{names}\n__global__ void k(float x) {{ {code} }}", "k", f"-I{headers()}")
    assert len(found) == 1
    assert expected in found[0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "int"),
        (["-DREAL=double"], "double"),
        (["-D", "REAL=float"], "float"),
        (["--define-macro=REAL=long"], "long"),
        (["-DREAL=double", "-UREAL"], "int"),
        (["-arch=sm_120"], "long long"),
        (["--gpu-architecture=compute_100a"], "short"),
        (["-std=c++20"], "char"),
    ],
)
def test_options(options: list[str], expected: str):
    code = """
    #if __CUDA_ARCH__ == 1200
    #define REAL long long
    #elif defined(__CUDA_ARCH_FEAT_SM100_ALL)
    #define REAL short
    #elif __cplusplus > 201703L
    #define REAL char
    #elif !defined(REAL)
    #define REAL int
    #endif
    __global__ void k() { REAL ‸x; }
    """
    source, member, line, column = members(unit(code))
    records = type_records(source, "k", options)
    assert [r["type"] for r in records if r["chain"][0][:3] == [member, line, column]] == [expected]


def test_functions_without_qualifiers_where_they_are_device_functions():
    code = "void f(float x) { auto ‸y = x; }"
    assert at_cursor(code) == []
    check(code, "y: float", "k", "--device-as-default-execution-space")


def test_host_functions_are_left_out():
    assert at_cursor("void f(float x) { auto ‸y = x; }\n__global__ void k() {}") == []


def test_places_are_those_of_members_and_nothing_else_is_in_a_record(tmp_path):
    (tmp_path / "own.h").write_text("#pragma once\n__device__ inline float own(float x) { return x + 1; }\n")
    source = '#include "own.h"\n#line 1 "a/helper"\n__device__ auto helper = [] (float é) { return own(é); };\n'
    source += '#line 1 "b/k"\n__global__ void k(float *x)\n{\n    x[0] = helper(x[0]);\n}\n'
    records = type_records(source, "k", [f"-I{tmp_path}"])
    assert {r["chain"][0][0] for r in records} == {"a/helper", "b/k"}
    assert not [r for r in records if str(tmp_path) in repr(r) or "tile-lsp" in repr(r) or "unit.cu" in repr(r)]
    assert "own(é): float · calls float own(float)" in {said(r, source) for r in records}


# -- the library -------------------------------------------------------------------------------------------------------


def test_the_builtins_are_sound_in_every_standard():
    clang = clang_library.library()
    for standard in ("11", "14", "17", "20", "23"):
        options = clang_unit.options_of([f"-std=c++{standard}"], (13, 4))
        with clang_unit.parsed(options.preamble.encode(), options) as parsed:
            assert parsed is not None
            assert [message for message, _ in clang.problems(parsed.handle)] == []


def test_precompiled_builtins_change_nothing_and_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(clang_unit, "_precompiled", {})
    source = unit(PLAIN)
    before = clang_types.read(source, "k", [])
    clang_unit.precompile()
    assert list(clang_unit._precompiled) == ["17"]
    assert clang_types.read(source, "k", []) == before
    assert list(tmp_path.iterdir()) == []
    for number in clang_unit._precompiled.values():
        os.close(number)


def test_nothing_is_kept_of_what_was_read():
    def pages() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5])

    source = unit(PLAIN)
    for _ in range(5):
        clang_types.read(source, "k", [])
    before, threads = pages(), len(os.listdir("/proc/self/task"))
    for _ in range(20):
        clang_types.read(source, "k", [])
    assert (pages() - before) * 4096 < 4 << 20
    assert len(os.listdir("/proc/self/task")) == threads


def test_without_a_library_it_is_said_where(monkeypatch):
    real = next(clang_library.candidates())
    monkeypatch.setattr(clang_library, "candidates", lambda: iter(["/nowhere/libclang.so"]))
    clang_library.library.cache_clear()
    try:
        with pytest.raises(clang_library.Unavailable, match=r"/nowhere/libclang\.so can't be used"):
            clang_types.read(unit(PLAIN), "k", [])
        monkeypatch.setattr(clang_library, "candidates", lambda: iter([real]))
        monkeypatch.setattr(clang_library, "_FLOOR", 1000)
        with pytest.raises(clang_library.Unavailable, match=r"is too old: clang version .* and 1000 is needed"):
            clang_types.read(unit(PLAIN), "k", [])
        monkeypatch.setattr(clang_library, "candidates", lambda: iter([]))
        with pytest.raises(clang_library.Unavailable, match="libclang is not installed in "):
            clang_types.read(unit(PLAIN), "k", [])
    finally:
        clang_library.library.cache_clear()
