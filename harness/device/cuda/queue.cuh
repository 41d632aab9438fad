// A stream of a GPU as the queue of techniques.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness/device/cuda/nvml.hpp"
#include "harness/device/cuda/timer.cuh"
#include "harness/device/isolated/gpu/queue.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/queue.hpp"

namespace ridgebench {

// Bytes that allocations may take now: most of the free memory.
inline double free_device_bytes() {
  constexpr double kUsable = 0.95;
  std::size_t free = 0;
  std::size_t total = 0;
  cuda::check(cudaMemGetInfo(&free, &total));
  return kUsable * static_cast<double>(free);
}

class CudaQueue final : public GpuQueue {
 public:
  CudaQueue(std::string device, cudaStream_t stream, CudaTimer& timer)
      : GpuQueue(std::move(device)), stream_(stream), timer_(&timer) {}
  [[nodiscard]] void* stream() const override { return stream_; }
  [[nodiscard]] std::shared_ptr<void> allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw OutOfMemory(static_cast<double>(bytes), free_device_bytes());
    }
    cuda::check(status);
    return {memory, [](void* p) { static_cast<void>(cudaFree(p)); }};
  }
  void begin() override { timer_->open_gate(); }
  [[nodiscard]] double time(const Launch& launch) override {
    return timer_->time({&launch, 1}, 1).seconds;
  }
  [[nodiscard]] std::vector<double> time_turns(std::span<const Turn> turns) override {
    return timer_->time_turns(turns);
  }
  [[nodiscard]] std::optional<double> power_capped_s() const override {
    return nvml_ == nullptr ? std::nullopt : nvml_->power_capped_s();
  }
  void watch_power(const Nvml& nvml) { nvml_ = &nvml; }
  // Lines of the L2 cache that a kernel has set aside would serve a later one, or be missing to it.
  // A part of a GPU may refuse to change them; then no kernel could set any aside.
  void forget_cache_policy() const {
    const cudaStreamAttrValue no_window{};
    static_cast<void>(
        cudaStreamSetAttribute(stream_, cudaStreamAttributeAccessPolicyWindow, &no_window));
    static_cast<void>(cudaCtxResetPersistingL2Cache());
    static_cast<void>(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
    static_cast<void>(cudaGetLastError());
  }

 private:
  cudaStream_t stream_;
  CudaTimer* timer_;
  const Nvml* nvml_ = nullptr;
};

}  // namespace ridgebench
