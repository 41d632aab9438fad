// fp32 on the CUDA cores at their issue rate. Every instruction other than an FFMA costs peak, and
// so does every FFMA that waits for a bank of the register file. TMA copies and computes the
// addresses, idle warps transpose (ffma_tile.cuh), and a thread computes 8 x 16 elements of C, so
// that 6 loads of 16 bytes feed 128 FFMAs. The grid is that of wgmma_persistent without clusters,
// because L2 has little to deliver. The limit is the FMA units.
#include <cstddef>
#include <cstdint>

#include "kernels/matmul/hopper/ffma_choice.hpp"
#include "kernels/matmul/hopper/ffma_thread.cuh"
#include "kernels/matmul/hopper/ffma_tile.cuh"

namespace ridgebench::cuda::matmul_ffma_tma {

using Large = FfmaTile<kFfmaTiles[0].m, kFfmaTiles[0].n>;
using Small = FfmaTile<kFfmaTiles[1].m, kFfmaTiles[1].n>;

template <class Tile, class Epilogue>
__device__ void transpose(typename Tile::Shared& shared, const BlockScheduler<Tile>& scheduler,
                          int warp, const Epilogue& epilogue, std::int64_t n) {
  PipelineState<Tile::kStages> state;
  for (int tile = scheduler.first; tile < scheduler.tiles.count(); tile += scheduler.step) {
#pragma unroll 1
    for (int i = 0; i < scheduler.stages; ++i, state.advance()) {
      shared.pipeline.consumer_wait(state);
      shared.lines.producer_acquire(state);
      if (i == 0) load_bias<Tile>(shared.bias[state.stage], epilogue, scheduler.origin(tile).n, n);
      transpose_stage<Tile>(shared.transposed[state.stage], shared.stage[state.stage], warp);
      shared.lines.producer_commit(state.stage);
      shared.pipeline.consumer_release(state.stage);
    }
  }
}

template <class Tile, class Epilogue>
__device__ void multiply_tile(ThreadAccumulators& d, typename Tile::Shared& shared,
                              const ThreadCoord<Tile>& coord, PipelineState<Tile::kStages>& state,
                              int stages, const Epilogue& epilogue) {
  shared.lines.consumer_wait(state);  // the biases come with the first stage
  start_sums(d, shared.bias[state.stage], coord, epilogue);
#pragma unroll 1
  for (int i = 0; i < stages; ++i, state.advance()) {
    shared.lines.consumer_wait(state);
    multiply_lines<Tile>(d, shared.transposed[state.stage], coord);
    __syncwarp();
    shared.lines.consumer_release(state.stage);
  }
}

template <class Tile, class Epilogue>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_ffma_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    Product<float, float, float> product, TileScheduler tiles, int stages,
                    Epilogue epilogue, bool aligned) {
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<typename Tile::Shared*>(memory);
  const BlockScheduler<Tile> scheduler(tiles, stages);
  if (threadIdx.x == 0) shared.init();
  start_cluster(shared, scheduler, a, b);

  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kWarpgroup) {
    warpgroup_reg_dealloc<56>();
    if (thread == 0) produce<Layout::nt, float>(shared, a, b, scheduler);
    if (thread >= kWarp) {
      griddepcontrol_wait();
      transpose<Tile>(shared, scheduler, thread / kWarp - 1, epilogue, product.n);
    }
  } else {
    warpgroup_reg_alloc<224>();
    griddepcontrol_wait();
    const ThreadCoord<Tile> coord(thread - kWarpgroup);
    PipelineState<Tile::kStages> state;
    unsigned phase = 0;
    ThreadAccumulators d;
    for (int tile = scheduler.first; tile < tiles.count(); tile += scheduler.step) {
      const auto [row, column] = scheduler.origin(tile);
      multiply_tile<Tile>(d, shared, coord, state, stages, epilogue);
      if constexpr (Tile::kGroups > 1) {
        add_groups<Tile>(d, shared, coord, phase);
        meet_consumers(shared.groups, phase);  // all have read the sums
      }
#pragma unroll
      for (int r = 0; r < Tile::kOwnRows; ++r) {
        const std::int64_t i = row + coord.m + row_of(coord.group * Tile::kOwnRows + r);
        if (i >= product.m) continue;
#pragma unroll
        for (int c = 0; c < kThreadN; ++c) d[r][c] = finish(d[r][c], epilogue);
#pragma unroll
        for (int c = 0; c < kThreadN; c += kVector) {
          store_results<kVector>(product.c, product.n, i, column + coord.n + column_of(c), &d[r][c],
                                 aligned);
        }
      }
    }
  }
}

template <class Tile, class Epilogue>
Launch bind_tile(const Queue& queue, const Product<float, float, float>& product,
                 const Epilogue& epilogue) {
  constexpr auto kernel = matmul_ffma_tma<Tile, Epilogue>;
  const TileScheduler tiles = schedule_tiles(Tile::kShape, 1, product.m, product.n);
  const ClusterGrid grid = persistent_grid<Tile>(kernel, queue, tiles, 1);
  return [=, a = operand_map(product.a), b = operand_map(product.b),
          stages = static_cast<int>(ceil_div(product.k, kBlockK<float>)),
          aligned = can_store_vector(product.c, product.n, kVector)] {
    launch(kernel, grid, a, b, product, tiles, stages, epilogue, aligned);
  };
}

template <class Epilogue>
Launch bind_product(const Queue& queue, const FfmaChoice& choice,
                    const Product<float, float, float>& product, const Epilogue& epilogue) {
  return choice.shape.m == Large::kBlockM ? bind_tile<Large>(queue, product, epilogue)
                                          : bind_tile<Small>(queue, product, epilogue);
}

Launch bind(Queue& queue, const FfmaChoice& choice, const Shape& shape, const float* a,
            const float* b, float* c) {
  return bind_product(queue, choice, Product(shape, a, b, c), Plain{});
}

Launch bind_gelu(Queue& queue, const FfmaChoice& choice, const Shape& shape, const float* a,
                 const float* b, const float* bias, float* c) {
  return bind_product(queue, choice, Product(shape, a, b, c), BiasGelu<float>{bias});
}

FfmaChoice prepare(Queue& /*queue*/, const Shape& shape) {
  return choose_ffma_tile(shape["m"], shape["n"], shape["k"], sm_count());
}

Technique technique(const std::string& operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "ffma_tma",
          .engine = Engine::fma,
          .supports = supports_wgmma_tma,
          .approximation_error = approximation_error};
}

const Registration ffma_tma{technique("matmul"), Types<float>{},
                            []<class T>() { return planned(prepare, bind, ffma_choices); }};
const Registration ffma_tma_gelu{
    technique("matmul_gelu", kGeluExp2Error), Types<float>{},
    []<class T>() { return planned(prepare, bind_gelu, ffma_choices); }};

}  // namespace ridgebench::cuda::matmul_ffma_tma
