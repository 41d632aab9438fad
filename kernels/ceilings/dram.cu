// Main memory at full rate: 16 bytes per access, and a grid sized to the data. Blocks that finish
// make room for others at their own pace, so the blocks that run at one time stay close together in
// memory. The limit is the memory itself.
#include "kernels/ceilings/dram.hpp"
#include "kernels/common/cuda/grid_sum.cuh"
#include "kernels/common/cuda/map_vectors.cuh"
#include "kernels/common/cuda/reduce.cuh"

namespace ridgebench::cuda::ceilings_dram {

constexpr int kWidth = kVectorElements<float>;

__device__ float4 load(const float* x, std::int64_t vector) {
  return reinterpret_cast<const float4*>(x)[vector];
}

// Vectors that a thread loads before it uses the first. With more an H100 reads up to 3 % slower.
constexpr int kVectors = 4;
constexpr int kReadBlocksPerSm = 2;

// of_block: the elements of a block.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    dram_read(const float* x, std::int64_t n, std::int64_t of_block, GridSum grid,
              float* sum_of_all) {
  const std::int64_t first = blockIdx.x * of_block;
  const std::int64_t own = blockIdx.x == gridDim.x - 1 ? n - first : of_block;
  const std::int64_t vectors = own / kWidth;
  const float* const stretch = x + first;
  float sum = 0;
  std::int64_t i = threadIdx.x;
#pragma unroll 1
  for (; i + (kVectors - 1) * kThreads < vectors; i += kVectors * kThreads) {
    float4 value[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) value[k] = load(stretch, i + k * kThreads);
#pragma unroll
    for (int k = 0; k < kVectors; ++k) sum += sum_of(value[k]);
  }
#pragma unroll 1
  for (; i < vectors; i += kThreads) sum += sum_of(load(stretch, i));  // in the last block
  const std::int64_t behind = vectors * kWidth + threadIdx.x;
  if (behind < own) sum += stretch[behind];
  add_to_grid_sum<kThreads>(block_sum<kThreads>(sum), grid, sum_of_all);
}

template <int kThreads>
Launch launch_read(Queue& queue, const Shape& shape, const float* x, float* sum) {
  const std::int64_t n = shape["n"];
  const std::int64_t resident = std::int64_t{kReadBlocksPerSm} * sm_count();
  const Stretches stretches = stretches_of(queue, n, kThreads * kVectors * kWidth, resident);
  return [=, stream = stream_of(queue)] {
    dram_read<kThreads><<<stretches.blocks, kThreads, 0, stream>>>(x, n, stretches.of_block,
                                                                   stretches.memory.get(), sum);
  };
}

Launch bind_read(Queue& queue, const Shape& shape, const float* x, float* sum) {
  require_aligned(x);
  // An SM of 1536 threads would hold a single block of 1024.
  return memory_system().threads_per_sm % 1024 == 0 ? launch_read<1024>(queue, shape, x, sum)
                                                    : launch_read<512>(queue, shape, x, sum);
}

// The value that a kernel writes: a constant (dram_write), an array (dram_copy), or a + 3 b
// (dram_triad).
struct Constant {
  const float* value;
  __device__ float element(std::int64_t) const { return *value; }
  __device__ float4 vector(std::int64_t) const { return {*value, *value, *value, *value}; }
};

struct Array {
  const float* x;
  __device__ float element(std::int64_t i) const { return x[i]; }
  __device__ float4 vector(std::int64_t i) const { return load(x, i); }
};

struct Triad {
  const float* a;
  const float* b;
  static __device__ float sum(float a, float b) { return fmaf(kTriadFactor, b, a); }
  __device__ float element(std::int64_t i) const { return sum(a[i], b[i]); }
  __device__ float4 vector(std::int64_t i) const {
    const float4 left = load(a, i);
    const float4 right = load(b, i);
    return {sum(left.x, right.x), sum(left.y, right.y), sum(left.z, right.z), sum(left.w, right.w)};
  }
};

template <int kThreads, class Source>
__global__ void __launch_bounds__(kThreads) dram_write(Source source, std::int64_t n, float* y) {
  const std::int64_t vectors = n / kWidth;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < vectors) reinterpret_cast<float4*>(y)[i] = source.vector(i);
  const std::int64_t behind = vectors * kWidth + i;
  if (behind < n) y[behind] = source.element(behind);
}

template <class Source>
Launch launch_write(Queue& queue, const BlockThreads& block, const Shape& shape, Source source,
                    float* y) {
  require_aligned(y);
  return with_threads(block, [&]<int kThreads>() -> Launch {
    const std::int64_t n = shape["n"];
    const unsigned blocks = blocks_of_vectors<float, kThreads>(n);
    return [=, stream = stream_of(queue)] {
      dram_write<kThreads><<<blocks, kThreads, 0, stream>>>(source, n, y);
    };
  });
}

Launch bind_write(Queue& queue, const BlockThreads& block, const Shape& shape, const float* value,
                  float* y) {
  return launch_write(queue, block, shape, Constant{value}, y);
}

Launch bind_copy(Queue& queue, const BlockThreads& block, const Shape& shape, const float* x,
                 float* y) {
  require_aligned(x);
  return launch_write(queue, block, shape, Array{x}, y);
}

Launch bind_triad(Queue& queue, const BlockThreads& block, const Shape& shape, const float* a,
                  const float* b, float* c) {
  require_aligned(a);
  require_aligned(b);
  return launch_write(queue, block, shape, Triad{a, b}, c);
}

Technique technique(const std::string& operation) {
  return {.operation = operation,
          .name = "vec16",
          .engine = Engine::memory,
          .supports = supports_vectors<kLeastThreads>};
}

const Registration read{technique("dram_read"), bind_read};
const Registration fill{technique("dram_write"),
                        planned(prepare_threads<kMostThreads>, bind_write)};
const Registration copy{technique("dram_copy"), planned(prepare_threads<kMostThreads>, bind_copy)};
const Registration triad{technique("dram_triad"),
                         planned(prepare_threads<kMostThreads>, bind_triad)};

}  // namespace ridgebench::cuda::ceilings_dram
