// A consumer thread of ffma_tma.cu: its products, and the epilogue of its sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul/hopper/ffma_tile.cuh"

namespace ridgebench::cuda::matmul_ffma_tma {

// A consumer thread: the group that it belongs to, and its first row and column in its block's
// tile. Neighbours share a row or a column: a warp's loads then take two clocks instead of four
// (measured on an H100).
template <class Tile>
struct ThreadCoord {
  int thread;  // in its group
  int group, m, n;

  __device__ explicit ThreadCoord(int consumer)
      : thread(consumer % Tile::kGroupThreads), group(consumer / Tile::kGroupThreads) {
    const int warp = thread / kWarp;
    constexpr int kWarpsN = Tile::kBlockN / kWarpN;
    m = warp / kWarpsN * kWarpM + thread / 2 % 8 * kVector;
    n = warp % kWarpsN * kWarpN + (thread % kWarp / 16 * 2 + thread % 2) * kVector;
  }
};

// Row r and column c of a thread, counted from its first ones.
__host__ __device__ constexpr int row_of(int r) { return r / kVector * 32 + r % kVector; }
__host__ __device__ constexpr int column_of(int c) { return c / kVector * 16 + c % kVector; }

// A thread's rows of A and columns of B for one k. The transposition has exchanged neighbours.
struct Line {
  float x[kThreadM];
  float y[kThreadN];

  __device__ void load(const std::byte* a, const std::byte* b) {
#pragma unroll
    for (int r = 0; r < kThreadM; r += kVector) load_vector(x + r, a + row_of(r) * 4);
#pragma unroll
    for (int c = 0; c < kThreadN; c += kVector) load_vector(y + c, b + column_of(c) * 4);
  }
};

// d += x y for one k. The columns go back and forth: x stays in the reuse cache along a row, and y
// where the next row begins.
__device__ inline void outer_product(ThreadAccumulators& d, const Line& line) {
#pragma unroll
  for (int r = 0; r < kThreadM; ++r) {
#pragma unroll
    for (int i = 0; i < kThreadN; ++i) {
      const int c = r % 2 == 0 ? i : kThreadN - 1 - i;
      d[r][c] = fmaf(line.x[r ^ 1], line.y[c ^ 1], d[r][c]);
    }
  }
}

// d += the products of the part of a stage that belongs to this thread's group. A line is loaded
// while the one before it is multiplied, also from one turn of the loop to the next: two warps to a
// scheduler do not hide a load's latency otherwise (tests/kernels/scheduler.py).
template <class Tile>
__device__ void multiply_lines(ThreadAccumulators& d, const std::byte* lines,
                               const ThreadCoord<Tile>& coord) {
  constexpr int kLines = Tile::kK / Tile::kGroups;
  constexpr int kBytes = Tile::kLineBytes;
  static_assert(kLines % 2 == 0, "a turn has two lines");
  const std::byte* a = lines + coord.group * kLines * kBytes + coord.m * 4;
  const std::byte* b = a + (Tile::kBlockM + coord.n - coord.m) * 4;
  Line even;
  Line odd;
  even.load(a, b);
#pragma unroll 1
  for (int i = 2; i < kLines; i += 2) {
    odd.load(a + kBytes, b + kBytes);
    outer_product(d, even);
    a += 2 * kBytes;
    b += 2 * kBytes;
    even.load(a, b);
    outer_product(d, odd);
  }
  odd.load(a + kBytes, b + kBytes);
  outer_product(d, even);
  outer_product(d, odd);
}

// Called by all consumers: waits until all have arrived.
__device__ inline void meet_consumers(Barrier& barrier, unsigned& phase) {
  __syncwarp();
  if (threadIdx.x % kWarp == 0) mbarrier_arrive(barrier);
  mbarrier_wait_parity(barrier, phase);
  phase ^= 1U;
}

// Adds the sums of all groups, in a fixed order. Each group gets the totals of kOwnRows rows of its
// threads, which are the first rows of `d` afterwards. The consumers must meet before they call it
// again.
template <class Tile>
__device__ void add_groups(ThreadAccumulators& d, typename Tile::Shared& shared,
                           const ThreadCoord<Tile>& coord, unsigned& phase) {
  constexpr int kVectors = kThreadM * kThreadN / kVector;
  const auto at = [&](int group, int vector) {
    return reinterpret_cast<float4*>(shared.partial) +
           (group * kVectors + vector) * Tile::kGroupThreads + coord.thread;
  };
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const float* const x = &d[v * kVector / kThreadN][v * kVector % kThreadN];
    *at(coord.group, v) = make_float4(x[0], x[1], x[2], x[3]);
  }
  meet_consumers(shared.groups, phase);
#pragma unroll
  for (int v = 0; v < kVectors / Tile::kGroups; ++v) {
    float* const x = &d[v * kVector / kThreadN][v * kVector % kThreadN];
#pragma unroll
    for (int group = 0; group < Tile::kGroups; ++group) {
      float part[kVector];
      load_vector(part, at(group, coord.group * (kVectors / Tile::kGroups) + v));
#pragma unroll
      for (int i = 0; i < kVector; ++i) x[i] = group == 0 ? part[i] : x[i] + part[i];
    }
  }
}

// Copies the biases of a tile's columns to shared memory, while its sums are not ready yet.
template <class Tile>
__device__ void load_bias(float* shared, const BiasGelu<float>& epilogue, std::int64_t column,
                          std::int64_t n) {
  const int thread = static_cast<int>(threadIdx.x) - kWarp;
  for (int j = thread; j < Tile::kBlockN; j += kTransposers * kWarp) {
    shared[j] = column + j < n ? epilogue.bias[column + j] : 0;
  }
}
template <class Tile>
__device__ void load_bias(float* /*shared*/, const Plain& /*epilogue*/, std::int64_t /*column*/,
                          std::int64_t /*n*/) {}

// The sums of a thread at the start of a tile: the biases of its columns, in one group of warps.
// Each row loads them anew, in vectors, because the registers of a vector are aligned. The sums
// then stay in the bank opposite to that of their column.
template <class Tile>
__device__ void start_sums(ThreadAccumulators& d, const float* bias, const ThreadCoord<Tile>& coord,
                           const BiasGelu<float>& /*epilogue*/) {
  clear(d);
  if (coord.group > 0) return;
#pragma unroll
  for (int r = 0; r < kThreadM; ++r) {
#pragma unroll
    for (int c = 0; c < kThreadN; c += kVector) {
      load_vector(&d[r][c], bias + coord.n + column_of(c));
    }
    __syncwarp();
  }
}
template <class Tile>
__device__ void start_sums(ThreadAccumulators& d, const float* /*bias*/,
                           const ThreadCoord<Tile>& /*coord*/, const Plain& /*epilogue*/) {
  clear(d);
}

__device__ inline float finish(float sum, const Plain& /*epilogue*/) { return sum; }
__device__ inline float finish(float sum, const BiasGelu<float>& /*epilogue*/) {
  return gelu_approx<float>(sum);
}

}  // namespace ridgebench::cuda::matmul_ffma_tma
