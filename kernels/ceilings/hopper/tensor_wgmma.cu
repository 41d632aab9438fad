// Tensor cores by wgmma: a warpgroup loads the operands of one product of 64 x 256 x 32 into shared
// memory and multiplies them again and again. Three blocks share an SM, and all blocks of a launch
// run at once. The limit is the tensor cores' rate on random data, or what the board's power limit
// leaves of it. `wgmma_burst` shows the difference: after the first product it multiplies zeros,
// which cost almost no power.
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"

namespace ridgebench::cuda::ceilings_tensor_wgmma {

constexpr int kN = static_cast<int>(kWarpgroupTile.n);

template <class T, bool kBurst>
__global__ void __launch_bounds__(kWarpgroup, kWgmmaBlocksPerSm)
    tensor_wgmma(const T* a, const T* b, float* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  load<T, kN>(boxes, a + tile * (kM * kK), b + tile * (kN * kK), false);
  const SharedOperands<DenseWgmma<T, kN>> operands(boxes);
  if constexpr (kBurst) {
    WgmmaAccumulators<kN> d;
    multiply<T, kN, 0>(d, operands, false);
    warpgroup_wait<0>();
    __syncthreads();
    load<T, kN>(boxes, nullptr, nullptr, true);
    add_products<T, kN>(d, operands, iterations - 1, true);
    store<kN>(y + tile * (kM * kN), d, static_cast<float>(iterations), false);
  } else {
    // The few bits that sums of fp8 keep would be lost in a longer sum.
    constexpr int products = sizeof(T) == 1 ? kProductsOfSum<T> : kOneSum;
    add_up<T, kN, products>(y + tile * (kM * kN), operands, iterations);
  }
}

template <class T, bool kBurst>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  return launch_tiles<kN>(tensor_wgmma<T, kBurst>, queue, shape, a, b, y);
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  return wgmma_limit(machine, shape, kWarpgroupTile);
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
