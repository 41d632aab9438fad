// What a technique needs to launch a kernel: its stream, a grid, and what the device is.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <type_traits>

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

// Dynamic shared memory that a block can have on compute capability 9.0. Source: CUDA C++
// Programming Guide, "Technical Specifications per Compute Capability": 227 KiB.
inline constexpr int kMaxSharedBytes = 227 << 10;

// A launch that wants what <<<>>> cannot say: clusters, or to start before the kernel ahead of it
// in the stream has completed.
struct ClusterGrid {
  dim3 blocks;  // along x a multiple of `cluster`
  int threads;
  int shared_bytes;  // dynamic
  cudaStream_t stream;
  unsigned cluster = 1;  // blocks, along x
  // Programmatic dependent launch; the kernel calls griddepcontrol_wait() (ptx/barrier.cuh).
  bool dependent_launch = false;
};

// Calls `use` with the grid in the form of the CUDA runtime.
template <class Use>
auto with_launch_config(const ClusterGrid& grid, const Use& use) {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {grid.cluster, 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(grid.shared_bytes);
  config.stream = grid.stream;
  config.attrs = attributes;
  config.numAttrs = grid.dependent_launch ? 2 : 1;
  return use(config);
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), const ClusterGrid& grid,
            const std::type_identity_t<Parameters>&... arguments) {
  with_launch_config(grid, [&](const cudaLaunchConfig_t& config) {
    check(cudaLaunchKernelEx(&config, kernel, arguments...));
  });
}

// Clusters of such a grid that the device holds at once.
template <class... Parameters>
int max_active_clusters(void (*kernel)(Parameters...), const ClusterGrid& grid) {
  return with_launch_config(grid, [&](const cudaLaunchConfig_t& config) {
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    return clusters;
  });
}

// Lets the kernel have more dynamic shared memory than 48 KiB; called once, before its launches.
template <class... Parameters>
void set_max_dynamic_shared_bytes(void (*kernel)(Parameters...), int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace ridgebench::cuda
