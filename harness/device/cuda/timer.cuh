// Times batches on a GPU by events. A batch is enqueued behind a closed gate, so that what it costs
// the host to launch does not show; stamps before and after it, outside the events, tell the clock
// that the SMs held.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "harness/device/device.hpp"
#include "kernels/common/cuda/check.cuh"

namespace ridgebench {

// Owns a CUDA object by the function that destroys it.
template <class Handle, cudaError_t (*Destroy)(Handle)>
struct CudaDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const { static_cast<void>(Destroy(handle)); }
};
using CudaStream = std::unique_ptr<cudaStream_t, CudaDeleter<cudaStream_t, cudaStreamDestroy>>;
using CudaEvent = std::unique_ptr<cudaEvent_t, CudaDeleter<cudaEvent_t, cudaEventDestroy>>;
using CudaGraph = std::unique_ptr<cudaGraph_t, CudaDeleter<cudaGraph_t, cudaGraphDestroy>>;
using CudaGraphExec =
    std::unique_ptr<cudaGraphExec_t, CudaDeleter<cudaGraphExec_t, cudaGraphExecDestroy>>;

// Clocks of one SM at one moment.
struct ClockStamp {
  unsigned sm;
  long long cycles;
  long long nanoseconds;
};

class CudaTimer {
 public:
  CudaTimer(cudaStream_t stream, int sms);

  // Seconds of `repeats` runs of the launches, each of which must have run before (its kernels are
  // loaded then). `before` is enqueued ahead of them, outside the events. Throws DeviceError for a
  // lost device, std::runtime_error for a launch that failed and where enqueueing took so long that
  // the gate gave up.
  Timing time(std::span<const Launch> launches, std::int64_t repeats, const Launch& before = {});

  // The launches, `repeats` times over, as one graph; null where they cannot be captured, as one
  // that launches a graph itself. Throws DeviceError for a lost device.
  CudaGraphExec capture(std::span<const Launch> launches, std::int64_t repeats);
  // Thread blocks of the launch's largest kernel, which is not run; empty where a kernel does not
  // tell.
  std::optional<unsigned> blocks(const Launch& launch);

  // Smallest step of the time between two events, by many short intervals.
  double tick_s();
  // Seconds from one empty kernel to the next: in a stream, and as nodes of a graph.
  double launch_gap_s();
  double graph_gap_s();

 private:
  // In memory that host and device share.
  struct Shared {
    unsigned open;       // the number of the last gate that may be passed
    unsigned timed_out;  // set by a gate that gave up
  };
  class GateOpener;

  std::optional<double> clock_hz() const;
  // Null where they cannot be captured.
  CudaGraph graph_of(std::span<const Launch> launches, std::int64_t repeats);

  cudaStream_t stream_;
  int sms_;
  CudaEvent start_;
  CudaEvent stop_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<ClockStamp> stamps_;  // sms_ before the batch, sms_ after it
  unsigned gate_ = 0;
};

}  // namespace ridgebench
