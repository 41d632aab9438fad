// fp32 on the CUDA cores, at the rate at which they issue. Every instruction that is no FFMA costs
// peak, and this spends 1 in 20 on others: TMA does the copies and their addresses, and a thread
// computes 8 x 16 elements of C, so that 24 loads of 16 bytes feed 512 multiply-adds. Both operands
// lie along k, four numbers to a load; the persistent grid is that of wgmma_persistent, without
// clusters, because the L2 cache has little to deliver. The limit is the FMA units.
#include "kernels/common/cuda/tma.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/epilogue.cuh"
#include "kernels/matmul/persistent.cuh"

#ifndef UNROLL_X
#define UNROLL_X 2
#endif
namespace ridgepoint::cuda {
constexpr int kUnrolledPacks = UNROLL_X;

namespace {

using FmaTile = Tile<128, 256>;
constexpr int kDown = 8;     // elements of C of a thread, each 8 rows from the next
constexpr int kAcross = 16;  // each 4 columns from the next
// A warp's threads are 8 x 4 and its elements 64 x 64; eight warps are 2 x 4.
constexpr int kWarpSide = 64;

using Sums = float[kDown][kAcross];

struct Place {
  int row, column;  // of the thread's first element in its block's tile

  __device__ explicit Place(int thread)
      : row(thread / kWarp / 4 * kWarpSide + thread / 2 % 8),
        column(thread / kWarp % 4 * kWarpSide + thread % kWarp / 16 * 2 + thread % 2) {}
};

__device__ float4 load_four(const std::byte* from) {
  return *reinterpret_cast<const float4*>(from);
}

// Adds the products of the four k in pack `pack` of every line; a and b are the thread's first
// ones. Packs of line r are XORed with r % 8 (unit.hpp). All lines of A agree in that; those of B
// in two of the three bits, the third is that of c.
__device__ void multiply_pack(Sums& sum, const std::byte* a, const std::byte* b, const Place& place,
                              int pack) {
  const std::byte* const own_a = a + (pack ^ place.row % 8) * kPackBytes;
  const int even = pack ^ place.column % 4;
  const std::byte* const own_b[2] = {b + even * kPackBytes, b + (even ^ 4) * kPackBytes};
  float4 x[kDown];
#pragma unroll
  for (int r = 0; r < kDown; ++r) x[r] = load_four(own_a + r * 8 * kLineBytes);
#pragma unroll
  for (int c = 0; c < kAcross; ++c) {
    const float4 y = load_four(own_b[c % 2] + c * 4 * kLineBytes);
#pragma unroll
    for (int r = 0; r < kDown; ++r) {
      sum[r][c] = fmaf(x[r].x, y.x, sum[r][c]);
      sum[r][c] = fmaf(x[r].y, y.y, sum[r][c]);
      sum[r][c] = fmaf(x[r].z, y.z, sum[r][c]);
      sum[r][c] = fmaf(x[r].w, y.w, sum[r][c]);
    }
  }
}

__device__ void multiply_tile(Sums& sum, FmaTile::Shared& shared, const Place& place,
                              RingPosition<FmaTile::kStages>& ring, const Work<FmaTile>& work) {
#pragma unroll
  for (int i = 0; i < kDown * kAcross; ++i) sum[i / kAcross][i % kAcross] = 0;
#pragma unroll 1
  for (int i = 0; i < work.stages; ++i, ring.advance()) {
    const std::byte* const a = shared.stage[ring.stage];
    const std::byte* const b = a + FmaTile::kOffsetB;
    shared.barriers.wait_full(ring);
#pragma unroll kUnrolledPacks
    for (int pack = 0; pack < kLineBytes / kPackBytes; ++pack) {
      multiply_pack(sum, a + place.row * kLineBytes, b + place.column * kLineBytes, place, pack);
    }
    __syncwarp();
    release(shared.barriers.empty[ring.stage], work.size);
  }
}

template <class Epilogue>
__global__ void __launch_bounds__(kSpecialisedThreads, 1)
    multiply(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
             Product<float, float, float> product, Raster raster, int stages, Epilogue finish) {
  alignas(kUnitAlignment) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<FmaTile::Shared*>(memory);
  const Work<FmaTile> work(raster, stages);
  set_up_barriers(shared, work);

  if (threadIdx.x < kWarpgroup) {
    shrink_registers<24>();
    if (threadIdx.x == 0) produce<Layout::nt, float>(shared, a, b, work);
  } else {
    grow_registers<240>();
    const Place place(static_cast<int>(threadIdx.x) - kWarpgroup);
    RingPosition<FmaTile::kStages> ring;
    Sums sum;
    for (int item = work.first; item < raster.count(); item += work.step) {
      multiply_tile(sum, shared, place, ring, work);
      const auto [row, column] = work.origin(item);
#pragma unroll
      for (int r = 0; r < kDown; ++r) {
        const std::int64_t i = row + place.row + 8 * r;
        if (i >= product.m) continue;
#pragma unroll
        for (int c = 0; c < kAcross; ++c) {
          const std::int64_t j = column + place.column + 4 * c;
          if (j < product.n) product.c[i * product.n + j] = finish(sum[r][c], j);
        }
      }
    }
  }
}

template <class Epilogue>
Launch bind_product(const Queue& queue, const Shape& shape,
                    const Product<float, float, float>& product, const Epilogue& finish) {
  require_hopper();
  if (shape.layout() != Layout::nt) throw Unsupported("loads along k only: layout nt");
  constexpr auto kernel = multiply<Epilogue>;
  const Raster raster = raster_for({FmaTile::kRows, FmaTile::kColumns}, 1, product.m, product.n);
  const ClusterGrid grid = persistent_grid<FmaTile>(kernel, queue, raster, 1);
  return [=, a = unit_map(product.a), b = unit_map(product.b),
          stages = static_cast<int>(divide_up(product.k, kUnitK<float>))] {
    launch(kernel, grid, a, b, product, raster, stages, finish);
  };
}

Launch bind(Queue& queue, const Shape& shape, const float* a, const float* b, float* c) {
  return bind_product(queue, shape, Product(shape, a, b, c), Plain{});
}

Launch bind_gelu(Queue& queue, const Shape& shape, const float* a, const float* b,
                 const float* bias, float* c) {
  return bind_product(queue, shape, Product(shape, a, b, c), BiasGelu<float>{bias});
}

constexpr Technique technique(std::string_view operation, double special_error = 0) {
  return {.operation = operation,
          .name = "ffma_tma",
          .engine = Engine::fma,
          .special_error = special_error};
}

const Registration ffma_tma{technique("matmul"), bind};
const Registration ffma_tma_gelu{technique("matmul_gelu", kGeluExp2Error), bind_gelu};

}  // namespace
}  // namespace ridgepoint::cuda
