// Launches captured as CUDA graphs: nothing runs while a stream captures.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "harness/device/cuda/handles.cuh"
#include "harness/device/timing.hpp"
#include "kernels/common/queue.hpp"

namespace ridgebench {

// The launches, `repeats` times over, as one graph that is ready to launch. Null where they copy,
// and where they cannot be captured, as a launch that launches a graph itself. Throws DeviceError
// for a lost device.
CudaGraphExec capture(cudaStream_t stream, std::span<const Launch> launches, std::int64_t repeats);

// The graphs of the rotations that a case times. Two techniques may take turns, so that each
// rotation keeps its graph.
class GraphCache {
 public:
  struct Graph {
    CudaGraphExec executable;  // of whole rotations; null where capture() makes none
    std::int64_t rotations = 0;
  };
  // A graph for a batch of `repeats` rotations. The large graph of a batch serves multiples of the
  // batch too. Valid until the next call.
  const Graph& graph_for(cudaStream_t stream, std::span<const Launch> rotation,
                         std::int64_t repeats);
  // The launches of a rotation must not change before.
  void clear() { graphs_.clear(); }

 private:
  std::map<std::pair<const Launch*, std::size_t>, Graph> graphs_;  // by rotation
};

// Thread blocks of the launch's largest kernel. Empty where a library hides a kernel's parameters,
// or the launch cannot be captured.
std::optional<unsigned> thread_blocks(cudaStream_t stream, const Launch& launch);

// True if a kernel of the launch may start before the kernel ahead of it has ended: two of the
// launch make a graph, whose edges distinguish a full dependency from a programmatic one.
Early early_of(cudaStream_t stream, const Launch& launch);

}  // namespace ridgebench
