// The same product on every SM by mma.sync, a block on each: a block takes all shared memory that
// it can have, so that no SM holds two, and its four warps keep the four tensor cores busy. Each
// block records its SM, and a second kernel puts what SM u computed into row u. The limit is the
// rate at which the tensor cores accept mma.sync.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/ceilings/sweep/unit_products.hpp"
#include "kernels/ceilings/sync_instruction.cuh"
#include "kernels/common/cuda/ptx/special_registers.cuh"

namespace ridgebench::cuda::ceilings_unit_products {

constexpr int kTileElements = kMmaTile * kMmaTile;
constexpr int kRow = kMmaWarps * kTileElements;  // results of an SM
static_assert(kMmaWarps == kUnitParts);

// Block b writes row b of `results`, and its SM to sms[b].
template <class T>
__global__ void __launch_bounds__(kMmaThreads)
    multiply(const T* a, const T* b, float* results, unsigned* sms, int iterations) {
  using Tile = Fragments<SyncInstruction<T>>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const Tile fragments(reinterpret_cast<const std::uint32_t*>(a),
                       reinterpret_cast<const std::uint32_t*>(b), lane);
  typename Tile::Sums total = {};
#pragma unroll 1
  for (int left = iterations; left > 0; left -= kProductsPerSum) {
    fragments.add_products(total, min(left, kProductsPerSum));
  }
  Tile::store(results + std::int64_t{blockIdx.x} * kRow + warp * kTileElements, lane, total);
  if (threadIdx.x == 0) sms[blockIdx.x] = smid();
}

// Row u gets what the first block on SM u computed. Where no block ran there, as on a GPU that
// another process uses too, it gets that of block u.
__global__ void __launch_bounds__(kMmaThreads)
    put_by_sm(const float* results, const unsigned* sms, float* y) {
  unsigned block = blockIdx.x;
  for (unsigned other = gridDim.x; other-- > 0;) {
    if (sms[other] == blockIdx.x) block = other;
  }
  for (int i = static_cast<int>(threadIdx.x); i < kRow; i += kMmaThreads) {
    y[std::int64_t{blockIdx.x} * kRow + i] = results[std::int64_t{block} * kRow + i];
  }
}

__global__ void record_sms(unsigned* sms) {
  if (threadIdx.x == 0) sms[blockIdx.x] = smid();
}

struct State {
  std::shared_ptr<float> results;
  std::shared_ptr<unsigned> sms;
  int shared_bytes;
  std::int64_t seen;  // SMs that have a block, of `units`
  std::int64_t units;

  [[nodiscard]] std::string choice() const {
    return std::to_string(seen) + " of " + std::to_string(units) + " SMs";
  }
};

// SMs with the number of a row that had a block.
std::int64_t count_sms(const State& state, cudaStream_t stream) {
  const auto units = static_cast<unsigned>(state.units);
  record_sms<<<units, kMmaThreads, state.shared_bytes, stream>>>(state.sms.get());
  std::vector<unsigned> sms(units);
  check(cudaMemcpyAsync(sms.data(), state.sms.get(), units * sizeof(unsigned),
                        cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  std::vector<bool> seen(units);
  for (const unsigned sm : sms) {
    if (sm < units) seen[sm] = true;
  }
  return std::count(seen.begin(), seen.end(), true);
}

template <class T>
State prepare(Queue& queue, const Shape& shape) {
  const auto units = static_cast<std::size_t>(shape["units"]);
  State state{
      .results = std::static_pointer_cast<float>(queue.allocate(units * kRow * sizeof(float))),
      .sms = std::static_pointer_cast<unsigned>(queue.allocate(units * sizeof(unsigned))),
      .shared_bytes = 0,
      .seen = 0,
      .units = shape["units"]};
  int device = 0;
  check(cudaGetDevice(&device));
  check(
      cudaDeviceGetAttribute(&state.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  set_max_dynamic_shared_bytes(multiply<T>, state.shared_bytes);
  set_max_dynamic_shared_bytes(record_sms, state.shared_bytes);
  state.seen = count_sms(state, stream_of(queue));
  return state;
}

template <class T>
Launch bind(Queue& queue, const State& state, const Shape& shape, const T* a, const T* b,
            float* y) {
  require_aligned(a);
  require_aligned(b);
  return [=, iterations = chain_length(shape["iterations"]),
          units = static_cast<unsigned>(shape["units"]), stream = stream_of(queue)] {
    multiply<T><<<units, kMmaThreads, state.shared_bytes, stream>>>(a, b, state.results.get(),
                                                                    state.sms.get(), iterations);
    put_by_sm<<<units, kMmaThreads, 0, stream>>>(state.results.get(), state.sms.get(), y);
  };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (machine.compute_capability != 90) return "the kernel is compiled for compute capability 9.0";
  if (auto reason = tile_limit(shape, kTensorTile)) return reason;
  if (auto reason = chain_limit(shape["iterations"])) return reason;
  return grid_limit(shape["units"], 1);
}

const Registration mma_sync{{.operation = "unit_products",
                             .name = "mma_sync",
                             .engine = Engine::tensor,
                             .supports = supports,
                             .full_rate = mma_sync_is_full_rate},
                            Types<Tf32>{} + HalfTypes{},
                            []<class T>() { return planned(prepare<T>, bind<T>); }};

}  // namespace ridgebench::cuda::ceilings_unit_products
