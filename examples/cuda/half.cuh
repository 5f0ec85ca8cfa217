// Arithmetic on half precision, two numbers at a time. Included by gelu.cu: an edit here is one of every kernel that calls
// what was edited, and of no other.
#pragma once

#include <cuda_fp16.h>

namespace half_math {

__device__ inline float2 widen(__half2 x) { return __half22float2(x); }

__device__ inline __half2 narrow(float2 x) { return __float22half2_rn(x); }

/// The tanh approximation of GELU.
__device__ inline float gelu(float x) {
    const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(inner));
}

__device__ inline float silu(float x) { return x / (1.0f + __expf(-x)); }

}  // namespace half_math
