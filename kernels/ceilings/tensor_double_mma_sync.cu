// Tensor cores in fp64 by mma.sync, fed from registers alone: a warp loads all fragments of one
// tile of 32 x 32 x 16 and multiplies them again and again into 16 independent accumulators of
// 8 x 8, or 8 of 16 x 8. The limit is the rate at which the tensor cores accept the instruction:
// mma_8x8x4 exists since compute capability 8.0, mma_16x8x16 since 9.0.
#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/tensor_double.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/mma_f64.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda::ceilings_tensor_double_mma_sync {

constexpr int kWarps = 4;
constexpr int kM = static_cast<int>(kDoubleTile.m);
constexpr int kN = static_cast<int>(kDoubleTile.n);
constexpr int kK = static_cast<int>(kDoubleTile.k);

// All fragments of a tile, in the layout of kernels/common/cuda/ptx/mma_f64.cuh.
template <class Mma>
struct Fragments {
  static constexpr int kRows = kM / Mma::kM;
  static constexpr int kColumns = kN / Mma::kN;
  static constexpr int kSteps = kK / Mma::kK;
  static constexpr int kHeight = Mma::kM / 8;
  using Accumulators = double[kRows * kColumns][Mma::kD];

  double a[kSteps][kRows][Mma::kA];
  double b[kSteps][kColumns][Mma::kB];

  __device__ Fragments(const double* tile_a, const double* tile_b, int lane) {
    const int group = lane / 4;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int column = step * Mma::kK + lane % 4;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int r = 0; r < Mma::kA; ++r) {
          const int row = i * Mma::kM + group + 8 * (r % kHeight);
          a[step][i][r] = tile_a[row * kK + column + 4 * (r / kHeight)];
        }
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
#pragma unroll
        for (int r = 0; r < Mma::kB; ++r) {
          b[step][j][r] = tile_b[(j * Mma::kN + group) * kK + column + 4 * r];
        }
      }
    }
  }

  __device__ void multiply_add(Accumulators& sum) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int t = 0; t < kRows * kColumns; ++t) {
        Mma::multiply_add(sum[t], a[step][t / kColumns], b[step][t % kColumns]);
      }
    }
  }

  static __device__ void store(double* y, int lane, const Accumulators& sum) {
#pragma unroll
    for (int t = 0; t < kRows * kColumns; ++t) {
#pragma unroll
      for (int r = 0; r < Mma::kD; ++r) {
        const int row = t / kColumns * Mma::kM + lane / 4 + 8 * (r / 2);
        y[row * kN + t % kColumns * Mma::kN + 2 * (lane % 4) + r % 2] = sum[t][r];
      }
    }
  }
};

template <class Mma>
__global__ void __launch_bounds__(kWarps* kWarp)
    tensor_double_peak(const double* a, const double* b, double* y, std::int64_t tiles,
                       int iterations) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t tile = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (tile >= tiles) return;
  const Fragments<Mma> fragments(a + tile * (kM * kK), b + tile * (kN * kK), lane);
  typename Fragments<Mma>::Accumulators sum = {};
#pragma unroll 4
  for (int i = 0; i < iterations; ++i) fragments.multiply_add(sum);
  Fragments<Mma>::store(y + tile * (kM * kN), lane, sum);
}

template <class Mma>
Launch bind(Queue& queue, const Shape& shape, const double* a, const double* b, double* y) {
  const std::int64_t tiles = shape["tiles"];
  const unsigned blocks = blocks_for(tiles, kWarps);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    tensor_double_peak<Mma><<<blocks, kWarps * kWarp, 0, stream>>>(a, b, y, tiles, iterations);
  };
}

template <class Mma>
std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability < Mma::kLeastCapability) {
    return Mma::kM == 8 ? "mma.sync in fp64 needs compute capability 8.0"
                        : "mma.sync.m16n8k16 in fp64 needs compute capability 9.0";
  }
  if (const auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], kWarps);
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
