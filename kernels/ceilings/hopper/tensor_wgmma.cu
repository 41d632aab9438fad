// Tensor cores by wgmma: a warpgroup loads the operands of one product of 64 x 256 x 32 into shared
// memory and multiplies them again and again. Three blocks share an SM, so that one can load and
// store while others multiply. The limit is the tensor cores' rate on random data, or what the
// board's power limit leaves of it. `wgmma_burst` shows the difference: after the first product it
// multiplies zeros, which cost almost no power.
#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/products.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/fp8_accumulation.hpp"

namespace ridgebench::cuda {
namespace {

constexpr int kM = static_cast<int>(kWarpgroupTile.m);
constexpr int kN = static_cast<int>(kWarpgroupTile.n);
constexpr int kK = static_cast<int>(kWarpgroupTile.k);
constexpr int kSharedBytes = (kM + kN) * kRowBytes;
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

template <class T, bool kBurst>
__global__ void __launch_bounds__(kWarpgroup, 3)
    tensor_wgmma(const T* a, const T* b, float* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  Accumulators d;
  load(boxes, a + tile * (kM * kK), b + tile * (kN * kK), false);
  multiply<T, 0>(d, boxes, false);
  if constexpr (kBurst) {
    warpgroup_wait<0>();
    __syncthreads();
    load<T>(boxes, nullptr, nullptr, true);
  }
  constexpr int products = kGroup / kSteps<T>;
  int i = 1;
#pragma unroll 1
  for (; i + products <= iterations; i += products) {
    multiply<T, products - 1>(d, boxes, true);
    warpgroup_wait<1>();
  }
#pragma unroll 1
  for (; i < iterations; ++i) {
    multiply<T, 0>(d, boxes, true);
    warpgroup_wait<1>();
  }
  warpgroup_wait<0>();
  warpgroup_fence_operand(d);

  const int thread = static_cast<int>(threadIdx.x);
  const float scale = kBurst ? static_cast<float>(iterations) : 1.0F;
#pragma unroll
  for (int s = 0; s < kN / 2; s += 2) {
    const std::int64_t row = tile * kM + accumulator_row(thread, s);
    float* const to = y + row * kN + accumulator_column(thread, s);
    *reinterpret_cast<float2*>(to) = make_float2(scale * d[s], scale * d[s + 1]);
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
constexpr double kWideError = 0x1p-23 * 4 * kProductIterations / 2;
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

}  // namespace
}  // namespace ridgebench::cuda
