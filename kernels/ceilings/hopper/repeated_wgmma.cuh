// One product of 64 x N x 32, which a warpgroup multiplies again and again by wgmma: the core of
// the ceilings beside it. B lies in shared memory, A there or in registers.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/products.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/fp8_accumulation.hpp"

namespace ridgebench::cuda {

inline constexpr int kM = static_cast<int>(kWarpgroupTile.m);
inline constexpr int kK = static_cast<int>(kWarpgroupTile.k);
template <int kN>
inline constexpr int kSharedBytes = (kM + kN) * kRowBytes;

// wgmmas of one product, and of a group: the tensor cores lose clocks between two groups.
template <class T>
inline constexpr int kSteps = kK * static_cast<int>(sizeof(T)) / kWgmmaKBytes;
template <int kN>
inline constexpr int kGroup = std::min(16 * 256 / kN, 64);

// Tensor cores truncate: each addition loses up to one unit of the last place of a sum, which has
// half its final size on average. A sum keeps 23 fraction bits, in fp8 13; a product takes up to
// four steps. In fp8 each of the 32 products of a step is truncated: 5.6 units on an H100.
inline constexpr double kWideError = 0x1p-23 * 4 * kWgmmaIterations / 2;
inline constexpr double kFp8Error = 8 * 0x1p-13 * kProductIterations / 2;

// Copies `rows` rows of kElements elements into boxes, or zeros them.
template <class T, int kElements = kK>
__device__ void fill(std::byte* boxes, const T* from, int rows, bool zero) {
  constexpr int row_vectors = kElements / kVectorElements<T>;
  for (int id = static_cast<int>(threadIdx.x); id < rows * row_vectors; id += kWarpgroup) {
    const int row = id / row_vectors;
    std::byte* const to = boxes + row / kBoxRows * kBoxBytes +
                          swizzle_128b(row % kBoxRows, id % row_vectors * kVectorBytes);
    *reinterpret_cast<uint4*>(to) = zero ? uint4{} : reinterpret_cast<const uint4*>(from)[id];
  }
}

template <class T, int kN>
__device__ void load(std::byte* boxes, const T* a, const T* b, bool zero) {
  fill(boxes, a, kM, zero);
  fill(boxes + kM * kRowBytes, b, kN, zero);
  fence_proxy_async();
  __syncthreads();
}

// The operands in shared memory, as load() leaves them. A step of the instruction takes kStepsOfB
// times as many bytes of B as of A.
template <class Instruction, int kStepsOfB = 1>
struct SharedOperands {
  std::uint64_t a, b;

  __device__ explicit SharedOperands(const std::byte* boxes)
      : a(matrix_descriptor(shared_address(boxes))),
        b(matrix_descriptor(shared_address(boxes + kM * kRowBytes))) {}

  template <class Sum>
  __device__ void multiply_add(Sum& d, int step, bool accumulate) const {
    Instruction::multiply_add(d, a + k_step_offset(true, step),
                              b + k_step_offset(true, kStepsOfB * step), accumulate);
  }
};

// wgmma of 64 x N.
template <class T, int kN>
struct DenseWgmma {
  static __device__ void multiply_add(WgmmaAccumulators<kN>& d, std::uint64_t a, std::uint64_t b,
                                      bool accumulate) {
    wgmma_mma_async<T, T, kN>(d, a, b, accumulate);
  }
};

// Starts d = A B (+ d, if `accumulate`), then adds A B kAgain more times, all as one group.
template <class T, int kN, int kAgain, class Operands, class Sum>
__device__ void multiply(Sum (&d)[kN / 2], const Operands& operands, bool accumulate) {
  warpgroup_fence_operand(d);
  warpgroup_arrive();
#pragma unroll
  for (int i = 0; i < (1 + kAgain) * kSteps<T>; ++i) {
    operands.multiply_add(d, i % kSteps<T>, accumulate || i > 0);
  }
  warpgroup_commit_batch();
  warpgroup_fence_operand(d);
}

// Products of a group of wgmmas.
template <class T, int kN>
inline constexpr int kProductsOfGroup = kGroup<kN> / kSteps<T>;

// d = count A B (+ d, if `accumulate`). Whole groups come first, so that fewest products have a
// group of their own. Waits for the sums.
template <class T, int kN, class Operands, class Sum>
__device__ void add_products(Sum (&d)[kN / 2], const Operands& operands, int count,
                             bool accumulate) {
  constexpr int products = kProductsOfGroup<T, kN>;
  int i = 0;
#pragma unroll 1
  for (; i + products <= count; i += products) {
    multiply<T, kN, products - 1>(d, operands, accumulate || i > 0);
    warpgroup_wait<1>();
  }
#pragma unroll 1
  for (; i < count; ++i) {
    multiply<T, kN, 0>(d, operands, accumulate || i > 0);
    warpgroup_wait<1>();
  }
  warpgroup_wait<0>();
  warpgroup_fence_operand(d);
}

// Products of a block's first sum, of `most` in a later one, in whole groups of `group`. The blocks
// of an SM end their sums at different times, so that one adds its sums to the result while the
// others multiply.
__device__ inline int first_sum(int most, int group) {
  const unsigned third = blockIdx.x * kWgmmaBlocksPerSm / gridDim.x + 1;
  return most * static_cast<int>(third) / kWgmmaBlocksPerSm / group * group;
}

// y = scale d (+ y, if `add`) for this thread's elements of a tile.
template <int kN>
__device__ void store(float* y, const WgmmaAccumulators<kN>& d, float scale, bool add) {
  const int thread = static_cast<int>(threadIdx.x);
  float* const first = y + accumulator_row(thread, 0) * kN + accumulator_column(thread, 0);
#pragma unroll
  for (int s = 0; s < kN / 2; s += 2) {
    // An offset that does not depend on the thread is part of the instruction.
    float* const to = first + accumulator_row(0, s) * kN + accumulator_column(0, s);
    const float2 before = add ? *reinterpret_cast<const float2*>(to) : make_float2(0, 0);
    *reinterpret_cast<float2*>(to) =
        make_float2(before.x + scale * d[s], before.y + scale * d[s + 1]);
  }
}

// Products of one sum, for which kWideError and kFp8Error hold.
template <class T>
inline constexpr int kProductsOfSum =
    static_cast<int>(sizeof(T) == 1 ? kProductIterations : kWgmmaIterations);
inline constexpr int kOneSum = std::numeric_limits<int>::max();

// y = iterations A B, in sums of kProducts products, which are added up in fp32: in registers or in
// y.
template <class T, int kN, int kProducts, bool kInRegisters = false, class Operands>
__device__ void add_up(float* y, const Operands& operands, int iterations) {
  WgmmaAccumulators<kN> d;
  [[maybe_unused]] WgmmaAccumulators<kN> total = {};
  constexpr int group = kProductsOfGroup<T, kN>;
  static_assert(kProducts / kWgmmaBlocksPerSm >= group, "the first sum has no product");
  int count = min(iterations, kProducts == kOneSum ? kProducts : first_sum(kProducts, group));
#pragma unroll 1
  for (int done = 0; done < iterations; done += count, count = min(iterations - done, kProducts)) {
    add_products<T, kN>(d, operands, count, false);
    if constexpr (kInRegisters) {
#pragma unroll
      for (int i = 0; i < kN / 2; ++i) total[i] += d[i];
    } else {
      store<kN>(y, d, 1, done > 0);
    }
  }
  if constexpr (kInRegisters) store<kN>(y, total, 1, false);
}

// Part of Technique::supports of the ceilings.
inline std::optional<std::string> wgmma_limit(const Machine& machine, const Shape& shape,
                                              TileSize tile) {
  if (machine.compute_capability != 90) return "runs on compute capability 9.0 only";
  if (auto reason = tile_limit(shape, tile)) return reason;
  if (auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], 1);
}

// The launch of a kernel each of whose blocks, a warpgroup, multiplies a tile.
template <int kN, class T, class Sum>
Launch launch_tiles(void (*kernel)(const T*, const T*, Sum*, int), Queue& queue, const Shape& shape,
                    const T* a, const T* b, Sum* y) {
  require_aligned(a);
  require_aligned(b);
  require_aligned(y);
  set_max_dynamic_shared_bytes(kernel, kSharedBytes<kN>);
  const ClusterGrid grid{.blocks = dim3(blocks_for(shape["tiles"], 1)),
                         .threads = kWarpgroup,
                         .shared_bytes = kSharedBytes<kN>,
                         .stream = stream_of(queue)};
  return [=, iterations = chain_length(shape["iterations"])] {
    launch(kernel, grid, a, b, y, iterations);
  };
}

}  // namespace ridgebench::cuda
