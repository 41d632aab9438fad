// The host as a device: pinned OpenMP threads, memory in huge pages, steady_clock.
#pragma once

#include <algorithm>
#include <memory>

#include "harness/device/cpu/cgroup.hpp"
#include "harness/device/cpu/memory.hpp"
#include "harness/device/cpu/threads.hpp"
#include "harness/device/device.hpp"

namespace ridgebench {

// A queue of the host's memory, for launches on that many threads.
std::unique_ptr<Queue> make_cpu_queue(int threads);

class CpuDevice : public Device {
 public:
  // Pins one thread to each processor that this process may use; a CPU quota of a control group and
  // OMP_NUM_THREADS limit them.
  CpuDevice();

  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] Backend backend() const override { return Backend::cpu; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] nlohmann::ordered_json identity() const override;
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] Queue& queue() override { return *queue_; }
  [[nodiscard]] double free_bytes() const override;
  [[nodiscard]] DeviceMemory& memory() override { return *memory_; }
  [[nodiscard]] bool processes_differ() const override { return true; }
  // Twice the bytes of other devices, because half of them may be streaming stores, which evict
  // nothing. A cache that replaces lines at random serves the share p = exp(-(1 - p) reads / cache)
  // of the reads: 20 % if they fill it twice, 6 % if three times, 2 % if four times. At most 1 GiB:
  // a host that reports a larger cache shares it with other tenants.
  [[nodiscard]] std::int64_t rotation_bytes() const override {
    return std::min(2 * Device::rotation_bytes(), kMostEvictingBytes);
  }
  [[nodiscard]] double tick_s() const override { return tick_s_; }
  [[nodiscard]] double launch_floor_s() const override { return launch_floor_s_; }
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override;
  Timing time_cold(const Launch& launch) override;
  void run(const Launch& launch) override { launch(); }
  // Energy of all processor packages, and the periods in which a CPU quota stopped the process.
  [[nodiscard]] std::vector<Meter> meters() const override;

 protected:
  Machine machine_;

 private:
  // `isolated`: for a launch of another process.
  void evict_caches(bool isolated);
  // Leaves the processors to a process of own kernels, and takes them back.
  void leave_processors();
  void take_processors();

  std::unique_ptr<Queue> queue_;
  std::unique_ptr<HostMemory> memory_;
  Cgroup cgroup_;
  ThreadCount threads_;
  std::string cache_note_;
  std::vector<int> processors_;  // that this process may use, before it pins its threads
  bool pinned_ = true;
  int pinned_threads_ = 0;
  double tick_s_ = 0;
  double launch_floor_s_ = 0;
  std::shared_ptr<void> eviction_buffer_;
};

}  // namespace ridgebench
