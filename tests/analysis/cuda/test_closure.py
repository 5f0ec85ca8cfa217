"""What a kernel's closure holds, and what its version depends on."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tests.analysis.cuda.fixtures import MAIN, closure_of, members, sliced, text_of, workspace
from tile_lsp.analysis.cuda import Workspace, build_closure, find_kernels
from tile_lsp.model.outcome import Severity
from tile_lsp.model.settings import Cuda

CASES = {
    "what is not mentioned": ("int unused;\n__device__ int f() { return 1; }\n__global__ void k() {}\n", ["k"]),
    "functions, in their order": (
        (
            "__device__ int g();\n__device__ int f() { return g(); }\n"
            "__device__ int g() { return 1; }\n__global__ void k() { f(); }\n"
        ),
        ["g", "f", "g.2", "k"],
    ),
    "constants": (
        (
            "const int A = 1; constexpr int B = A; static const int C = 2; __constant__ float D[4]; int host;\n"
            "__global__ void k(float *x) { x[B] = D[C] + host; }\n"
        ),
        ["A", "B", "C", "D", "k"],
    ),
    "types": (
        "struct P { int x; };\ntypedef P Q;\nusing R = Q;\nenum { ONE, TWO };\n__global__ void k(R r) { r.x = TWO; }\n",
        ["P", "Q", "R", "ONE", "k"],
    ),
    "members are no names of functions": (
        "__device__ int size() { return 1; }\nstruct V { int length; };\n__global__ void k(V v) { v.size(); }\n",
        ["V", "k"],
    ),
    "macros": (
        "#define TWICE(x) (2 * N)\n#define N 3\n#define OTHER 1\n__global__ void k(int *x) { x[0] = TWICE(1); }\n",
        ["TWICE", "N", "k"],
    ),
    "conditions around what is needed": (
        "#ifdef FAST\n#define N 1\n#else\n#define N 2\n#define M 3\n#endif\n__global__ void k(int *x) { x[0] = N; }\n",
        ["if", "N", "else", "N.2", "endif", "k"],
    ),
    "namespaces": (
        (
            "namespace a {\n__device__ int f() { return 1; }\nint g();\n"
            "}\nusing namespace a;\n__global__ void k() { f(); }\n"
        ),
        ["namespace a", "f", "close", "using namespace", "k"],
    ),
    "namespaces of the host that are opened for all": (
        (
            "namespace Z { inline int f() { return 0; } }\nnamespace a::Y { int g(); }\nnamespace X { int h(); }\n"
            "namespace W = a::Y;\nusing namespace Z;\nusing namespace W;\n__global__ void k() {}\n"
        ),
        [
            *("namespace Z", "close", "namespace a :: Y", "close.2"),
            *("W", "using namespace", "using namespace.2", "k"),
        ],
    ),
    "braces that a condition is around": (
        (
            '#ifdef __cplusplus\nextern "C" {\n#endif\n__device__ int f() { return 1; }\n'
            "#ifdef __cplusplus\n}\n#endif\n__global__ void k() { f(); }\n"
        ),
        ["if", "extern 'C'", "endif", "f", "if.2", "close", "endif.2", "k"],
    ),
    "conditions that end in broken text": (
        (
            '#include "a.cuh"\n__global__ void k() { f(); }\n'
            "-- a.cuh\n#ifndef A\n#define A\n__device__ int f() { return 1; }\nint broken() {\n#endif\n"
        ),
        ["a.cuh/f", "k"],
    ),
    "host functions": ("int f() { return 1; }\n__global__ void k() { f(); }\n", ["k"]),
    "constexpr functions": ("constexpr int f() { return 1; }\n__global__ void k() { f(); }\n", ["f", "k"]),
    "operators of types in use": (
        (
            "struct V { float x; };\nstruct W { float x; };\n"
            "__device__ V operator+(V a, V b) { return a; }\n__device__ W operator+(W a, W b) { return a; }\n"
            "__global__ void k(V *v) { v[0] = v[1] + v[2]; }\n"
        ),
        ["V", "operator", "k"],
    ),
    "templates and their specialisations": (
        (
            "template <typename T> struct S {};\ntemplate <> struct S<int> { int x; };\n"
            "template <class T> __device__ T f(S<T> s);\n__global__ void k(S<int> s) { f(s); }\n"
        ),
        ["S", "S.2", "f", "k"],
    ),
    "other kernels": ("__global__ void m() {}\n__global__ void k() { int m = 1; }\n", ["k"]),
    "methods outside of their class": (
        (
            "struct P { __device__ int f(); };\n__device__ int P::f() { return g(); }\n"
            "__device__ int g() { return 1; }\n__global__ void k(P p) { p.f(); }\n"
        ),
        ["P", "f", "g", "k"],
    ),
    "the standard's headers, where its namespace is open": (
        (
            "#include <cmath>\n#include <limits>\n#include <cstdint>\nusing namespace std;\n"
            "__global__ void k(float *x) { x[0] = fabsf(x[1]); }\n"
        ),
        ["using namespace", "k"],
    ),
    "the standard's headers, where its namespace is open and of use": (
        (
            "#include <cmath>\n#include <limits>\nusing namespace std;\n"
            "__global__ void k(float *x) { x[0] = fabsf(numeric_limits<float>::max()); }\n"
        ),
        ["<limits>", "using namespace", "k"],
    ),
    "the standard's headers, where its names are qualified": (
        "#include <cmath>\n#include <limits>\nusing namespace std;\n__global__ void k(int *x) { std::abs(*x); }\n",
        ["<cmath>", "<limits>", "using namespace", "k"],
    ),
    "names that macros put together": (
        (
            "#define PASTED_A() 1\n#define PASTED_B() 2\n#define ASK(x) PASTED_##x()\n#define OTHER 1\n"
            "__device__ int f_twice(int x) { return 2 * x; }\n__device__ int f_near(int x) { return x; }\n"
            "#define CALL(x, y) x ## _twice(y)\n"
            "#if ASK(A) > 0\n__global__ void k(int *x) { x[0] = CALL(f, x[1]); }\n#endif\n"
        ),
        ["PASTED_A", "PASTED_B", "ASK", "f_twice", "CALL", "if", "k", "endif"],
    ),
    "declarations that macros put together": (
        (
            "#define IMPL(NAME, N) \\\n  __device__ int Do##NAME##Twice(int x) { return x; } \\\n  struct S##N {};\n"
            "IMPL(Add, 1)\nIMPL(Max, 2)\n__global__ void k(int *x) { x[0] = DoAddTwice(x[1]); }\n"
        ),
        ["IMPL", "IMPL.2", "IMPL.3", "k"],
    ),
    "namespaces that nothing opens for the device": (
        (
            "#include <torch/extension.h>\n#define OPEN namespace made {\nnamespace a::b { }\nnamespace c = a;\n"
            "using namespace torch;\nusing namespace std::chrono;\nusing namespace std;\nusing namespace a;\n"
            "using namespace made;\nusing namespace c;\n__global__ void k() {}\n"
        ),
        ["namespace a :: b", "close", "c", *(f"using namespace{n}" for n in ("", ".2", ".3", ".4")), "k"],
    ),
    "headers of the toolkit that are in use": (
        (
            "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <cub/cub.cuh>\n#include <iostream>\n"
            "namespace cg = cooperative_groups;\n__global__ void k(__half *x) {}\n"
        ),
        ["<cuda_fp16.h>", "k"],
    ),
    "headers of the host that bring some of the device's": (
        "#include <cublas_v2.h>\n#include <cudnn.h>\n__global__ void k(__nv_bfloat16 *x) {}\n",
        ["<cublas_v2.h>", "k"],
    ),
    "headers of the host that bring nothing that is used": (
        "#include <cublas_v2.h>\n#include <nvtx3/nvToolsExt.h>\n__global__ void k(float *x) {}\n",
        ["k"],
    ),
    "standard headers have stand-ins": (
        "#include <cstdint>\n#include <algorithm>\n#include <vector>\n__global__ void k(uint8_t *x) {}\n",
        ["<cstdint>", "k"],
    ),
    "headers of the workspace": (
        (
            '#include "a.cuh"\n__global__ void k() { f(); }\n'
            '-- a.cuh\n#pragma once\n#include "b.cuh"\n__device__ int f() { return g(); }\nint unused();\n'
            "-- b.cuh\n#ifndef B\n#define B\n__device__ int g() { return 1; }\n#endif\n"
        ),
        ["b.cuh/if", "b.cuh/B", "b.cuh/g", "b.cuh/endif", "a.cuh/f", "k"],
    ),
    "pragmas inside of a kernel": ("__global__ void k() {\n#pragma unroll\nfor (;;) {}\n}\n", ["k"]),
}


@pytest.mark.parametrize("case", CASES)
def test_members(case: str):
    text, expected = CASES[case]
    assert members(text, "k") == expected


def test_macros_of_the_command_line():
    assert members("__global__ void k() {}\n", macros={"N": "4"}) == ["-D/N", "k"]


def test_types_of_arguments():
    text = "struct P {};\ntemplate <typename T> __global__ void k(T *x) {}\n"
    assert members(text) == ["k"]
    assert members(text, expressions=("P",)) == ["P", "k"]


def test_one_token_a_line():
    text = (
        '__global__ void k(int *x) { // what\n#pragma unroll 4\n  for (int i = 0; i < 4; ++i) x[i] = R"(a\nb)"[i]; }\n'
    )
    assert sliced(text).modules[0].members[0].text == snapshot("""\
__global__
void
k
(
int
*
x
)
{
#pragma unroll 4
for
(
int
i
=
0
;
i
<
4
;
++
i
)
x
[
i
]
=
R"(a
b)"
[
i
]
;
}\
""")


HOST = """\
struct P {
    float x;
    P(float a) : x{a} { print(); }
    P() = default;
    float get() const { return x; }
    __device__ float twice() const { return 2 * x; }
    constexpr float one() const { return 1; }
    friend std::ostream &operator<<(std::ostream &o, const P &p) { return o << p.x; }
  private:
    void print() { std::cout << x; }
};
__global__ void k(P *p) {}
"""


def test_classes_without_their_host_functions():
    assert text_of(HOST, "P").replace("; ", ";\n") == snapshot("""\
struct P { float x ;
__device__ P ( float a ) ;
P ( ) = default ;
__device__ float get ( ) const ;
__device__ float twice ( ) const { return 2 * x ;
} __device__ constexpr float one ( ) const { return 1 ;
} private : __device__ void print ( ) ;
} ;\
""")


BASE = """\
#include <cstdio>
#include "a.cuh"
const int N = 4;
__device__ float f(float x) { return x * N; }
__global__ void k(float *x) { x[0] = f(x[1]) + g(); }
__global__ void other(float *x) { x[0] = 1; }
int main() { k<<<1, 1>>>(nullptr); }
-- a.cuh
__device__ inline int g() { return 1; }
inline int host() { return 1; }
"""
SAME = {
    "a comment": ("{ return x * N; }", "{ /* why */ return x * N; // so\n}"),
    "layout": ("x[0] = f(x[1]) + g();", "x[0]   =\n  f( x[1] )+g();"),
    "blank lines": ("const int N", "\n\n\nconst int N"),
    "host code": ("int main() {", "int main() { puts(0);"),
    "another kernel": ("x[0] = 1;", "x[0] = 2;"),
    "a host header": ("#include <cstdio>", "#include <cstdio>\n#include <vector>"),
    "host code of a header": ("inline int host() { return 1; }", "inline int host() { return 2; }"),
    "what nobody needs": ("const int N", "const int M = 3;\nconst int N"),
}
OTHER = {
    "the kernel": ("+ g()", "- g()"),
    "a function": ("return x * N", "return x + N"),
    "a constant": ("N = 4", "N = 5"),
    "a function of a header": ("int g() { return 1; }", "int g() { return 2; }"),
}


@pytest.mark.parametrize("edit", SAME)
def test_edits_that_keep_the_version(edit: str):
    assert sliced(BASE.replace(*SAME[edit]), "k").version == sliced(BASE, "k").version


@pytest.mark.parametrize("edit", OTHER)
def test_edits_that_do_not(edit: str):
    assert sliced(BASE.replace(*OTHER[edit]), "k").version != sliced(BASE, "k").version


def test_a_file_that_moves_has_the_same_versions():
    def version(folder: str) -> str:

        path = f"{folder}/main.cu"
        world = Workspace(path, {path: "__global__ void k() {}\n"}.get, [folder], Cuda())
        (site,) = find_kernels(path, world)
        closure = build_closure(site, world).closure
        assert closure is not None
        return closure.version

    assert version("/a") == version("/b/c")


def test_a_header_that_is_nowhere():
    result = closure_of('#include "lost.cuh"\n__global__ void k() {}\n')
    assert result.closure is not None
    assert [note.message.partition(": ")[0] for note in result.closure.notes] == ['"lost.cuh" was not found']
    assert "/ws/lost.cuh" in result.missing


LOST = {
    "of the file": ('#include "lost.cuh"\n', [1]),
    "of one that is not needed": ('#include <vector>\n#include "lost.h"\nint x;\n', [2]),
    "in a condition": ('#ifdef _WIN32\n#include "lost.h"\n#endif\n', []),
    "in the condition around a header": ('#ifndef A\n#define A\n#include "lost.h"\n#endif\n', [3]),
    "of a header": ('#include "a.cuh"\n-- a.cuh\n#include "lost.h"\n', []),
    "of the toolkit": ('#include "cuda_fp16.h"\n#include "cuda_runtime.h"\n#include <lost.h>\n', []),
}


@pytest.mark.parametrize("case", LOST)
def test_headers_that_are_nowhere_are_told_where_they_are_named(case: str):
    text, expected = LOST[case]
    found = workspace(text).problems(MAIN)
    assert [problem.span.line for problem in found] == expected
    assert {(problem.severity, problem.code) for problem in found} <= {(Severity.WARNING, "include")}


def test_headers_outside_of_the_workspace_count_by_content():

    def version(folder: str, body: str) -> str:
        files = {
            "/ws/main.cu": '#include <lib/f.cuh>\n#include "cuda_fp16.h"\n__global__ void k(__half *x) { f(); }\n',
            f"{folder}/lib/f.cuh": f"__device__ inline int f() {{ return {body}; }}\n",
            f"{folder}/cuda_fp16.h": "struct __half {};\n",
        }
        world = Workspace("/ws/main.cu", files.get, ["/ws"], Cuda(include_paths=(folder,)))
        (site,) = find_kernels("/ws/main.cu", world)
        closure = build_closure(site, world).closure
        assert closure is not None
        assert [one.id for one in closure.modules[0].members] == ["lib/f.cuh/f", "main.cu/'cuda_fp16.h'", "main.cu/k"]
        return closure.version

    assert version("/opt/one", "1") == version("/opt/two", "1")
    assert version("/opt/one", "1") != version("/opt/one", "2")


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("cub/cub.cuh", "cub::BlockReduce<int, 64> r;", ["block/block_reduce"]),
        ("cub/device/device_scan.cuh", "cub::WarpScan<int> s;", ["warp/warp_scan"]),
        (
            "cub/cub.cuh",
            "cub::ThreadLoad<cub::LOAD_CS>(p); cub::BlockRadixSort<int, 64> s; cub::ArgIndexInputIterator<int> i(p);",
            ["block/block_radix_sort", "iterator/arg_index_input_iterator", "thread/thread_load"],
        ),
        ("cub/cub.cuh", "constexpr auto how = cub::BLOCK_REDUCE_RAKING;", ["block/block_reduce"]),
    ],
)
def test_of_the_whole_of_cub_what_the_words_name(header: str, body: str, expected: list[str]):
    always = ["thread/thread_operators", "util_ptx", "util_type"]
    text = text_of(f"#include <{header}>\n__global__ void k(int *p) {{ {body} }}\n", f"<{header}>")
    assert text.split() == [word for name in sorted(expected + always) for word in ("#include", f"<cub/{name}.cuh>")]


@pytest.mark.parametrize("path", ["sub/include/a.cuh", "sub/deep/include/a.cuh", "sub/a.cuh", "include/a.cuh", "a.cuh"])
def test_headers_of_a_project_in_the_workspace(path: str):
    main = "/ws/sub/deep/main.cu"
    files = {main: '#include "a.cuh"\n__global__ void k() { f(); }\n', f"/ws/{path}": "__device__ void f() {}\n"}
    world = Workspace(main, files.get, ["/ws"], Cuda())
    closure = build_closure(find_kernels(main, world)[0], world).closure
    assert closure is not None
    assert [member.id for module in closure.modules for member in module.members] == ["a.cuh/f", "main.cu/k"]
