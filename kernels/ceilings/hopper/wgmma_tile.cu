// Tensor cores by wgmma of 64 x N: three warpgroups an SM, as in tensor_wgmma.cu, each with a chain
// of wgmmas on its own accumulators. With a small N the limit is the time in which an instruction
// reads A from shared memory (wgmma_ss) or from registers (wgmma_rs), or the latency of its chain;
// with a large one it is the tensor cores' rate.
#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"
#include "kernels/ceilings/sweep/wgmma_tile.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda::ceilings_wgmma_tile {

// Products of one sum, for which kWideError and kFp8Error hold.
template <class T>
inline constexpr int kProductsOfSum =
    static_cast<int>(sizeof(T) == 1 ? kProductIterations : kWgmmaIterations);

// A thread's registers hold the total of all sums beside a sum up to this N; of a larger tile the
// total is in global memory.
inline constexpr int kMostInRegisters = 128;

// B in shared memory, as load() leaves it, and this thread's part of A in registers.
template <class T, int kN>
struct RegisterOperands {
  WgmmaFragmentA a[kSteps<T>];
  std::uint64_t b;

  __device__ RegisterOperands(const T* tile_a, const std::byte* boxes)
      : b(matrix_descriptor(shared_address(boxes + kM * kRowBytes))) {
    constexpr int row_words = kK * static_cast<int>(sizeof(T)) / 4;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(tile_a);
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int row = static_cast<int>(threadIdx.x) / kWarp * 16 + lane / 4;
#pragma unroll
    for (int step = 0; step < kSteps<T>; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int word = step * (kWgmmaKBytes / 4) + lane % 4 + i / 2 * 4;
        a[step][i] = words[(row + i % 2 * 8) * row_words + word];
      }
      warpgroup_fence_operand(a[step]);
    }
  }

  __device__ void multiply_add(WgmmaAccumulators<kN>& d, int step, bool accumulate) const {
    wgmma_mma_async_rs<T, kN>(d, a[step], b + k_step_offset(true, step), accumulate);
  }
};

template <class T, int kN, class Operands>
__device__ void add_up(float* y, const Operands& operands, int iterations) {
  WgmmaAccumulators<kN> d;
  WgmmaAccumulators<kN> total = {};
  int count = min(iterations, first_sum(kProductsOfSum<T>));
#pragma unroll 1
  for (int done = 0; done < iterations;
       done += count, count = min(iterations - done, kProductsOfSum<T>)) {
    multiply<T, kN, 0>(d, operands, false);
    add_products<T, kN>(d, operands, count - 1);
    if constexpr (kN <= kMostInRegisters) {
#pragma unroll
      for (int i = 0; i < kN / 2; ++i) total[i] += d[i];
    } else {
      store<kN>(y, d, 1, done > 0);
    }
  }
  if constexpr (kN <= kMostInRegisters) store<kN>(y, total, 1, false);
}

template <class T, int kN, bool kFromRegisters>
__global__ void __launch_bounds__(kWarpgroup, kWgmmaBlocksPerSm)
    wgmma_tile(const T* a, const T* b, float* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  const T* const tile_a = a + tile * (kM * kK);
  load<T, kN>(boxes, tile_a, b + tile * (kN * kK), false);
  if constexpr (kFromRegisters) {
    add_up<T, kN>(y + tile * (kM * kN), RegisterOperands<T, kN>(tile_a, boxes), iterations);
  } else {
    add_up<T, kN>(y + tile * (kM * kN), SharedOperands<T, kN>(boxes), iterations);
  }
}

// Calls use.operator()<n>(), n one of kWgmmaWidths.
template <std::size_t... kIndex, class Use>
Launch with_width(std::int64_t n, const Use& use, std::index_sequence<kIndex...> /*indices*/) {
  Launch launch;
  const auto try_width = [&]<int kN>() {
    if (n == kN) launch = use.template operator()<kN>();
  };
  (try_width.template operator()<static_cast<int>(kWgmmaWidths[kIndex])>(), ...);
  if (!launch) throw Unsupported("wgmma has no instruction of this n");
  return launch;
}

template <class T, bool kFromRegisters>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  require_aligned(a);
  require_aligned(b);
  const auto of_width = [&]<int kN>() -> Launch {
    constexpr auto kernel = wgmma_tile<T, kN, kFromRegisters>;
    set_max_dynamic_shared_bytes(kernel, kSharedBytes<kN>);
    const ClusterGrid grid{.blocks = dim3(blocks_for(shape["tiles"], 1)),
                           .threads = kWarpgroup,
                           .shared_bytes = kSharedBytes<kN>,
                           .stream = stream_of(queue)};
    return [=, iterations = chain_length(shape["iterations"])] {
      launch(kernel, grid, a, b, y, iterations);
    };
  };
  return with_width(shape["n"], of_width, std::make_index_sequence<kWgmmaWidths.size()>());
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability != 90) return "runs on compute capability 9.0 only";
  if (shape["m"] != kM || shape["k"] != kK) return "a tile has m = 64 and k = 32";
  if (std::ranges::find(kWgmmaWidths, shape["n"]) == kWgmmaWidths.end()) {
    return "n is none of 8, 16, 32, 64, 96, 128, 192, 256";
  }
  if (auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["tiles"], 1);
}

template <class T, bool kFromRegisters>
Registration registration() {
  constexpr bool fp8 = sizeof(T) == 1;
  return Registration({.operation = "wgmma_tile",
                       .name = kFromRegisters ? "wgmma_rs" : "wgmma_ss",
                       .engine = Engine::tensor,
                       .supports = supports,
                       .accumulator_bits = fp8 ? kFp8SumBits : 0,
                       .accumulation_error = fp8 ? kFp8Error : kWideError},
                      bind<T, kFromRegisters>);
}

const Registration bf16[] = {registration<Bf16, false>(), registration<Bf16, true>()};
const Registration fp8[] = {registration<Fp8E4m3, false>(), registration<Fp8E4m3, true>()};

}  // namespace ridgebench::cuda::ceilings_wgmma_tile
