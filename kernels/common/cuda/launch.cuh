// What a technique needs to launch a kernel: its stream, a grid, and what the device is.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cuda/check.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/queue.hpp"

namespace ridgebench::cuda {

inline constexpr int kWarp = 32;

inline cudaStream_t stream_of(const Queue& queue) {
  return static_cast<cudaStream_t>(queue.stream());
}

// Blocks of a one-dimensional grid that serves `items`, `per_block` each. Throws Unsupported beyond
// what a grid may have, 2^31 - 1.
inline unsigned blocks_for(std::int64_t items, std::int64_t per_block) {
  const std::int64_t blocks = ceil_div(items, per_block);
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    throw Unsupported("the grid would have more than 2^31 - 1 blocks");
  }
  return static_cast<unsigned>(blocks);
}

// A grid of tiles: rows along y, which may have no more than 65535 blocks.
inline dim3 tiles_for(std::int64_t rows, std::int64_t columns, int tile_rows, int tile_columns) {
  constexpr std::int64_t most = 65535;
  const std::int64_t down = ceil_div(rows, tile_rows);
  if (down > most) throw Unsupported("the grid would have more than 65535 blocks along y");
  return {blocks_for(columns, tile_columns), static_cast<unsigned>(down)};
}

// An attribute of the current device.
inline int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// Streaming multiprocessors of the current device.
inline int sm_count() { return attribute(cudaDevAttrMultiProcessorCount); }

// 80 for compute capability 8.0.
inline int compute_capability() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
         attribute(cudaDevAttrComputeCapabilityMinor);
}

// Throws Unsupported where instructions of compute capability 9.0a (wgmma, setmaxnreg) cannot run.
inline void require_hopper() {
  if (compute_capability() != 90) throw Unsupported("runs on compute capability 9.0 only");
}

}  // namespace ridgebench::cuda
