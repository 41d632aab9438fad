// Tensor cores by wgmma of 64 x N: three warpgroups an SM, as in tensor_wgmma.cu, each with a chain
// of wgmmas on its own accumulators. With a small N the limit is the time in which an instruction
// reads A from shared memory (wgmma_ss) or from registers (wgmma_rs), or the latency of its chain;
// with a large one it is the tensor cores' rate.
#include "kernels/ceilings/hopper/repeated_wgmma.cuh"
#include "kernels/ceilings/sweep/wgmma_tile.hpp"

namespace ridgebench::cuda::ceilings_wgmma_tile {

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

template <class T, int kN, bool kFromRegisters>
__global__ void __launch_bounds__(kWarpgroup, kWgmmaBlocksPerSm)
    wgmma_tile(const T* a, const T* b, float* y, int iterations) {
  alignas(kAtomBytes) extern __shared__ std::byte boxes[];
  const std::int64_t tile = blockIdx.x;
  const T* const tile_a = a + tile * (kM * kK);
  load<T, kN>(boxes, tile_a, b + tile * (kN * kK), false);
  const auto use = [&](const auto& operands) {
    add_up<T, kN, kProductsOfSum<T>, kN <= kMostInRegisters>(y + tile * (kM * kN), operands,
                                                             iterations);
  };
  if constexpr (kFromRegisters) {
    use(RegisterOperands<T, kN>(tile_a, boxes));
  } else {
    use(SharedOperands<DenseWgmma<T, kN>>(boxes));
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
  const auto of_width = [&]<int kN>() {
    return launch_tiles<kN>(wgmma_tile<T, kN, kFromRegisters>, queue, shape, a, b, y);
  };
  return with_width(shape["n"], of_width, std::make_index_sequence<kWgmmaWidths.size()>());
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  TileSize tile = kWarpgroupTile;
  tile.n = shape["n"];
  if (auto reason = wgmma_limit(machine, shape, tile)) return reason;
  if (std::ranges::find(kWgmmaWidths, tile.n) != kWgmmaWidths.end()) return std::nullopt;
  return "n is none of 8, 16, 32, 64, 96, 128, 192, 256";
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
