// fp32 on the CUDA cores at their issue rate. Every instruction other than an FFMA costs peak, and
// this kernel spends 1 in 20 on others: TMA copies and computes the addresses, and a thread
// computes 8 x 16 elements of C, so that 24 loads of 16 bytes, four k each, feed 512 FFMAs. The
// grid is that of wgmma_persistent without clusters, because L2 has little to deliver. The limit is
// the FMA units.
#include "kernels/matmul/hopper/persistent.cuh"

namespace ridgebench::cuda::matmul_ffma_tma {

using Tile = PersistentTile<128, 256>;
constexpr int kThreadM = 8;   // rows of C of a thread, each 8 after the one before
constexpr int kThreadN = 16;  // columns, each 4 after the one before
// The threads of a warp are 8 x 4, its elements 64 x 64; the eight warps are 2 x 4.
constexpr int kWarpM = 64;
constexpr int kWarpN = 64;
using ThreadAccumulators = float[kThreadM][kThreadN];

// The thread's first element in its block's tile. Neighbouring threads share a row or a column: the
// loads of a warp then take two clocks instead of four (measured on an H100).
struct ThreadCoord {
  int m, n;

  __device__ explicit ThreadCoord(int thread)
      : m(thread / kWarp / 4 * kWarpM + thread / 2 % 8),
        n(thread / kWarp % 4 * kWarpN + thread % kWarp / 16 * 2 + thread % 2) {}
};

// A thread's rows of A and columns of B in shared memory, as vectors of four k. Vector v of row r
// lies at v ^ (r % 8): r % 8 is coord.m % 8 in all rows of A, coord.n % 4 + 4 (c % 2) in B.
struct Fragments {
  const std::byte *a, *b;  // the first row and the first column
  ThreadCoord coord;

  __device__ float4 of_a(int v, int r) const {
    return reinterpret_cast<const float4*>(a + r * 8 * kRowBytes)[v ^ coord.m % 8];
  }
  __device__ float4 of_b(int v, int c) const {
    const int swizzle = coord.n % 4 ^ c % 2 * 4;
    return reinterpret_cast<const float4*>(b + c * 4 * kRowBytes)[v ^ swizzle];
  }
};

// The outer loop stays rolled: the 4096 FFMAs of a stage exceed the instruction cache, which costs
// a tenth of the speed.
__device__ void multiply_stage(ThreadAccumulators& d, const Fragments& fragments) {
#pragma unroll 1
  for (int v = 0; v < kRowBytes / kVectorBytes; ++v) {
    float4 x[kThreadM];
#pragma unroll
    for (int r = 0; r < kThreadM; ++r) x[r] = fragments.of_a(v, r);
#pragma unroll
    for (int c = 0; c < kThreadN; ++c) {
      const float4 y = fragments.of_b(v, c);
#pragma unroll
      for (int r = 0; r < kThreadM; ++r) {
        d[r][c] = fmaf(x[r].x, y.x, d[r][c]);
        d[r][c] = fmaf(x[r].y, y.y, d[r][c]);
        d[r][c] = fmaf(x[r].z, y.z, d[r][c]);
        d[r][c] = fmaf(x[r].w, y.w, d[r][c]);
      }
    }
  }
}

__device__ void multiply_tile(ThreadAccumulators& d, Tile::Shared& shared, const ThreadCoord& coord,
                              PipelineState<Tile::kStages>& state,
                              const BlockScheduler<Tile>& scheduler) {
  clear(d);
#pragma unroll 1
  for (int i = 0; i < scheduler.stages; ++i, state.advance()) {
    const std::byte* const a = shared.stage[state.stage] + coord.m * kRowBytes;
    const std::byte* const b = a + Tile::kOffsetB + (coord.n - coord.m) * kRowBytes;
    shared.pipeline.consumer_wait(state);
    multiply_stage(d, {a, b, coord});
    __syncwarp();
    shared.pipeline.consumer_release(state.stage, scheduler.cluster);
  }
}

template <class Epilogue>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_ffma_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    Product<float, float, float> product, TileScheduler tiles, int stages,
                    Epilogue epilogue) {
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<Tile::Shared*>(memory);
  const BlockScheduler<Tile> scheduler(tiles, stages);
  start_cluster(shared, scheduler, a, b);

  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<24>();
    if (threadIdx.x == 0) produce<Layout::nt, float>(shared, a, b, scheduler);
  } else {
    warpgroup_reg_alloc<240>();
    griddepcontrol_wait();
    const ThreadCoord coord(static_cast<int>(threadIdx.x) - kWarpgroup);
    PipelineState<Tile::kStages> state;
    ThreadAccumulators d;
    for (int tile = scheduler.first; tile < tiles.count(); tile += scheduler.step) {
      multiply_tile(d, shared, coord, state, scheduler);
      const auto [row, column] = scheduler.origin(tile);
#pragma unroll
      for (int r = 0; r < kThreadM; ++r) {
        const std::int64_t i = row + coord.m + 8 * r;
        if (i >= product.m) continue;
#pragma unroll
        for (int c = 0; c < kThreadN; ++c) {
          const std::int64_t j = column + coord.n + 4 * c;
          if (j < product.n) product.c[i * product.n + j] = epilogue(d[r][c], j);
        }
      }
    }
  }
}

template <class Epilogue>
Launch bind_product(const Queue& queue, const Product<float, float, float>& product,
                    const Epilogue& epilogue) {
  constexpr auto kernel = matmul_ffma_tma<Epilogue>;
  const TileScheduler tiles = schedule_tiles(Tile::kShape, 1, product.m, product.n);
  const ClusterGrid grid = persistent_grid<Tile>(kernel, queue, tiles, 1);
  return [=, a = operand_map(product.a), b = operand_map(product.b),
          stages = static_cast<int>(ceil_div(product.k, kBlockK<float>))] {
    launch(kernel, grid, a, b, product, tiles, stages, epilogue);
  };
}

Launch bind(Queue& queue, const Shape& shape, const float* a, const float* b, float* c) {
  return bind_product(queue, Product(shape, a, b, c), Plain{});
}

Launch bind_gelu(Queue& queue, const Shape& shape, const float* a, const float* b,
                 const float* bias, float* c) {
  return bind_product(queue, Product(shape, a, b, c), BiasGelu<float>{bias});
}

Technique technique(const std::string& operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "ffma_tma",
          .engine = Engine::fma,
          .supports = supports_wgmma_tma,
          .approximation_error = approximation_error};
}

const Registration ffma_tma{technique("matmul"), Types<float>{}, []<class T>() { return bind; }};
const Registration ffma_tma_gelu{technique("matmul_gelu", kGeluExp2Error), Types<float>{},
                                 []<class T>() { return bind_gelu; }};

}  // namespace ridgebench::cuda::matmul_ffma_tma
