// One thread an element, as plain as it gets.

#include <cstdio>
#include <cstdlib>

__global__ void vector_add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

// Four elements a thread: one load of 16 bytes instead of four of 4.
// tile-lsp: target=sm_90 maxrregcount=32
__global__ void __launch_bounds__(256) vector_add4(const float4 *a, const float4 *b, float4 *c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

int main() {
    const int n = 1 << 20;
    float *a, *b, *c;
    cudaMallocManaged(&a, n * sizeof(float));
    cudaMallocManaged(&b, n * sizeof(float));
    cudaMallocManaged(&c, n * sizeof(float));
    for (int i = 0; i < n; ++i) {
        a[i] = float(i);
        b[i] = 2.0f * float(i);
    }
    vector_add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    vector_add4<<<(n / 4 + 255) / 256, 256>>>((float4 *)a, (float4 *)b, (float4 *)c, n / 4);
    cudaDeviceSynchronize();
    std::printf("c[10] = %g\n", c[10]);
    return c[10] == 30.0f ? EXIT_SUCCESS : EXIT_FAILURE;
}
