// A sum, or whatever the operation is, over an array: a template of element, operation and size of block. The launches
// at the end name the instances that are compiled.

#include <cstdio>

template <typename T>
struct Sum {
    static __device__ T neutral() { return T(0); }
    __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T>
struct Maximum {
    static __device__ T neutral() { return T(-1) / T(0); }
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <typename T, typename Operation>
__device__ T reduce_warp(T value, Operation operation) {
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        value = operation(value, __shfl_down_sync(0xffffffffu, value, offset));
    }
    return value;
}

template <typename T, typename Operation, int BLOCK>
__global__ void __launch_bounds__(BLOCK) reduce(const T *__restrict__ input, T *__restrict__ output, int n) {
    static_assert(BLOCK % 32 == 0, "whole warps only");
    __shared__ T partial[BLOCK / 32];
    const Operation operation;
    T value = Operation::neutral();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        value = operation(value, input[i]);
    }
    value = reduce_warp(value, operation);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < BLOCK / 32 ? partial[threadIdx.x] : Operation::neutral();
        value = reduce_warp(value, operation);
        if (threadIdx.x == 0) {
            output[blockIdx.x] = value;
        }
    }
}

template <typename T>
T total(const T *input, T *output, int n) {
    constexpr int block = 256;
    const int blocks = 64;
    reduce<T, Sum<T>, block><<<blocks, block>>>(input, output, n);
    reduce<T, Sum<T>, block><<<1, block>>>(output, output, blocks);
    T result;
    cudaMemcpy(&result, output, sizeof(T), cudaMemcpyDeviceToHost);
    return result;
}

int main() {
    const int n = 1 << 16;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, 64 * sizeof(float));
    for (int i = 0; i < n; ++i) {
        x[i] = 1.0f;
    }
    const float sum = total<float>(x, y, n);
    reduce<float, Maximum<float>, 128><<<1, 128>>>(x, y, n);
    cudaDeviceSynchronize();
    std::printf("sum %g, maximum %g\n", sum, y[0]);
    return sum == float(n) && y[0] == 1.0f ? 0 : 1;
}
