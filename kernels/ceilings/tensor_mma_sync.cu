// Tensor cores by mma.sync, fed from registers alone: a warp loads all fragments of one tile of
// 32 x 32 x 32 and multiplies them again and again into eight independent accumulators of 16 x 8.
// The limit is the rate at which the tensor cores accept mma.sync: their full rate up to compute
// capability 8.9, two thirds of it on 9.0, where only wgmma reaches the rest.
#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/products.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/mma.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda::ceilings_tensor_mma_sync {

constexpr int kWarps = 4;  // small blocks, so that one loads while others multiply
// Tensor cores truncate what they cannot hold, above all in fp8 (see kFp8Error). After this number
// of products the kernel adds the accumulators to totals by ordinary, rounding additions.
constexpr int kProductsPerSum = 16;
constexpr int kM = static_cast<int>(kTensorTile.m);
constexpr int kN = static_cast<int>(kTensorTile.n);
constexpr int kK = static_cast<int>(kTensorTile.k);

// Word `word` of row `row` of a tile with rows of kK elements.
template <class T>
__device__ std::uint32_t load_word(const T* tile, int row, int word) {
  return reinterpret_cast<const std::uint32_t*>(tile)[row * (kK / Mma<T>::kPerWord) + word];
}

// All fragments of a tile, in the layout of kernels/common/cuda/ptx/mma.cuh.
template <class T>
struct Fragments {
  static constexpr int kRows = kM / Mma<T>::kM;
  static constexpr int kColumns = kN / Mma<T>::kN;
  static constexpr int kSteps = kK / Mma<T>::kK;
  using Accumulators = float[kRows * kColumns][4];

  std::uint32_t a[kSteps][kRows][4];
  std::uint32_t b[kSteps][kColumns][2];

  __device__ Fragments(const T* tile_a, const T* tile_b, int lane) {
    const int group = lane / 4;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int word = step * Mma<T>::kWords + lane % 4;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          a[step][i][r] = load_word(tile_a, i * 16 + group + 8 * (r % 2), word + 4 * (r / 2));
        }
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
#pragma unroll
        for (int r = 0; r < 2; ++r) b[step][j][r] = load_word(tile_b, j * 8 + group, word + 4 * r);
      }
    }
  }

  __device__ void multiply_add(Accumulators& sum) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int t = 0; t < kRows * kColumns; ++t) {
        Mma<T>::multiply_add(sum[t], a[step][t / kColumns], b[step][t % kColumns]);
      }
    }
  }

  // total += `count` times the product.
  __device__ void add_products(int count, Accumulators& total) const {
    Accumulators sum = {};
#pragma unroll 4
    for (int i = 0; i < count; ++i) multiply_add(sum);
#pragma unroll
    for (int t = 0; t < kRows * kColumns; ++t) {
#pragma unroll
      for (int r = 0; r < 4; ++r) total[t][r] += sum[t][r];
    }
  }

  static __device__ void store(float* y, int lane, const Accumulators& total) {
#pragma unroll
    for (int t = 0; t < kRows * kColumns; ++t) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int row = t / kColumns * 16 + lane / 4 + 8 * (r / 2);
        y[row * kN + t % kColumns * 8 + 2 * (lane % 4) + r % 2] = total[t][r];
      }
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kWarps* kWarp)
    tensor_peak_mma_sync(const T* a, const T* b, float* y, std::int64_t tiles, int iterations) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t tile = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (tile >= tiles) return;
  const Fragments<T> fragments(a + tile * (kM * kK), b + tile * (kN * kK), lane);
  typename Fragments<T>::Accumulators total = {};
#pragma unroll 1
  for (int left = iterations; left > 0; left -= kProductsPerSum) {
    fragments.add_products(min(left, kProductsPerSum), total);
  }
  Fragments<T>::store(y + tile * (kM * kN), lane, total);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  require_aligned(a);
  require_aligned(b);
  const std::int64_t tiles = shape["tiles"];
  const unsigned blocks = blocks_for(tiles, kWarps);
  return [=, iterations = chain_length(shape["iterations"]), stream = stream_of(queue)] {
    tensor_peak_mma_sync<<<blocks, kWarps * kWarp, 0, stream>>>(a, b, y, tiles, iterations);
  };
}

// Sums of fp8 products keep 13 fraction bits (fp8_accumulation.hpp has the sources), and each
// product is truncated to them. A sum of kProductsPerSum x kK terms that grows evenly thus loses up
// to kK / 2 units of 2^-13 per step, of a sum that is half its final size on average.
constexpr double kFp8Error = 0x1p-13 * (kK / 2) * (kProductsPerSum / 2);

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair format) {
  if (machine.compute_capability < 80) return "mma.sync needs compute capability 8.0";
  if (info(format.a).storage_bytes == 1) {
    if (const auto reason = mma_lacks_fp8(machine)) return reason;
    const int capability = machine.compute_capability;
    // By conversions to fp16 and fp16 products, which the compiler computes once and adds often.
    if (capability >= 90 && capability < 120) {
      return "compute capabilities 9.0 and 10.x emulate mma.sync in fp8";
    }
  }
  if (const auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], kWarps);
}

const Registration mma_sync{[]<class T>() {
                              return Technique{.operation = "tensor_peak",
                                               .name = "mma_sync",
                                               .engine = Engine::tensor,
                                               .supports = supports,
                                               .accumulation_error = kIsFp8<T> ? kFp8Error : 0,
                                               .full_rate = mma_sync_is_full_rate};
                            },
                            Types<Tf32>{} + HalfTypes{} + Fp8Types{},
                            []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::ceilings_tensor_mma_sync
