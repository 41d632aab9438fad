// Tools for launching a kernel: CUDA's status codes as exceptions, its stream, a grid,
// and properties of the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

// Errors after which the process cannot use the device any more. Source: CUDA Runtime API,
// cudaError_t: those that "leave the process in an inconsistent state".
inline bool device_is_lost(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorDevicesUnavailable:
      return true;
    default:
      return false;
  }
}

// Throws DeviceError where the device is lost, else std::runtime_error; both name file and line of
// the call.
inline void check(cudaError_t status,
                  const std::source_location& where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  const std::string file = where.file_name();
  const std::string text =
      std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ") at " +
      file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where.line());
  if (device_is_lost(status)) throw DeviceError("the GPU is lost: " + text);
  static_cast<void>(
      cudaGetLastError());  // clears an error that is not sticky, or the next check would throw
  throw std::runtime_error(text);
}

inline constexpr int kWarp = 32;

inline cudaStream_t stream_of(const Queue& queue) {
  return static_cast<cudaStream_t>(queue.stream());
}

// Limits of a grid. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability".
inline constexpr std::int64_t kMaxGridX = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMaxGridY = 65535;

// For Technique::supports: why a one-dimensional grid cannot serve `items`, `per_block` each.
inline std::optional<std::string> grid_limit(std::int64_t items, std::int64_t per_block) {
  if (ceil_div(items, per_block) <= kMaxGridX) return std::nullopt;
  return "the grid would have more than 2^31 - 1 blocks";
}

// The same for a grid of tiles, whose rows lie along y.
inline std::optional<std::string> tile_grid_limit(std::int64_t rows, std::int64_t columns,
                                                  int tile_rows, int tile_columns) {
  if (ceil_div(rows, tile_rows) <= kMaxGridY) return grid_limit(columns, tile_columns);
  return "the grid would have more than 65535 blocks along y";
}

// Technique::supports of kernels whose blocks serve kPerBlock elements of dimension n each, or
// kThreads vectors of 16 bytes, or a tile of kTileM x kTileN of C.
template <std::int64_t kPerBlock>
std::optional<std::string> supports_elements(const Machine&, const Shape& shape, FormatPair) {
  return grid_limit(shape["n"], kPerBlock);
}
template <int kThreads>
std::optional<std::string> supports_vectors(const Machine&, const Shape& shape, FormatPair format) {
  return grid_limit(shape["n"], kThreads * (16 / info(format.a).storage_bytes));
}
template <int kTileM, int kTileN>
std::optional<std::string> supports_tiles(const Machine&, const Shape& shape, FormatPair) {
  return tile_grid_limit(shape["m"], shape["n"], kTileM, kTileN);
}

// Blocks of a one-dimensional grid. Throws Unsupported where grid_limit has a reason.
inline unsigned blocks_for(std::int64_t items, std::int64_t per_block) {
  if (const auto reason = grid_limit(items, per_block)) throw Unsupported(*reason);
  return static_cast<unsigned>(ceil_div(items, per_block));
}

// A grid of tiles. Throws Unsupported where tile_grid_limit has a reason.
inline dim3 tiles_for(std::int64_t rows, std::int64_t columns, int tile_rows, int tile_columns) {
  if (const auto reason = tile_grid_limit(rows, columns, tile_rows, tile_columns)) {
    throw Unsupported(*reason);
  }
  return {static_cast<unsigned>(ceil_div(columns, tile_columns)),
          static_cast<unsigned>(ceil_div(rows, tile_rows))};
}

// Streaming multiprocessors of the current device.
inline int sm_count() {
  int device = 0;
  int count = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
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

// Clusters of such a grid that the device holds at once. Throws Unsupported where it holds none.
template <class... Parameters>
int max_active_clusters(void (*kernel)(Parameters...), const ClusterGrid& grid) {
  return with_launch_config(grid, [&](const cudaLaunchConfig_t& config) {
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    if (clusters > 0) return clusters;
    throw Unsupported("the device holds no cluster of " + std::to_string(grid.cluster) +
                      " blocks of " + std::to_string(grid.threads) + " threads and " +
                      std::to_string(grid.shared_bytes) + " bytes of shared memory");
  });
}

// Lets the kernel have more dynamic shared memory than 48 KiB; called once, before its launches.
template <class... Parameters>
void set_max_dynamic_shared_bytes(void (*kernel)(Parameters...), int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace ridgebench::cuda
