// Launches of kernels that want more shared memory than a block may have declared, clusters, or to
// start before the kernel ahead of them ends (programmatic dependent launch; cuBLAS uses it too).
#pragma once

#include <cuda_runtime.h>

#include "kernels/common/cuda/check.cuh"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda {

// The most a block can have on compute capability 9.0. Source: CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability": 227 KiB.
inline constexpr int kMostSharedBytes = 227 << 10;

struct ClusterGrid {
  dim3 blocks;  // along x a multiple of `cluster`
  int threads;
  int shared_bytes;  // dynamic
  cudaStream_t stream;
  unsigned cluster = 1;  // blocks, along x
  // Blocks may start where room comes free; the kernel calls wait_for_predecessor().
  bool early = false;
};

// All threads, before the first access to global memory: the kernel ahead has ended and what it
// wrote is visible. Before, those of this kernel that follow may start. Source: PTX ISA,
// "griddepcontrol".
__device__ inline void wait_for_predecessor() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

namespace cluster_launch_detail {

// Holds the attribute that it points to.
class Configuration {
 public:
  explicit Configuration(const ClusterGrid& grid) {
    attributes_[0].id = cudaLaunchAttributeClusterDimension;
    attributes_[0].val.clusterDim = {grid.cluster, 1, 1};
    attributes_[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes_[1].val.programmaticStreamSerializationAllowed = 1;
    config_.gridDim = grid.blocks;
    config_.blockDim = dim3(static_cast<unsigned>(grid.threads));
    config_.dynamicSmemBytes = static_cast<std::size_t>(grid.shared_bytes);
    config_.stream = grid.stream;
    config_.attrs = attributes_;
    config_.numAttrs = grid.early ? 2 : 1;
  }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;
  ~Configuration() = default;

  [[nodiscard]] const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchAttribute attributes_[2]{};
  cudaLaunchConfig_t config_{};
};

}  // namespace cluster_launch_detail

// Lets the kernel have its dynamic shared memory: once, before its launches.
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), const ClusterGrid& grid,
            const std::type_identity_t<Parameters>&... arguments) {
  const cluster_launch_detail::Configuration configuration(grid);
  check(cudaLaunchKernelEx(configuration.get(), kernel, arguments...));
}

// Clusters of such a grid that the device holds at once.
template <class... Parameters>
int clusters_at_once(void (*kernel)(Parameters...), const ClusterGrid& grid) {
  const cluster_launch_detail::Configuration configuration(grid);
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, kernel, configuration.get()));
  return clusters;
}

}  // namespace ridgebench::cuda
