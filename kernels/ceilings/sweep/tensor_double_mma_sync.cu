// Tensor cores in fp64 by mma.sync, as tensor_mma_sync.cu, on tiles of 32 x 32 x 16 and with 16
// accumulators of 8 x 8, or 8 of 16 x 8. The limit is the rate at which the tensor cores accept the
// instruction: mma_8x8x4 exists since compute capability 8.0, mma_16x8x16 since 9.0.
#include "kernels/ceilings/repeated_mma.cuh"
#include "kernels/ceilings/sweep/tensor_double.hpp"
#include "kernels/common/cuda/ptx/mma_f64.cuh"

namespace ridgebench::cuda::ceilings_tensor_double_mma_sync {

template <class Mma>
struct Instruction : MmaShape<double, double, Mma::kM, Mma::kA, Mma::kB> {
  static constexpr int kSteps = static_cast<int>(kDoubleTile.k) / Mma::kK;
  static __device__ void multiply_add(double (&d)[Mma::kD], const double (&a)[Mma::kA],
                                      const double (&b)[Mma::kB]) {
    Mma::multiply_add(d, a, b);
  }
};

template <class Mma>
__global__ void __launch_bounds__(kMmaThreads)
    tensor_double_peak(const double* a, const double* b, double* y, std::int64_t tiles,
                       int iterations) {
  multiply_tiles<Instruction<Mma>>(a, b, y, tiles, iterations);
}

template <class Mma>
Launch bind(Queue& queue, const Shape& shape, const double* a, const double* b, double* y) {
  return launch_tiles(tensor_double_peak<Mma>, queue, shape, a, b, y);
}

template <class Mma>
std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability < Mma::kLeastCapability) {
    return Mma::kM == 8 ? "mma.sync in fp64 needs compute capability 8.0"
                        : "mma.sync.m16n8k16 in fp64 needs compute capability 9.0";
  }
  return mma_limit(shape, kDoubleTile);
}

template <class Mma>
Technique technique(const std::string& name) {
  return {.operation = "tensor_double_peak",
          .name = name,
          .engine = Engine::tensor,
          .accumulator = Format::fp64,
          .supports = supports<Mma>};
}

const Registration small{technique<MmaF64<8>>("mma_8x8x4"), bind<MmaF64<8>>};
const Registration large{technique<MmaF64<16>>("mma_16x8x16"), bind<MmaF64<16>>};

}  // namespace ridgebench::cuda::ceilings_tensor_double_mma_sync
