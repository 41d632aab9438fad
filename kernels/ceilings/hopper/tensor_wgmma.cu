// Tensor cores by wgmma: a warpgroup loads the operands of one product of 64 x 256 x 32 into shared
// memory and multiplies them again and again. Three blocks share an SM, and all blocks of a launch
// run at once. The limit is the tensor cores' rate on random data, or what the board's power limit
// leaves of it. `wgmma_burst` shows the difference: after the first product it multiplies zeros,
// which cost almost no power.
#include <limits>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/fp8_accumulation.hpp"

namespace ridgebench::cuda::ceilings_tensor_wgmma {

// Products of one sum. The few bits that sums of fp8 keep would be lost in a longer one, so that
// its part is added to the result in fp32.
template <class T>
inline constexpr int kProductsOfSum =
    sizeof(T) == 1 ? static_cast<int>(kProductIterations) : std::numeric_limits<int>::max();

// Products of a block's first sum. The blocks of an SM end their sums at different times, so that
// one adds its sums to the result while the others multiply.
template <class T>
__device__ int first_sum() {
  if (sizeof(T) > 1) return kProductsOfSum<T>;
  const unsigned third = blockIdx.x * kWgmmaBlocksPerSm / gridDim.x + 1;
  return kProductsOfSum<T> * static_cast<int>(third) / kWgmmaBlocksPerSm;
}

// y = scale d (+ y, if `add`) for this thread's elements of a tile.
__device__ void store(float* y, const Accumulators& d, float scale, bool add) {
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

template <class T, bool kBurst>
__global__ void __launch_bounds__(kWarpgroup, kWgmmaBlocksPerSm)
    tensor_wgmma(const T* a, const T* b, float* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  Accumulators d;
  load(boxes, a + tile * (kM * kK), b + tile * (kN * kK), false);
  if constexpr (kBurst) {
    multiply<T, 0>(d, boxes, false);
    warpgroup_wait<0>();
    __syncthreads();
    load<T>(boxes, nullptr, nullptr, true);
    add_products<T>(d, boxes, iterations - 1);
    store(y + tile * (kM * kN), d, static_cast<float>(iterations), false);
    return;
  }
  int count = min(iterations, first_sum<T>());
#pragma unroll 1
  for (int done = 0; done < iterations;
       done += count, count = min(iterations - done, kProductsOfSum<T>)) {
    multiply<T, 0>(d, boxes, false);
    add_products<T>(d, boxes, count - 1);
    store(y + tile * (kM * kN), d, 1, done > 0);
  }
}

template <class T, bool kBurst>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  require_aligned(a);
  require_aligned(b);
  require_aligned(y);
  constexpr auto kernel = tensor_wgmma<T, kBurst>;
  set_max_dynamic_shared_bytes(kernel, kSharedBytes);
  const ClusterGrid grid{.blocks = dim3(blocks_for(shape["tiles"], 1)),
                         .threads = kWarpgroup,
                         .shared_bytes = kSharedBytes,
                         .stream = stream_of(queue)};
  return [=, iterations = chain_length(shape["iterations"])] {
    launch(kernel, grid, a, b, y, iterations);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability != 90) return "runs on compute capability 9.0 only";
  if (auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], 1);
}

// Tensor cores truncate: each addition loses up to one unit of the last place of a sum, which has
// half its final size on average. A sum keeps 23 fraction bits, in fp8 13; a product takes up to
// four steps. In fp8 each of the 32 products of a step is truncated: 5.6 units on an H100.
constexpr double kWideError = 0x1p-23 * 4 * kWgmmaIterations / 2;
constexpr double kFp8Error = 8 * 0x1p-13 * kProductIterations / 2;

template <bool kBurst, class... T>
Registration registration(double error, int accumulator_bits, Types<T...> types) {
  return Registration({.operation = "wgmma_peak",
                       .name = kBurst ? "wgmma_burst" : "wgmma",
                       .engine = Engine::tensor,
                       .supports = supports,
                       .accumulator_bits = accumulator_bits,
                       .accumulation_error = error,
                       .burst = kBurst},
                      types, []<class U>() { return bind<U, kBurst>; });
}

const Registration wide[] = {registration<false>(kWideError, 0, Types<Tf32, Fp16, Bf16>{}),
                             registration<true>(kWideError, 0, Types<Tf32, Fp16, Bf16>{})};
const Registration fp8[] = {registration<false>(kFp8Error, kFp8SumBits, Types<Fp8E4m3, Fp8E5m2>{}),
                            registration<true>(kFp8Error, kFp8SumBits, Types<Fp8E4m3, Fp8E5m2>{})};

}  // namespace ridgebench::cuda::ceilings_tensor_wgmma
