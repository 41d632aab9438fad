// Tensor cores in int8 by wgmma, as tensor_wgmma.cu, with sums of whole numbers: int32 holds all
// products of a launch, so that no sum is interrupted. The limit is the tensor cores' rate on
// random data, or what the board's power limit leaves of it.
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"
#include "kernels/ceilings/sweep/int8.hpp"
#include "kernels/common/cuda/ptx/wgmma_int8.cuh"

namespace ridgebench::cuda::ceilings_int8_wgmma {

constexpr int kN = static_cast<int>(kWarpgroupTile.n);

struct Int8Wgmma {
  static __device__ void multiply_add(WgmmaInt8Accumulators& d, std::uint64_t a, std::uint64_t b,
                                      bool accumulate) {
    wgmma_mma_async_int8(d, a, b, accumulate);
  }
};

__global__ void __launch_bounds__(kWarpgroup, kWgmmaBlocksPerSm)
    int8_wgmma(const Int8* a, const Int8* b, std::int32_t* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  WgmmaInt8Accumulators d;
  load<Int8, kN>(boxes, a + tile * (kM * kK), b + tile * (kN * kK), false);
  const SharedOperands<Int8Wgmma> operands(boxes);
  add_products<Int8, kN>(d, operands, iterations, false);
  const int thread = static_cast<int>(threadIdx.x);
  std::int32_t* const to =
      y + tile * (kM * kN) + accumulator_row(thread, 0) * kN + accumulator_column(thread, 0);
#pragma unroll
  for (int s = 0; s < kN / 2; s += 2) {
    *reinterpret_cast<int2*>(to + accumulator_row(0, s) * kN + accumulator_column(0, s)) =
        make_int2(d[s], d[s + 1]);
  }
}

Launch bind(Queue& queue, const Shape& shape, const Int8* a, const Int8* b, std::int32_t* y) {
  return launch_tiles<kN>(int8_wgmma, queue, shape, a, b, y);
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  return wgmma_limit(machine, shape, kWarpgroupTile);
}

const Registration wgmma{{.operation = "wgmma_int8_peak",
                          .name = "wgmma",
                          .engine = Engine::tensor,
                          .accumulator = Format::int32,
                          .supports = supports},
                         bind};

}  // namespace ridgebench::cuda::ceilings_int8_wgmma
