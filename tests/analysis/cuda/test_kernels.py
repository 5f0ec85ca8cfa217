"""Which functions of a .cu file are kernels, where they stand, and what their signatures say."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tests.analysis.cuda.fixtures import MAIN, sites, workspace
from tile_lsp.analysis.cuda import find_kernels
from tile_lsp.model.location import Span

CASES = {
    "plain": ("__global__ void k(float *x, int n) {}\n", [("k", [], ["float*", "int"])]),
    "no parameters": ("__global__ void k(void) {}\n", [("k", [], [])]),
    "static, in a namespace": (
        "namespace a { namespace b {\nstatic __global__ void k(int) {}\n} }\n",
        [("a::b::k", [], [])],
    ),
    "nested namespace": ("namespace a::b {\n__global__ void k() {}\n}\n", [("a::b::k", [], [])]),
    "no namespace's name": ("namespace {\n__global__ void k() {}\n}\n", [("k", [], [])]),
    "extern C": (
        'extern "C" {\n__global__ void k() {}\n}\nextern "C" __global__ void m() {}\n',
        [("k", [], []), ("m", [], [])],
    ),
    "attributes": (
        "__global__ void __launch_bounds__(256, 2) k(const float *__restrict__ x) {}\n",
        [("k", [], ["const float*__restrict__"])],
    ),
    "attributes before": ("__global__ __launch_bounds__(N) void k() {}\n", [("k", [], [])]),
    "template": (
        "template <typename T, int N = 4, bool B, class... R>\n__global__ void k(T (&x)[N]) {}\n",
        [("k", ["T", "N", "B", "R"], ["T(&)[N]"])],
    ),
    "specialisation": (
        "template <typename T> __global__ void k(T *x) {}\ntemplate <> __global__ void k<int>(int *x) {}\n",
        [("k", ["T"], ["T*"]), ("k#2", [], ["int*"])],
    ),
    "overloads": (
        "__global__ void k(int *x) {}\n__global__ void k(float *x) {}\n",
        [("k", [], ["int*"]), ("k#2", [], ["float*"])],
    ),
    "declaration": ("__global__ void k(int *x);\n", []),
    "device function": ("__device__ int f() { return 1; }\n", []),
    "host function that launches": ("void f() { k<<<1, 2>>>(); }\n", []),
    "specifiers by macros": (
        (
            "#define HD __host__ __device__\n#define KERNEL __global__ void\n"
            "KERNEL k(int n) {}\nHD int f() { return 1; }\n"
        ),
        [("k", [], ["int"])],
    ),
    "behind a macro that ends nothing": ("REGISTER(k)\n__global__ void k() {}\n", [("k", [], [])]),
    "in a condition": (
        "#if X\n__global__ void k() {}\n#else\n__global__ void m() {}\n#endif\n",
        [("k", [], []), ("m", [], [])],
    ),
    "branches with a brace each": (
        (
            "#ifdef X\n__global__ void k(int a) {\n#else\n"
            "__global__ void k(float a) {\n#endif\n}\n__global__ void m() {}\n"
        ),
        [("k", [], ["int"]), ("m", [], [])],
    ),
    "in comments and strings": ('// __global__ void a() {}\nconst char *s = "__global__ void b() {}";\n', []),
    "raw string": ('const char *s = R"(__global__ void b() { )";\n__global__ void k() {}\n', [("k", [], [])]),
    "after a struct": ("struct __align__(16) P { int x; };\n__global__ void k(P p) {}\n", [("k", [], ["P"])]),
    "after an initialiser": (
        "const int a[] = {1, 2};\nauto f = [](int x) { return x; };\n__global__ void k() {}\n",
        [("k", [], [])],
    ),
    "after a constructor": ("struct P { P(); int x; };\nP::P() : x{1} {}\n__global__ void k() {}\n", [("k", [], [])]),
}


@pytest.mark.parametrize("case", CASES)
def test_kernels(case: str):
    text, expected = CASES[case]
    found = [
        (site.qualname, [one.name for one in site.template], [one.type for one in site.arguments])
        for site in sites(text)
    ]
    assert found == expected


def test_places():
    text = "int x;\n// tile-lsp: N=4\n// and a remark\ntemplate <int N>\n__global__ void\nk(float *a) {\n}\n"
    (site,) = sites(text)
    assert (site.span, site.name_span, [line.text for line in site.comment_lines]) == snapshot(
        (
            Span(line=4, column=0, end_line=7, end_column=1),
            Span(line=6, column=0, end_line=6, end_column=1),
            ["// tile-lsp: N=4", "// and a remark"],
        )
    )
    assert [(one.name, one.span) for one in site.parameters] == snapshot(
        [
            ("N", Span(line=4, column=14, end_line=4, end_column=15)),
            ("a", Span(line=6, column=9, end_line=6, end_column=10)),
        ]
    )


def test_a_lost_brace_costs_its_own_kernel_alone():
    text = "__global__ void a() { if (1) {\n}\n\n__global__ void b() {}\n\ntemplate <int N>\n__global__ void c() {}\n"
    assert [(site.qualname, site.broken) for site in sites(text)] == [("a", True), ("b", False), ("c", False)]
    file = workspace(text).file(MAIN)
    assert [(one.message, one.span.line) for one in file.problems()] == snapshot(
        [("a bracket or a ; is missing here", 1)]
    )


def test_what_changes_is_split_anew_and_the_rest_kept():
    before = "".join(f"// {i}\n__global__ void k{i}(int *x) {{ x[{i}] = {i}; }}\n\n" for i in range(40))
    world = workspace(before)
    kept = {site.qualname: site.piece.body for site in find_kernels(MAIN, world)}
    after = before.replace("x[20] = 20", "x[20] = 20 + (1)")
    again = find_kernels(MAIN, workspace(after))
    assert [site.qualname for site in again if site.piece.body is not kept[site.qualname]] == snapshot(["k19", "k20"])
    whole = "/* */" + after
    fresh = find_kernels(MAIN, workspace(whole))
    assert [site.span.line for site in again] == [site.span.line for site in fresh]


@pytest.mark.parametrize("at", range(0, 120, 7))
@pytest.mark.parametrize("word", ["{", "}", "/*", "*/", "//", '"', "#if 0\n", ";", "namespace a {", "\\", 'R"('])
def test_an_edit_gives_what_a_new_text_gives(at: int, word: str):
    text = "#define A 1\nnamespace n {\n__global__ void k() { int a = A; }\n}\n__global__ void m() {}\n"
    text += '// end )"\nint x = 3;\n'
    edited = text[:at] + word + text[at:]
    workspace(text).file(MAIN)
    pieces = workspace(edited).file(MAIN).pieces
    fresh = workspace(edited, "/ws/other.cu")
    fresh._texts["/ws/other.cu"] = edited
    whole = fresh.file("/ws/other.cu").pieces
    assert [(p.kind, p.start, p.around, [t.text for t in p.tokens]) for p in pieces] == [
        (p.kind, p.start, p.around, [t.text for t in p.tokens]) for p in whole
    ]
