// Activations in half precision; what they are made of is in a header of the workspace.

#include "half.cuh"

namespace ops {

enum class Activation { gelu, silu };

template <Activation KIND>
__global__ void activate(const __half2 *__restrict__ input, __half2 *__restrict__ output, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) {
        return;
    }
    float2 x = half_math::widen(input[i]);
    if constexpr (KIND == Activation::gelu) {
        x.x = half_math::gelu(x.x);
        x.y = half_math::gelu(x.y);
    } else {
        x.x = half_math::silu(x.x);
        x.y = half_math::silu(x.y);
    }
    output[i] = half_math::narrow(x);
}

template __global__ void activate<Activation::gelu>(const __half2 *, __half2 *, int);
template __global__ void activate<Activation::silu>(const __half2 *, __half2 *, int);

__global__ void scale(__half2 *__restrict__ x, __half2 factor, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) {
        x[i] = __hmul2(x[i], factor);
    }
}

}  // namespace ops
