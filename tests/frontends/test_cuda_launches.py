"""Template arguments from launches and explicit instantiations of CUDA C++."""

from __future__ import annotations

import pytest

from tests.analysis.cuda.fixtures import MAIN, workspace
from tile_lsp.analysis.comments import read_comments
from tile_lsp.analysis.cuda import find_kernels
from tile_lsp.frontends.cuda import Cuda
from tile_lsp.model.settings import decode

HEAD = "template <typename T, int N>\n__global__ void k(T *a, const T *b, int n) {}\n"
CASES = {
    "explicit": ("void f(float *x) { k<float, 4><<<1, 2>>>(x, x, 1); }", ["float,4"]),
    "several, each once": (
        (
            "void f(float *x, int *y) { k<float, 4><<<1, 2>>>(x, x, 1); k<int, 8><<<1, 2>>>(y, y, 1); "
            "k<float, 4><<<2, 2>>>(x, x, 1); }"
        ),
        ["float,4", "int,8"],
    ),
    "explicit instantiation": ("template __global__ void k<double, 2>(double *, const double *, int);", ["double,2"]),
    "a constant of the function": (
        "void f(float *x) { const int width = 16; k<float, width><<<1, 2>>>(x, x, 1); }",
        ["float,16"],
    ),
    "a constant of the file": (
        "constexpr int W = 16;\nvoid f(float *x) { k<float, W><<<1, 2>>>(x, x, 1); }",
        ["float,W"],
    ),
    "a value of run time": ("void f(float *x, int w) { k<float, w><<<1, 2>>>(x, x, 1); }", ["float,16"]),
    "around it another template": (
        "template <class U> void f(U *x) { k<U, 4><<<1, 2>>>(x, x, 1); }\nvoid g(int *x) { f<int>(x); f<half>(x); }",
        ["int,4", "half,4"],
    ),
    "a template instantiated explicitly": (
        (
            "template <class U> void f(U *x, int n) { k<U, 4><<<1, 2>>>(x, x, 1); }\n"
            "template void f<double>(double *x, int n);"
        ),
        ["double,4"],
    ),
    "around it another template, with a constant of a function": (
        (
            "template <int M> void f(float *x) { k<float, M><<<1, 2>>>(x, x, 1); }\n"
            "void g(float *x) { const int width = 64; f<width>(x); }"
        ),
        ["float,64"],
    ),
    "in a method of a class template": (
        (
            "template <class U> struct P { void run(U *x); };\n"
            "template <class U> void P<U>::run(U *x) { k<U, 4><<<1, 2>>>(x, x, 1); }\n"
            "template class P<double>;\ntemplate class P<int>;"
        ),
        ["double,4", "int,4"],
    ),
    "in an operator of a class template": (
        (
            "template <class U> struct P { U operator()(); };\n"
            "template <class U> U P<U>::operator()() { U *x; k<U, 4><<<1, 2>>>(x, x, 1); }\ntemplate class P<double>;"
        ),
        ["double,4"],
    ),
    "in the body of a class template": (
        "template <class U> struct P { void run(U *x) { k<U, 4><<<1, 2>>>(x, x, 1); } };\nP<short> p;",
        ["short,4"],
    ),
    "two templates around it": (
        (
            "template <class U> void f(U *x) { k<U, 4><<<1, 2>>>(x, x, 1); }\n"
            "template <class V> void g(V *x) { f<V>(x); }\nvoid h(int *x) { g<int>(x); }"
        ),
        ["int,4"],
    ),
    "two templates around it, with parameters of a common name": (
        (
            "template <int M, class in_t> void f(in_t *x) { using V = P<in_t>; k<V, M><<<1, 2>>>(x, x, 1); }\n"
            "template <class in_t> void g(in_t *x) { f<8, in_t>(x); }\nvoid h(int *x) { g<int>(x); }"
        ),
        ["P<int>,8"],
    ),
    "around it a template with a default": (
        "template <class U, int M = 64> void f(U *x) { k<U, M><<<1, 2>>>(x, x, 1); }\nvoid g(int *x) { f<int>(x); }",
        ["int,64"],
    ),
    "a value that a macro of another library names": (
        "void f(int *x) { GO(t, SIZE, [&] { k<int, SIZE><<<1, 2>>>(x, x, 1); }); }",
        ["int,16"],
    ),
    "around it a template that nothing instantiates": (
        "template <class U> void f(U *x) { k<U, 4><<<1, 2>>>(x, x, 1); }",
        ["float,4"],
    ),
    "around it a template that calls itself": (
        "template <class U> void f(U *x) { k<U, 4><<<1, 2>>>(x, x, 1); f<U>(x); }",
        ["float,4"],
    ),
    "a sum of the function": (
        "void f(float *x) { const int a = 4 + 4; k<float, 2 * a><<<1, 2>>>(x, x, 1); }",
        ["float,2*(4+4)"],
    ),
    "an alias of the function": (
        "void f(int *x) { using U = int; constexpr int M = 2; using V = P<U, M>; k<V, 4><<<1, 2>>>(x, x, 1); }",
        ["P<int, 2>,4"],
    ),
    "by a pointer": (
        "void f(int *x) { auto run = &k<int, 4>; run<<<1, 2>>>(x, x, 1); }",
        ["int,4"],
    ),
    "by a call": (
        "void f(int *x) { void *a[] = {&x}; cudaLaunchKernel((void *)k<short, 8>, 1, 2, a, 0, 0); }",
        ["short,8"],
    ),
    "a launch says more than what stands around it": (
        "void f(int *x) { cudaFuncSetAttribute(k<int, 4>, A, 1); k<int, 4><<<1, 2>>>(x, x, 1); use(k<long, 4>); }",
        ["int,4"],
    ),
    "in a macro": (
        (
            "#define LAUNCH(U, M) \\\n  { constexpr int twice = 2 * M; k<U, M><<<1, 2>>>(x, x, 1); }\n"
            "void f(int *x) { LAUNCH(int, 4) LAUNCH(half, (8)) }"
        ),
        ["int,4", "half,(8)"],
    ),
    "in a macro, in a template": (
        (
            "#define LAUNCH(M) k<U, M><<<1, 2>>>(x, x, 1)\n"
            "template <class U> void f(U *x) { LAUNCH(4); }\nvoid g(int *x) { f(x); f<short>(0); }"
        ),
        ["short,4"],
    ),
    "a name that a macro of another library gives": (
        "void f(int *x) { GO(t, [&] { k<scalar_t, 4><<<1, 2>>>(get(t), 0, 1); }); k<uint8_t, 4><<<1, 2>>>(x, x, 1); }",
        ["uint8_t,4"],
    ),
    "nothing": ("", ["float,16"]),
}
DEDUCED = {
    "a pointer": ("void f() { double *x; k<<<1, 2>>>(x, x, 1); }", ["double"]),
    "of several declarators": ("void f() { int *p, *x; k<<<1, 2>>>(x, x, 1); }", ["int"]),
    "a parameter": ("void f(const __half *x, int n) { k<<<1, 2>>>(x, x, 1); }", ["__half"]),
    "an array": ("void f() { short x[4]; k<<<1, 2>>>(x, x, 1); }", ["short"]),
    "a cast": ("void f(void *x) { k<<<1, 2>>>((float4 *)x, x, 1); }", ["float4"]),
    "of two words": ("void f(unsigned int *x) { k<<<1, 2>>>(x, x, 1); }", ["unsigned int"]),
    "unknown": ("void f() { k<<<1, 2>>>(get(), 0, 1); }", ["float"]),
}


MADE = {
    "in the launch": ("void f(int *p) { k<<<1, 2>>>(Op{p}, 3); }", "Op"),
    "by a call": ("void f(int *p) { k<<<1, 2>>>(Op(p), 3); }", "Op"),
    "of a template": ("void f() { k<<<1, 2>>>(ops::Add<int, 4>{}, 3); }", "ops::Add<int, 4>"),
    "before it": ("void f(int *p) { auto op = Op{p}; k<<<1, 2>>>(op, 3); }", "Op"),
    "with a type before it": ("void f(int *p) { Op op{p}; k<<<1, 2>>>(op, 3); }", "Op"),
}


@pytest.mark.parametrize("case", MADE)
def test_functors_that_are_made(case: str):
    text, expected = MADE[case]
    found, _ = specs(
        "struct Op { int *p; __device__ void operator()(int i) const { p[i] = i; } };\n"
        "namespace ops { template <typename T, int N> struct Add { __device__ void operator()(int i) const {} }; }\n"
        f"template <typename F> __global__ void k(F f, int n) {{ f(n); }}\n{text}\n"
    )
    assert [spec.arguments[0].spec for spec in found] == [expected]


def specs(text: str, **settings):
    world = workspace(text)
    kernel = find_kernels(MAIN, world)[-1 if "k" not in [s.name for s in find_kernels(MAIN, world)] else 0]
    comments = list(read_comments((line.text, line.span) for line in kernel.comment_lines))
    return Cuda().job_specs(kernel, world, comments, decode(settings)[0])


@pytest.mark.parametrize("case", CASES)
def test_explicit(case: str):
    text, expected = CASES[case]
    found, problems = specs(HEAD + text + "\n")
    assert not problems
    assert [",".join(argument.spec for argument in spec.arguments) for spec in found] == expected


@pytest.mark.parametrize("case", DEDUCED)
def test_deduced(case: str):
    text, expected = DEDUCED[case]
    found, _ = specs("template <typename T>\n__global__ void k(T *a, const T *b, int n) {}\n" + text + "\n")
    assert [spec.arguments[0].spec for spec in found] == expected


def test_comments_win_and_each_is_a_job():
    text = "// tile-lsp: T=int N=2 target=sm_90,sm_100\n// tile-lsp: N=3 fastmath=true\n" + HEAD
    found, problems = specs(text + "void f(half *x) { k<half, 4><<<1, 2>>>(x, x, 1); }\n")
    assert not problems
    assert [[(a.spec, o.kind) for a, o in zip(spec.arguments, spec.origins, strict=True)] for spec in found] == [
        [("int", "comment"), ("2", "comment")],
        [("half", "launch"), ("3", "comment")],
    ]
    assert [config.target for config in found[0].configs] == ["sm_90", "sm_100"]
    assert found[1].configs[0].hints == (("fastmath", True),)


def test_settings():
    found, _ = specs(HEAD, kernels={"k": {"arguments": {"N": 7}, "targets": ["sm_80"]}})
    assert found[0].arguments[1].spec == "7"
    assert found[0].configs[0].target == "sm_80"


PROBLEMS = {
    "M=3": "`M` is neither a template's parameter nor an option; the template has T, N",
    "a=float": "`a` has its type already; a comment gives arguments of the template, a target or options",
    "target=sm_33": "NVRTC does not compile for sm_33; it does for ",
    "target=90": "`90` is no target; write sm_90",
    "maxrregcount=7": "maxrregcount is a number from 16 to 255, not 7",
    "std=c++98": "std is one of c++11, c++14, c++17, c++20, c++23, not c++98",
    "N=1 N=2": "N is given twice",
}


@pytest.mark.parametrize("words", PROBLEMS)
def test_problems(words: str):
    _, problems = specs(f"// tile-lsp: {words}\n{HEAD}")
    (problem,) = problems
    assert problem.message.startswith(PROBLEMS[words])
    assert problem.span.line == 1
