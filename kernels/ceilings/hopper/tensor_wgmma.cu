// Tensor cores by wgmma: a warpgroup loads the operands of one product of 64 x 256 x 32 into shared
// memory, as the instruction wants them, and multiplies them again and again. Three blocks share an
// SM, so that one can load and store while others multiply. The limit is the tensor cores' rate on
// random numbers, or what the board's power leaves of it. `wgmma_burst` shows the difference: it
// multiplies the numbers once and zeros, which cost next to no power, all other times.
#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/products.hpp"
#include "kernels/common/cuda/cluster_launch.cuh"
#include "kernels/common/cuda/vec16.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/ptx/warpgroup.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_sums.hpp"
#include "kernels/common/cuda/unit.hpp"

namespace ridgebench::cuda {
namespace {

constexpr int kM = static_cast<int>(kWarpgroupTile.m);
constexpr int kN = static_cast<int>(kWarpgroupTile.n);
constexpr int kK = static_cast<int>(kWarpgroupTile.k);
constexpr int kSharedBytes = (kM + kN) * kLineBytes;
using Sums = WgmmaAccumulators<kN>;

// Instructions of one product, and of a group: the tensor cores lose clocks between two groups.
template <class T>
inline constexpr int kSteps = kK * static_cast<int>(sizeof(T)) / kStepBytes;
inline constexpr int kGroup = 16;

// Copies `vectors` vectors of kK numbers into units, or sets as many to zero.
template <class T>
__device__ void fill(std::byte* units, const T* from, int vectors, bool zero) {
  constexpr int packs = kK / kVectorElements<T>;
  for (int id = static_cast<int>(threadIdx.x); id < vectors * packs; id += kWarpgroup) {
    const int vector = id / packs;
    std::byte* const to = units + vector / kUnitLines * kUnitBytes +
                          swizzled(vector % kUnitLines, id % packs * kVectorBytes);
    *reinterpret_cast<uint4*>(to) = zero ? uint4{} : reinterpret_cast<const uint4*>(from)[id];
  }
}

template <class T>
__device__ void load(std::byte* units, const T* a, const T* b, bool zero) {
  fill(units, a, kM, zero);
  fill(units + kM * kLineBytes, b, kN, zero);
  fence_proxy_async();
  __syncthreads();
}

// Starts sum = A B (+ sum, if `add`), and adds A B again kAgain times, as one group.
template <class T, int kAgain>
__device__ void multiply(Sums& sum, const std::byte* units, bool add) {
  const std::uint64_t a = matrix_descriptor(shared_address(units));
  const std::uint64_t b = matrix_descriptor(shared_address(units + kM * kLineBytes));
  warpgroup_fence_operand(sum);
  warpgroup_arrive();
#pragma unroll
  for (int i = 0; i < (1 + kAgain) * kSteps<T>; ++i) {
    const int step = i % kSteps<T>;
    wgmma_mma_async<T, T, kN>(sum, a + step_offset(true, step), b + step_offset(true, step),
                              add || i > 0);
  }
  warpgroup_commit_batch();
  warpgroup_fence_operand(sum);
}

template <class T, bool kBurst>
__global__ void __launch_bounds__(kWarpgroup, 3)
    tensor_wgmma(const T* a, const T* b, float* y, int iterations) {
  alignas(kUnitAlignment) extern __shared__ std::byte units[];
  const std::int64_t tile = blockIdx.x;
  Sums sum;
  load(units, a + tile * (kM * kK), b + tile * (kN * kK), false);
  multiply<T, 0>(sum, units, false);
  if constexpr (kBurst) {
    warpgroup_wait<0>();
    __syncthreads();
    load<T>(units, nullptr, nullptr, true);
  }
  constexpr int products = kGroup / kSteps<T>;
  int i = 1;
#pragma unroll 1
  for (; i + products <= iterations; i += products) {
    multiply<T, products - 1>(sum, units, true);
    warpgroup_wait<1>();
  }
#pragma unroll 1
  for (; i < iterations; ++i) {
    multiply<T, 0>(sum, units, true);
    warpgroup_wait<1>();
  }
  warpgroup_wait<0>();
  warpgroup_fence_operand(sum);

  const int thread = static_cast<int>(threadIdx.x);
  const float scale = kBurst ? static_cast<float>(iterations) : 1.0F;
#pragma unroll
  for (int s = 0; s < kN / 2; s += 2) {
    float* const to =
        y + (tile * kM + accumulator_row(thread, s)) * kN + accumulator_column(thread, s);
    *reinterpret_cast<float2*>(to) = make_float2(scale * sum[s], scale * sum[s + 1]);
  }
}

template <class T, bool kBurst>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  require_hopper();
  require_aligned(a);
  require_aligned(b);
  require_aligned(y);
  constexpr auto kernel = tensor_wgmma<T, kBurst>;
  allow_shared(kernel, kSharedBytes);
  const ClusterGrid grid{.blocks = dim3(blocks_for(shape["tiles"], 1)),
                         .threads = kWarpgroup,
                         .shared_bytes = kSharedBytes,
                         .stream = stream_of(queue)};
  return [=, iterations = chain_length(shape["iterations"])] {
    launch(kernel, grid, a, b, y, iterations);
  };
}

// Tensor cores cut off what a sum cannot hold: up to one unit of its last place at each addition,
// of a sum that is half its final size on average. In fp8 a sum has 13 bits behind the leading one
// (kernels/common/cuda/fp8_accumulation.cuh), else 23, and there are up to four steps to a product.
// Of the 32 products of a step in fp8 each is cut off by itself, which an H100 shows: 5.6 units.
constexpr double kWideError = 0x1p-23 * 4 * kProductIterations / 2;
constexpr double kFp8Error = 8 * 0x1p-13 * kProductIterations / 2;

constexpr Technique technique(std::string_view name, double approximation_error) {
  return {.operation = "wgmma_peak",
          .name = name,
          .engine = Engine::tensor,
          .approximation_error = approximation_error};
}

template <bool kBurst>
Registration wide(std::string_view name) {
  return Registration(technique(name, kWideError), bind<Tf32, kBurst>, bind<Fp16, kBurst>,
                      bind<Bf16, kBurst>);
}
template <bool kBurst>
Registration fp8(std::string_view name) {
  return Registration(technique(name, kFp8Error), bind<Fp8E4m3, kBurst>, bind<Fp8E5m2, kBurst>);
}

const Registration sustained[] = {wide<false>("wgmma"), fp8<false>("wgmma")};
const Registration burst[] = {wide<true>("wgmma_burst"), fp8<true>("wgmma_burst")};

}  // namespace
}  // namespace ridgebench::cuda
