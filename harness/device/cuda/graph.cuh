// Launches captured as CUDA graphs: nothing runs while a stream captures.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>
#include <span>

#include "harness/device/cuda/handles.cuh"
#include "harness/device/device.hpp"
#include "kernels/common/queue.hpp"

namespace ridgebench {

// The launches, `repeats` times over, as one graph that is ready to launch. Null where they cannot
// be captured, as a launch that launches a graph itself. Throws DeviceError for a lost device.
CudaGraphExec capture(cudaStream_t stream, std::span<const Launch> launches, std::int64_t repeats);

// Thread blocks of the launch's largest kernel. Empty where a library hides a kernel's parameters,
// or the launch cannot be captured.
std::optional<unsigned> thread_blocks(cudaStream_t stream, const Launch& launch);

// Whether a kernel of the launch may start before the kernel ahead of it has ended: two of the
// launch make a graph, whose edges tell a full dependency from a programmatic one.
Early early_of(cudaStream_t stream, const Launch& launch);

}  // namespace ridgebench
