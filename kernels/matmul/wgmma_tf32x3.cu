// Products of fp32 numbers on tensor cores that know tf32: a number is split into what tf32 holds
// of it and the rest, and a product becomes three, high x high + high x low + low x high. The
// hardware reads the high part by itself, for it ignores the last 13 bits; the low one is computed
// once per number, by warps of the loading warpgroup, from shared memory to shared memory. The
// limit is a third of the tensor rate in tf32: more than twice that of the FMA units.
#include "kernels/common/cuda/cluster_launch.cuh"
#include "kernels/common/cuda/ring.hpp"
#include "kernels/common/cuda/tma.cuh"
#include "kernels/common/cuda/warpgroup.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/units.cuh"
#include "kernels/matmul/wgmma_tile.cuh"

namespace ridgepoint::cuda {
namespace {

constexpr int kRows = 128;
constexpr int kColumns = 256;
constexpr int kConsumers = 2;  // warpgroups, each of 64 rows
constexpr int kThreads = (1 + kConsumers) * kWarpgroup;
constexpr int kSplitters = kWarpgroup - kWarp;  // threads; their warpgroup's first warp loads
constexpr int kUnitsA = kRows / kUnitLines;
constexpr int kUnitsB = kColumns / kUnitLines;
constexpr int kStageBytes = (kUnitsA + kUnitsB) * kUnitBytes;
constexpr int kStages = 2;

struct Shared {
  std::byte whole[kStages][kStageBytes];  // units of A, then of B
  std::byte low[kStages][kStageBytes];
  Barrier full[kStages];   // whole is there
  Barrier split[kStages];  // and low
  Barrier empty[kStages];
};

__device__ void produce(Shared& shared, const TensorMap& a, const TensorMap& b, int row, int column,
                        int stages) {
  RingPosition<kStages> ring;
  for (int i = 0; i < stages; ++i, ring.advance()) {
    Barrier& full = shared.full[ring.stage];
    std::byte* const units = shared.whole[ring.stage];
    wait(shared.empty[ring.stage], ring.parity ^ 1U);
    arrive_and_expect(full, kStageBytes);
    load_units<true, kUnitsA>(units, a, row, i * kUnitK<float>, full);
    load_units<true, kUnitsB>(units + kUnitsA * kUnitBytes, b, column, i * kUnitK<float>, full);
  }
}

// What is left of x without its first 11 bits. Exact; infinity and NaN stay in the high part.
__device__ float low_part(float x) {
  const float high = __uint_as_float(__float_as_uint(x) & 0xffffe000U);
  return isfinite(x) ? x - high : 0.0F;
}

__device__ void split(Shared& shared, int thread, int stages) {
  RingPosition<kStages> ring;
  for (int i = 0; i < stages; ++i, ring.advance()) {
    wait(shared.full[ring.stage], ring.parity);
    const auto* const whole = reinterpret_cast<const float4*>(shared.whole[ring.stage]);
    auto* const low = reinterpret_cast<float4*>(shared.low[ring.stage]);
#pragma unroll 4
    for (int p = thread; p < kStageBytes / kPackBytes; p += kSplitters) {
      const float4 x = whole[p];
      low[p] = make_float4(low_part(x.x), low_part(x.y), low_part(x.z), low_part(x.w));
    }
    publish_to_async_proxy();
    arrive(shared.split[ring.stage]);
  }
}

__device__ void consume(TileSums<1, kColumns>& sum, Shared& shared, int consumer, int stages) {
  RingPosition<kStages> ring;
  constexpr int b = kUnitsA * kUnitBytes;
  const int a = consumer * kUnitBytes;
  for (int i = 0; i < stages; ++i, ring.advance()) {
    const std::byte* const whole = shared.whole[ring.stage];
    const std::byte* const low = shared.low[ring.stage];
    wait(shared.split[ring.stage], ring.parity);
    multiply_stage<Layout::nt, Tf32, Tf32>(sum, low + a, whole + b, i > 0);
    multiply_stage<Layout::nt, Tf32, Tf32>(sum, whole + a, low + b, true);
    multiply_stage<Layout::nt, Tf32, Tf32>(sum, whole + a, whole + b, true);
    wait_multiplied<0>();
    if (threadIdx.x % kWarp == 0) arrive(shared.empty[ring.stage]);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
             Product<Tf32x3, Tf32x3, Tf32x3> product, bool aligned_c) {
  alignas(kUnitAlignment) extern __shared__ std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int row = static_cast<int>(blockIdx.y) * kRows;
  const int column = static_cast<int>(blockIdx.x) * kColumns;
  const int stages = static_cast<int>(divide_up(product.k, kUnitK<float>));
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int i = 0; i < kStages; ++i) {
      init_barrier(shared.full[i], 1);
      init_barrier(shared.split[i], kSplitters);
      init_barrier(shared.empty[i], kConsumers * kWarpgroup / kWarp);
    }
    publish_barriers();
  }
  __syncthreads();

  if (thread < kWarpgroup) {
    shrink_registers<40>();
    if (thread == 0) produce(shared, a, b, row, column, stages);
    if (thread >= kWarp) split(shared, thread - kWarp, stages);
  } else {
    grow_registers<232>();
    const int consumer = thread / kWarpgroup - 1;
    TileSums<1, kColumns> sum;
    consume(sum, shared, consumer, stages);
    store_tile(sum, product, row + consumer * kWgmmaRows, column, aligned_c);
  }
}

Launch bind(Queue& queue, const Shape& shape, const Tf32x3* a, const Tf32x3* b, Tf32x3* c) {
  require_hopper();
  if (shape.layout() != Layout::nt) throw Unsupported("wgmma reads tf32 along k only: layout nt");
  const Product product(shape, a, b, c);
  allow_shared(multiply, sizeof(Shared));
  const ClusterGrid grid{.blocks = tiles_for(product.m, product.n, kRows, kColumns),
                         .threads = kThreads,
                         .shared_bytes = sizeof(Shared),
                         .cluster = 1,
                         .stream = stream_of(queue)};
  return [=, map_a = unit_map(product.a), map_b = unit_map(product.b),
          aligned_c = stores_together(c, product.n, 2)] {
    launch(multiply, grid, map_a, map_b, product, aligned_c);
  };
}

// Both high parts hold 11 bits, so that low x low, which is left out, is up to 2^-20 of a product;
// of a low part, 13 bits, the hardware ignores two: 2^-21 for each of the two.
const Registration tf32x3{{.operation = "matmul",
                           .name = "wgmma_tf32x3",
                           .engine = Engine::tensor,
                           .special_error = 0x1p-20 + 2 * 0x1p-21},
                          bind};

}  // namespace
}  // namespace ridgepoint::cuda
