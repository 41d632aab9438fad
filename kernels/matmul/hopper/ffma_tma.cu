// fp32 on the CUDA cores, at the rate at which they issue. Every instruction that is no FFMA costs
// peak, and this spends 1 in 20 on others: TMA does the copies and their addresses, and a thread
// computes 8 x 16 elements of C, so that 24 loads of 16 bytes, four k each, feed 512 multiply-adds.
// The grid is that of wgmma_persistent, without clusters, for the L2 cache has little to deliver.
// The limit is the FMA units.
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/persistent.cuh"
#include "kernels/matmul/tile/epilogue.cuh"

namespace ridgebench::cuda {
namespace {

using FmaTile = Tile<128, 256>;
constexpr int kDown = 8;     // elements of C of a thread, each 8 rows from the next
constexpr int kAcross = 16;  // each 4 columns from the next
// A warp's threads are 8 x 4 and its elements 64 x 64; eight warps are 2 x 4.
constexpr int kWarpSide = 64;
using Sums = float[kDown][kAcross];

// Neighbours share a row or a column: loads of 16 bytes then take half the clocks (measured on an
// H100: two instead of four for a warp).
struct Place {
  int row, column;  // of the thread's first element in its block's tile

  __device__ explicit Place(int thread)
      : row(thread / kWarp / 4 * kWarpSide + thread / 2 % 8),
        column(thread / kWarp % 4 * kWarpSide + thread % kWarp / 16 * 2 + thread % 2) {}
};

// Packs, four k each, of the lines that a thread reads. Those of line r are XORed with r % 8
// (unit.hpp): alike in all its lines of A, in lines of B but for one bit of three, their number's.
struct Lines {
  const std::byte *a, *b;  // the first of them
  Place place;

  __device__ float4 of_a(int pack, int r) const {
    return reinterpret_cast<const float4*>(a + r * 8 * kLineBytes)[pack ^ place.row % 8];
  }
  __device__ float4 of_b(int pack, int c) const {
    const int swizzle = place.column % 4 ^ c % 2 * 4;
    return reinterpret_cast<const float4*>(b + c * 4 * kLineBytes)[pack ^ swizzle];
  }
};

// Not unrolled: a stage's 4096 multiply-adds do not fit into the instruction cache: a tenth slower.
__device__ void multiply_stage(Sums& sum, const Lines& lines) {
#pragma unroll 1
  for (int pack = 0; pack < kLineBytes / kVectorBytes; ++pack) {
    float4 x[kDown];
#pragma unroll
    for (int r = 0; r < kDown; ++r) x[r] = lines.of_a(pack, r);
#pragma unroll
    for (int c = 0; c < kAcross; ++c) {
      const float4 y = lines.of_b(pack, c);
#pragma unroll
      for (int r = 0; r < kDown; ++r) {
        sum[r][c] = fmaf(x[r].x, y.x, sum[r][c]);
        sum[r][c] = fmaf(x[r].y, y.y, sum[r][c]);
        sum[r][c] = fmaf(x[r].z, y.z, sum[r][c]);
        sum[r][c] = fmaf(x[r].w, y.w, sum[r][c]);
      }
    }
  }
}

__device__ void multiply_tile(Sums& sum, FmaTile::Shared& shared, const Place& place,
                              PipelineState<FmaTile::kStages>& ring, const Work<FmaTile>& work) {
#pragma unroll
  for (int i = 0; i < kDown * kAcross; ++i) sum[i / kAcross][i % kAcross] = 0;
#pragma unroll 1
  for (int i = 0; i < work.stages; ++i, ring.advance()) {
    const std::byte* const a = shared.stage[ring.stage] + place.row * kLineBytes;
    const std::byte* const b = a + FmaTile::kOffsetB + (place.column - place.row) * kLineBytes;
    shared.barriers.wait_full(ring);
    multiply_stage(sum, {a, b, place});
    __syncwarp();
    release(shared.barriers.empty[ring.stage], work.size);
  }
}

template <class Epilogue>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_ffma_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    Product<float, float, float> product, Raster raster, int stages,
                    Epilogue finish) {
  alignas(kUnitAlignment) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<FmaTile::Shared*>(memory);
  const Work<FmaTile> work(raster, stages);
  set_up_barriers(shared, work);

  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<24>();
    if (threadIdx.x == 0) produce<Layout::nt, float>(shared, a, b, work);
  } else {
    warpgroup_reg_alloc<240>();
    const Place place(static_cast<int>(threadIdx.x) - kWarpgroup);
    PipelineState<FmaTile::kStages> ring;
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
  constexpr auto kernel = matmul_ffma_tma<Epilogue>;
  const Raster raster = raster_for({FmaTile::kRows, FmaTile::kColumns}, 1, product.m, product.n);
  const ClusterGrid grid = persistent_grid<FmaTile>(kernel, queue, raster, 1);
  return [=, a = unit_map(product.a), b = unit_map(product.b),
          stages = static_cast<int>(ceil_div(product.k, kUnitK<float>))] {
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

constexpr Technique technique(std::string_view operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "ffma_tma",
          .engine = Engine::fma,
          .approximation_error = approximation_error};
}

const Registration ffma_tma{technique("matmul"), bind};
const Registration ffma_tma_gelu{technique("matmul_gelu", kGeluExp2Error), bind_gelu};

}  // namespace
}  // namespace ridgebench::cuda
