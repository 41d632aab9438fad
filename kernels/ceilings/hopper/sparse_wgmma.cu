// Tensor cores by wgmma whose A is sparse: as tensor_wgmma.cu, with A stored as 64 x 32 and B of
// 256 x 64. The limit is the tensor cores' rate, in which an instruction does the work of two dense
// ones, or the rate at which shared memory gives twice as much of B.
#include <limits>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"
#include "kernels/ceilings/sweep/sparse.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/wgmma_sparse.cuh"

namespace ridgebench::cuda::ceilings_sparse_wgmma {

constexpr int kN = static_cast<int>(kSparseWarpgroupTile.n);
constexpr int kDepth = static_cast<int>(kSparseWarpgroupTile.k);  // of B

// Products of one sum, for which kWideError and kFp8Error hold.
template <class T>
inline constexpr int kProductsOfSum =
    static_cast<int>(sizeof(T) == 1 ? kProductIterations : kWgmmaIterations);

// The operands in shared memory. A step takes 32 bytes of a row of A and 64 of B.
template <class T>
struct SparseOperands {
  std::uint64_t a, b;

  __device__ explicit SparseOperands(const std::byte* boxes)
      : a(matrix_descriptor(shared_address(boxes))),
        b(matrix_descriptor(shared_address(boxes + kM * kRowBytes))) {}

  __device__ void multiply_add(WgmmaAccumulators<kN>& d, int step, bool accumulate) const {
    wgmma_mma_async_sparse<T>(d, a + k_step_offset(true, step), b + k_step_offset(true, 2 * step),
                              accumulate);
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
  const SparseOperands<T> operands(boxes);
  WgmmaAccumulators<kN> d;
  int count = min(iterations, first_sum(kProductsOfSum<T>));
#pragma unroll 1
  for (int done = 0; done < iterations;
       done += count, count = min(iterations - done, kProductsOfSum<T>)) {
    multiply<T, kN, 0>(d, operands, false);
    add_products<T, kN>(d, operands, count - 1);
    store<kN>(y + tile * (kM * kN), d, 1, done > 0);
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  require_aligned(a);
  require_aligned(b);
  require_aligned(y);
  constexpr auto kernel = sparse_wgmma<T>;
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
  if (!kWgmmaServesSparse) return "wgmma.sp needs a build with CUDA 12.2";
  if (machine.compute_capability != 90) return "runs on compute capability 9.0 only";
  if (shape["m"] != kM || shape["n"] != kN || shape["k"] != kDepth) {
    return "a tile has m = 64, n = 256 and k = 64";
  }
  if (auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], 1);
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
