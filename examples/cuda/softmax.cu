// Softmax of each row of a matrix: a row a block, held in shared memory, with cooperative groups for the reductions.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 128;

/// The result of `operation` over a block, in every thread of it.
template <typename Operation>
__device__ float reduce_block(cg::thread_block block, float value, float neutral, Operation operation) {
    __shared__ float partial[32];
    const auto warp = cg::tiled_partition<32>(block);
    value = cg::reduce(warp, value, operation);
    if (warp.thread_rank() == 0) {
        partial[warp.meta_group_rank()] = value;
    }
    block.sync();
    value = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : neutral;
    value = cg::reduce(warp, value, operation);
    block.sync();
    return value;
}

__global__ void __launch_bounds__(THREADS) softmax(const float *__restrict__ input, float *__restrict__ output, int columns) {
    extern __shared__ float row[];
    const auto block = cg::this_thread_block();
    input += blockIdx.x * size_t(columns);
    output += blockIdx.x * size_t(columns);

    float largest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        row[i] = input[i];
        largest = fmaxf(largest, row[i]);
    }
    largest = reduce_block(block, largest, -INFINITY, cg::greater<float>());

    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) {
        row[i] = __expf(row[i] - largest);
        sum += row[i];
    }
    sum = reduce_block(block, sum, 0.0f, cg::plus<float>());

    for (int i = threadIdx.x; i < columns; i += THREADS) {
        output[i] = row[i] / sum;
    }
}

void launch_softmax(const float *input, float *output, int rows, int columns, cudaStream_t stream) {
    softmax<<<rows, THREADS, columns * sizeof(float), stream>>>(input, output, columns);
}
