"""The declarations that stand for what NVRTC knows without an include, held against NVRTC itself."""

from __future__ import annotations

import re

import pytest

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
    log = b" " * size
    nvrtc.nvrtcGetProgramLog(program, log)
    found: dict[int, str] = {}
    for line, message in re.findall(r"x\.cu\((\d+)\): error: (.*)", log.decode()):
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


def _batches(items: list, size: int) -> list[list]:
    """NVRTC ends at the hundredth error."""
    return [items[start : start + size] for start in range(0, len(items), size)]
