// Tensor cores by wgmma: a warpgroup loads the operands of one product of 64 x 256 x 32 into shared
// memory and multiplies them again and again. Three blocks share an SM, and all blocks of a launch
// run at once. The limit is the tensor cores' rate on random data, or what the board's power limit
// leaves of it. `wgmma_burst` shows the difference: after the first product it multiplies zeros,
// which cost almost no power.
#include <limits>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda::ceilings_tensor_wgmma {

constexpr int kN = static_cast<int>(kWarpgroupTile.n);

// Products of one sum. The few bits that sums of fp8 keep would be lost in a longer one, so that
// its part is added to the result in fp32.
template <class T>
inline constexpr int kProductsOfSum =
    sizeof(T) == 1 ? static_cast<int>(kProductIterations) : std::numeric_limits<int>::max();

template <class T, bool kBurst>
__global__ void __launch_bounds__(kWarpgroup, kWgmmaBlocksPerSm)
    tensor_wgmma(const T* a, const T* b, float* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  WgmmaAccumulators<kN> d;
  load<T, kN>(boxes, a + tile * (kM * kK), b + tile * (kN * kK), false);
  const SharedOperands<T, kN> operands(boxes);
  if constexpr (kBurst) {
    multiply<T, kN, 0>(d, operands, false);
    warpgroup_wait<0>();
    __syncthreads();
    load<T, kN>(boxes, nullptr, nullptr, true);
    add_products<T, kN>(d, operands, iterations - 1);
    store<kN>(y + tile * (kM * kN), d, static_cast<float>(iterations), false);
    return;
  }
  const int first = sizeof(T) == 1 ? first_sum(kProductsOfSum<T>) : kProductsOfSum<T>;
  int count = min(iterations, first);
#pragma unroll 1
  for (int done = 0; done < iterations;
       done += count, count = min(iterations - done, kProductsOfSum<T>)) {
    multiply<T, kN, 0>(d, operands, false);
    add_products<T, kN>(d, operands, count - 1);
    store<kN>(y + tile * (kM * kN), d, 1, done > 0);
  }
}

template <class T, bool kBurst>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  require_aligned(a);
  require_aligned(b);
  require_aligned(y);
  constexpr auto kernel = tensor_wgmma<T, kBurst>;
  set_max_dynamic_shared_bytes(kernel, kSharedBytes<kN>);
  const ClusterGrid grid{.blocks = dim3(blocks_for(shape["tiles"], 1)),
                         .threads = kWarpgroup,
                         .shared_bytes = kSharedBytes<kN>,
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
