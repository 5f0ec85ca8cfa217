"""What nvcc's own headers bring along, and files that are compiled as parts of others: no error of the author's."""

from __future__ import annotations

import pytest

from tests.cuda.conftest import Cuda

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = {
    "integers of nvcc's first header": "__global__ void k(uint8_t *x, int64_t n) { x[n] = (uintptr_t)x; }",
    "of std": "__global__ void k(std::uint32_t *x) { std::int64_t n = 2; x[n] = 1; }",
    "one's own integers": "typedef unsigned char uint8_t;\n__global__ void k(uint8_t *x) { x[0] = 1; }",
    "an integer as an argument of a template": (
        "template <typename T> __global__ void k(T *x) { x[0] = 1; }\nvoid f(int64_t *x) { k<int64_t><<<1, 1>>>(x); }"
    ),
    "numbers of cublas": "#include <cublasLt.h>\n__global__ void k(half *x, __nv_bfloat16 y) { x[0] = (float)y; }",
    "float.h": "#include <float.h>\n__global__ void k(float *x) { x[0] = FLT_MAX; }",
    "climits": "#include <climits>\n__global__ void k(int *x) { x[0] = INT_MAX; }",
    "cassert": "#include <cassert>\n__global__ void k(int *x) { assert(x[0] > 0); std::size_t n = 1; x[n] = 1; }",
}


@pytest.mark.parametrize("case", CASES)
async def test_no_error(cuda: Cuda, case: str):
    assert await cuda.faults(CASES[case]) == []


async def test_a_header_that_a_header_includes(cuda: Cuda):
    cuda.bench.write("source.cu", '#define M 32\n#include "outer.hpp"\nint main() {}\n')
    cuda.bench.write("outer.hpp", '#include "inner.cuh"\n')
    cuda.bench.write("inner.cuh", "__global__ void inner(float *x) { __shared__ float s[M]; x[0] = s[0]; }\n")
    await cuda.bench.open("inner.cuh")
    assert cuda.bench.kernel("inner.cuh").faults == ()
    assert cuda.bench.types_of("inner.cuh", "s") == {"__shared__ float[32]"}


async def test_a_source_that_another_one_includes(cuda: Cuda):
    cuda.bench.write("whole.cu", '#define N 32\n#include "middle.cpp"\nint main() {}\n')
    cuda.bench.write("middle.cpp", '__device__ float f(float x) { return x * N; }\n#include "part.cu"\n')
    cuda.bench.write("part.cu", "__global__ void part(float *x) { __shared__ float s[N]; x[0] = f(s[0]); }\n")
    await cuda.bench.open("part.cu")
    assert cuda.bench.kernel("part.cu").faults == ()
    assert cuda.bench.types_of("part.cu", "s") == {"__shared__ float[32]"}


async def test_functions_of_cmath_where_std_is_open(cuda: Cuda):
    code = "#include <cmath>\n#include <limits>\nusing namespace std;\n"
    code += "__global__ void k(double *x) { x[0] = powf(fabsf(x[1]), 2) + numeric_limits<float>::max(); }\n"
    assert await cuda.faults(code) == []
