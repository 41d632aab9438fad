// Tensor cores by wgmma whose A is sparse: as tensor_wgmma.cu, with A stored as 64 x 32 and B of
// 256 x 64. The limit is the tensor cores' rate, in which an instruction does the work of two dense
// ones, or the rate at which shared memory gives twice as much of B.
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"
#include "kernels/ceilings/sweep/sparse.hpp"
#include "kernels/common/cuda/ptx/wgmma_sparse.cuh"

namespace ridgebench::cuda::ceilings_sparse_wgmma {

constexpr int kN = static_cast<int>(kSparseWarpgroupTile.n);
constexpr int kDepth = static_cast<int>(kSparseWarpgroupTile.k);  // of B

// A step takes 32 bytes of a row of A and 64 of B.
template <class T>
struct SparseWgmma {
  static __device__ void multiply_add(WgmmaAccumulators<kN>& d, std::uint64_t a, std::uint64_t b,
                                      bool accumulate) {
    wgmma_mma_async_sparse<T>(d, a, b, accumulate);
  }
};

template <class T>
__global__ void __launch_bounds__(kWarpgroup, kSparseBlocksPerSm)
    sparse_wgmma(const T* a, const T* b, float* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  fill(boxes, a + tile * (kM * kK), kM, false);
  fill<T, kDepth>(boxes + kM * kRowBytes, b + tile * (kN * kDepth), kN, false);
  fence_proxy_async();
  __syncthreads();
  add_up<T, kN, kProductsOfSum<T>>(y + tile * (kM * kN), SharedOperands<SparseWgmma<T>, 2>(boxes),
                                   iterations);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  return launch_tiles<kN>(sparse_wgmma<T>, queue, shape, a, b, y);
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (!kWgmmaServesSparse) return "wgmma.sp needs a build with CUDA 12.2";
  return wgmma_limit(machine, shape, kSparseWarpgroupTile);
}

template <class... T>
Registration registration(double error, int accumulator_bits, Types<T...> types) {
  return Registration({.operation = "wgmma_sparse_peak",
                       .name = "wgmma",
                       .engine = Engine::tensor,
                       .supports = supports,
                       .accumulator_bits = accumulator_bits,
                       .accumulation_error = error},
                      types, []<class U>() { return bind<U>; });
}

const Registration half = registration(kWideError, 0, HalfTypes{});
const Registration fp8 = registration(kFp8Error, kFp8SumBits, Fp8Types{});

}  // namespace ridgebench::cuda::ceilings_sparse_wgmma
