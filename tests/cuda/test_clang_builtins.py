"""The declarations that stand for what NVRTC knows without an include, held against NVRTC itself."""

from __future__ import annotations

import re

import pytest

from tests.support.records import type_records
from tile_lsp.worker.drivers.cuda import clang_library, clang_unit

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="pip install '.[cuda]'")

#: Of host code, of the toolkit's other compiler, or of other architectures than the one that is asked about.
ELSEWHERE = re.compile(
    "__assert_fail|memmove|memcmp|str(len|cpy|cmp)|alloca|make_u?long4_(16|32)a|__f(add|mul|fma)2_r[nzud]"
    "|__shfl(_up|_down|_xor)?|__globaltimer|__nvvm_get_smem_pointer|f?flush|s?n?f?printf|exit|calloc|s?rand|ato[if]"
    "|cuda.*|__cudaPush.*|operator.*"
)
NUMBERS = ("int", "unsigned int", "long long", "unsigned long", "float", "double", "short", "char", "bool")
ONE = ("sqrt", "exp", "fabs", "floor", "round", "rsqrt", "abs", "isnan", "isfinite", "signbit", "ilogb", "llrint")
TWO = ("pow", "fmod", "atan2", "fmax", "hypot", "fdim", "min", "max", "remainder")


@pytest.fixture(scope="module")
def clang() -> clang_library.Library:
    try:
        return clang_library.library()
    except clang_library.Unavailable as missing:
        pytest.skip(f"{missing}: pip install libclang")


def functions(clang: clang_library.Library, text: str) -> list[tuple[str, str, str]]:
    """Name, type and type of the result of each function in the text, by itself or in `extern "C"`."""
    found = []
    options = clang_unit.options_of([], (13, 4))

    def visitor(cursor: clang_library.Cursor, parent: clang_library.Cursor) -> int:
        if cursor.kind == 8:
            result = clang.getCanonicalType(clang.getCursorResultType(cursor))
            types = [clang.text(clang.getTypeSpelling(ty)) for ty in (clang.getCursorType(cursor), result)]
            found.append((clang.text(clang.getCursorSpelling(cursor)), *types))
        return clang_library.RECURSE if cursor.kind == 23 else 1

    with clang_unit.parsed(text.encode(), options) as unit:
        assert unit is not None
        clang.visit(clang.getTranslationUnitCursor(unit.handle), visitor)
    return found


def errors(text: str) -> dict[int, str]:
    """What NVRTC has against a text, by line."""
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"x.cu", 0, [], [])
    options = [b"-arch=sm_90", b"--fdevice-syntax-only"]
    nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytes(max(size, 2))  # it is written into, and Python shares those of one byte
    nvrtc.nvrtcGetProgramLog(program, log)
    found: dict[int, str] = {}
    for line, message in re.findall(r"x\.cu\((\d+)\): error: (.*)", log.decode().rstrip("\0")):
        found.setdefault(int(line), message)
    return found


def test_each_declaration_is_one_of_nvrtc(clang: clang_library.Library):
    declared = [
        (name, ty)
        for name, ty, _ in functions(clang, clang_unit.builtins().decode())
        if not ELSEWHERE.fullmatch(name) and "..." not in ty
    ]
    assert len(declared) > 1000
    for batch in _batches(declared, 90):
        lines = []
        for number, (name, ty) in enumerate(batch):
            result, bracket, parameters = ty.partition("(")
            lines.append(f"__device__ void f{number}() {{ {result}(*p){bracket}{parameters} = &::{name}; }}")
        wrong = errors("#pragma nv_diag_suppress 177\n" + "\n".join(lines))
        assert {lines[line - 2]: message for line, message in wrong.items()} == {}


def test_each_call_has_the_type_that_nvrtc_gives_it(clang: clang_library.Library):
    calls = [f"{name}(v{a})" for name in ONE for a in range(len(NUMBERS))]
    calls += [f"{name}(v{a}, v{b})" for name in TWO for a in range(len(NUMBERS)) for b in range(len(NUMBERS))]
    head = "".join(f"__device__ {ty} v{number};\n" for number, ty in enumerate(NUMBERS))
    text = head + "".join(f"__device__ auto e{number}() {{ return {call}; }}\n" for number, call in enumerate(calls))
    results = {name: result for name, _, result in functions(clang, text) if re.fullmatch(r"e\d+", name)}
    known = [(call, ty) for number, call in enumerate(calls) if (ty := results.get(f"e{number}", "auto")) != "auto"]
    assert len(known) > 600
    head += "template <class A, class B> constexpr bool same = false;\n"
    head += "template <class A> constexpr bool same<A, A> = true;\n"
    before = head.count("\n") + 1
    compared = 0
    for batch in _batches(known, 45):
        lines = [f'static_assert(same<decltype({call}), {ty}>, "");' for call, ty in batch]
        wrong = errors(head + "\n".join(lines))
        differing = {lines[line - before]: text for line, text in wrong.items() if "more than one instance" not in text}
        assert differing == {}
        compared += len(batch) - len(wrong)
    assert compared > 250


KERNEL = """
struct Particle { float4 position; int id; };
enum Mode { Fast, Slow = 3 };
__constant__ float weights[16];
__device__ int counter;
template <typename T> __device__ T twice(T x) { return 2 * x; }
__global__ void k(const float *__restrict__ in, Particle *out, float scale, double big, short n, unsigned char c)
{
    __shared__ float tile[32][33];
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto v = make_float4(in[i], 0, 0, twice(scale));
    float &r = tile[threadIdx.y][threadIdx.x];
    auto *p = &out[i];
    p->position = v;
    r += weights[n] * in[i + n];
    atomicAdd(&counter, Slow);
    auto d = __shfl_down_sync(0xffffffff, r, 16) + big;
    out[i].position.y = d;
    v.w = n + c * 2 - -c;
    v.z = n > 1 && !c ? fmaxf(r, sqrt(scale)) : pow(scale, 2) + min(n, 3) + (c << 2) + ~c;
    p->id = sizeof(Particle) + __popc(n) + (int)big + n % 3u + warpSize;
    (r > 1 ? r : big) + n;
"""


def test_each_expression_has_the_type_that_nvrtc_gives_it(clang: clang_library.Library):
    text = f"{KERNEL}}}\n"
    lines = text.split("\n")
    checks: dict[str, str] = {}
    for record in type_records(f'#line 1 "k"\n{text}', "k", ["-arch=sm_90"]):
        _, line, column, end_line, end = record["chain"][0]
        ty = record["type"].removeprefix("__shared__ ").removeprefix("__constant__ ").removeprefix("__device__ ")
        if line == end_line and line > 8 and not ty.startswith(("type ", "function ")):
            checks[f"bare<decltype(({lines[line - 1][column:end]}))>"] = f"bare<{ty}>"
    assert len(checks) > 70
    head = "template <class A> struct cv { using t = A; }; template <class A> struct cv<const A> { using t = A; };"
    head += "template <class A> struct ref { using t = A; }; template <class A> struct ref<A &> { using t = A; };"
    head += "template <class A> using bare = typename cv<typename ref<A>::t>::t;"
    head += (
        "template <class A, class B> constexpr bool same = false; template <class A> constexpr bool same<A, A> = true;"
    )
    asserted = [f'static_assert(same<{asked}, {said}>, "");' for asked, said in checks.items()]
    wrong = errors("\n".join([head, KERNEL, *asserted, "}"]))
    first = KERNEL.count("\n") + 3
    assert {asserted[line - first]: message for line, message in wrong.items()} == {}


def _batches(items: list, size: int) -> list[list]:
    """NVRTC ends at the hundredth error."""
    return [items[start : start + size] for start in range(0, len(items), size)]
