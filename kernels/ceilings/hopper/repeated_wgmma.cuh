// One product of 64 x 256 x 32 in shared memory, which a warpgroup multiplies again and again by
// wgmma: the core of tensor_wgmma.cu.
#pragma once

#include "kernels/ceilings/products.hpp"
#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

inline constexpr int kM = static_cast<int>(kWarpgroupTile.m);
inline constexpr int kN = static_cast<int>(kWarpgroupTile.n);
inline constexpr int kK = static_cast<int>(kWarpgroupTile.k);
inline constexpr int kSharedBytes = (kM + kN) * kRowBytes;
using Accumulators = WgmmaAccumulators<kN>;

// wgmmas of one product, and of a group: the tensor cores lose clocks between two groups.
template <class T>
inline constexpr int kSteps = kK * static_cast<int>(sizeof(T)) / kWgmmaKBytes;
inline constexpr int kGroup = 16;

// Copies `rows` rows of kK elements into boxes, or zeros them.
template <class T>
__device__ void fill(std::byte* boxes, const T* from, int rows, bool zero) {
  constexpr int row_vectors = kK / kVectorElements<T>;
  for (int id = static_cast<int>(threadIdx.x); id < rows * row_vectors; id += kWarpgroup) {
    const int row = id / row_vectors;
    std::byte* const to = boxes + row / kBoxRows * kBoxBytes +
                          swizzle_128b(row % kBoxRows, id % row_vectors * kVectorBytes);
    *reinterpret_cast<uint4*>(to) = zero ? uint4{} : reinterpret_cast<const uint4*>(from)[id];
  }
}

template <class T>
__device__ void load(std::byte* boxes, const T* a, const T* b, bool zero) {
  fill(boxes, a, kM, zero);
  fill(boxes + kM * kRowBytes, b, kN, zero);
  fence_proxy_async();
  __syncthreads();
}

// Starts d = A B (+ d, if `accumulate`), then adds A B kAgain more times, all as one group.
template <class T, int kAgain>
__device__ void multiply(Accumulators& d, const std::byte* boxes, bool accumulate) {
  const std::uint64_t a = matrix_descriptor(shared_address(boxes));
  const std::uint64_t b = matrix_descriptor(shared_address(boxes + kM * kRowBytes));
  warpgroup_fence_operand(d);
  warpgroup_arrive();
#pragma unroll
  for (int i = 0; i < (1 + kAgain) * kSteps<T>; ++i) {
    const int step = i % kSteps<T>;
    wgmma_mma_async<T, T, kN>(d, a + k_step_offset(true, step), b + k_step_offset(true, step),
                              accumulate || i > 0);
  }
  warpgroup_commit_batch();
  warpgroup_fence_operand(d);
}

// Adds A B `count` more times and waits for the sums.
template <class T>
__device__ void add_products(Accumulators& d, const std::byte* boxes, int count) {
  constexpr int products = kGroup / kSteps<T>;
  int i = 0;
#pragma unroll 1
  for (; i + products <= count; i += products) {
    multiply<T, products - 1>(d, boxes, true);
    warpgroup_wait<1>();
  }
#pragma unroll 1
  for (; i < count; ++i) {
    multiply<T, 0>(d, boxes, true);
    warpgroup_wait<1>();
  }
  warpgroup_wait<0>();
  warpgroup_fence_operand(d);
}

}  // namespace ridgebench::cuda
