// Times batches on a GPU by events. The host enqueues a batch behind a closed gate, so that the
// host's time of a launch does not show. Stamps before and after the batch, outside the events,
// give the clock that the SMs held.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/cuda/handles.cuh"
#include "harness/device/timing.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench {

// Clocks of one SM at one moment.
struct ClockStamp {
  unsigned sm;
  long long cycles;
  long long nanoseconds;
};

class CudaTimer {
 public:
  CudaTimer(cudaStream_t stream, int sms);

  // Seconds of `repeats` runs of the launches. Each launch must have run before, which loads its
  // kernels. `before` is enqueued ahead of them, outside the events. Throws DeviceError for a lost
  // device, std::runtime_error for a launch that failed and where enqueueing outlasted the gate's
  // limit.
  Timing time(std::span<const Launch> launches, std::int64_t repeats, const Launch& before = {}) {
    return wait(start(launches, repeats, before));
  }

  // The same in two steps, so that the stream has the next batch before the last one is done. At
  // most two batches may be started and not waited for; the number distinguishes them.
  std::size_t start(std::span<const Launch> launches, std::int64_t repeats,
                    const Launch& before = {});
  Timing wait(std::size_t batch);

  // Opens the gate of the batch that is being enqueued.
  void open_gate() { *const_cast<volatile unsigned*>(&shared_->open) = gate_; }

  // Seconds of each turn, by events between turns that the host enqueues without waiting. No gate
  // holds them back: only the first turns can show that the device waited for the host.
  std::vector<double> time_turns(std::span<const Turn> turns);

  // The NVTX range, of domain `ridgebench`, that spans the launches of later batches, for tools
  // that count within it; empty: none.
  void set_range(std::string name) { range_ = std::move(name); }

  // Smallest step of the time between two events, by many short intervals.
  double tick_s();
  // Seconds from one empty kernel to the next: in a stream, and as nodes of a graph.
  double launch_gap_s();
  double graph_gap_s();

 private:
  static constexpr std::size_t kBatches = 2;
  // In memory that host and device share.
  struct Shared {
    unsigned open;                             // the number of the last gate that may be passed
    std::array<unsigned, kBatches> timed_out;  // set by the gate of a batch that gave up
  };
  // State of a batch that runs or waits.
  struct Events {
    CudaEvent start, stop;  // around its launches
    CudaEvent done;         // after its stamps
  };
  class GateOpener;

  void enqueue(std::span<const Launch> launches, std::int64_t repeats, GateOpener& gate) const;
  // Stamps of a batch: one for each SM before its launches, then one for each after them.
  [[nodiscard]] std::span<ClockStamp> stamps(std::size_t batch) const;
  [[nodiscard]] std::optional<double> clock_hz(std::size_t batch) const;

  cudaStream_t stream_;
  int sms_;
  std::array<Events, kBatches> events_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<ClockStamp> stamps_;
  unsigned gate_ = 0;
  std::size_t next_ = 0;  // batch
  std::string range_;
};

}  // namespace ridgebench
