// A tiled matrix product: each block computes one tile of C, and stages tiles of A and B in shared memory.

#include <cstdio>
#include <vector>

constexpr int TILE = 16;

__global__ void matmul(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B, int m, int n, int k) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int step = 0; step < k; step += TILE) {
        const int a = step + threadIdx.x;
        const int b = step + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < m && a < k ? A[row * k + a] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = b < k && column < n ? B[b * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        C[row * n + column] = sum;
    }
}

int main() {
    const int m = 512, n = 512, k = 512;
    std::vector<float> a(m * k, 1.0f), b(k * n, 2.0f), c(m * n);
    float *A, *B, *C;
    cudaMalloc(&A, a.size() * sizeof(float));
    cudaMalloc(&B, b.size() * sizeof(float));
    cudaMalloc(&C, c.size() * sizeof(float));
    cudaMemcpy(A, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(B, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 block(TILE, TILE);
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul<<<grid, block>>>(C, A, B, m, n, k);
    cudaMemcpy(c.data(), C, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("C[0] = %g\n", c[0]);
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
    return c[0] == 2.0f * k ? 0 : 1;
}
