// A device to measure: its identity, memory, queue and clock. Adapters: the host and CUDA; the
// tests add a simulated device.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/step_fit.hpp"
#include "harness/device/device_memory.hpp"
#include "harness/device/isolated/shared_memory.hpp"
#include "harness/device/load.hpp"
#include "harness/device/meters.hpp"
#include "harness/device/timing.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/model.hpp"

namespace ridgebench {

// A batch that a device was given and may still run.
class RunningBatch {
 public:
  RunningBatch() = default;
  RunningBatch(const RunningBatch&) = delete;  // the device writes its time once
  RunningBatch& operator=(const RunningBatch&) = delete;
  virtual ~RunningBatch() = default;
  // Waits until the batch is done. Called once. Throws DeviceError when the device is lost.
  virtual Timing wait() = 0;
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;  // owns a queue and memory
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  // "cpu" or "cuda:0": the part of a case's id after the @.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Backend backend() const = 0;
  [[nodiscard]] virtual const Machine& machine() const = 0;
  // The device's entry of environment.json.
  [[nodiscard]] virtual nlohmann::ordered_json identity() const = 0;
  // Readings that may differ before and after a run; null where unreadable, empty if none exist.
  [[nodiscard]] virtual nlohmann::ordered_json state() const {
    return nlohmann::ordered_json::object();
  }
  // Surprises of how the device was opened; open_devices() prints them, identity() holds them.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  // Name of the matching data sheet; empty if there is none (any host).
  [[nodiscard]] virtual std::string data_sheet() const { return {}; }

  [[nodiscard]] virtual Queue& queue() = 0;
  // Bytes that an allocation may take now.
  [[nodiscard]] virtual double free_bytes() const = 0;
  [[nodiscard]] virtual DeviceMemory& memory() = 0;

  // Memory of the device for own kernels in another process, which can write into it only if it is
  // `writable`: an arena of shared_memory.hpp. Throws OutOfMemory.
  [[nodiscard]] virtual std::shared_ptr<void> allocate_shared(std::size_t bytes, bool writable);
  // In that other process: maps an arena, and takes its descriptor. Throws std::exception.
  [[nodiscard]] virtual MappedArena map_shared(int descriptor, std::size_t bytes, bool writable);
  // Why own kernels cannot run in another process on this device; empty if they can.
  [[nodiscard]] virtual std::string why_not_isolated() { return {}; }
  // Waits for all work that this process gave the device, that of other streams included.
  virtual void wait_for_all() {}

  // Bytes of traffic between two uses of a cache line after which memory serves the second.
  [[nodiscard]] virtual std::int64_t rotation_bytes() const { return machine().evicting_bytes(); }
  // Seconds in which power settles under a tensor load: the shortest warm-up of such cases.
  [[nodiscard]] virtual double tensor_warm_up_s() const { return 0; }
  // True if the same launch has another time in another process, by more than its noise: the pages
  // of a host's buffers differ.
  [[nodiscard]] virtual bool processes_differ() const { return false; }
  // Around everything that belongs to one case: the device takes telemetry, and profilers see the
  // id around timed launches. The result is the record's `telemetry`; empty if there is none.
  virtual void begin_case(const std::string& /*id*/) {}
  virtual nlohmann::ordered_json end_case() { return nlohmann::ordered_json::object(); }
  // Share of the multiprocessors that a launch can keep busy: its thread blocks over their number,
  // at most 1. Empty where it is unknown.
  [[nodiscard]] virtual std::optional<double> busy_share(const Launch& /*launch*/) { return {}; }
  // Asked of a launch that has run before. A launch of a host returns when its work is done.
  [[nodiscard]] virtual Early early(const Launch& /*launch*/) {
    return {.early = false, .unknown = {}};
  }
  // Totals to which the samples of a case add, next to their time.
  [[nodiscard]] virtual std::vector<Meter> meters() const { return {}; }
  // Readings of the energy counter in joules that a thread took since then, by the clock of
  // now_s(); a total may come twice. Empty where no thread watches the counter.
  [[nodiscard]] virtual std::vector<CounterReading> energy_readings(double /*since_s*/) const {
    return {};
  }
  // Power, clock and temperature that a thread read since then, by the clock of now_s().
  [[nodiscard]] virtual std::vector<LoadReading> load_readings(double /*since_s*/) const {
    return {};
  }
  // Smallest step of the device's timer and time of an empty launch, in seconds.
  [[nodiscard]] virtual double tick_s() const = 0;
  [[nodiscard]] virtual double launch_floor_s() const = 0;
  // Runs the rotation `repeats` times back to back and waits for it. Throws DeviceError when the
  // device is lost.
  virtual Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) = 0;
  // Runs each launch once and waits.
  virtual Timing time_once(std::span<const Launch> launches) { return time_batch(launches, 1); }
  // True if launches, and start_batch(), return before the work is done.
  [[nodiscard]] virtual bool asynchronous() const { return false; }
  // Gives the device the same batch and returns without waiting, where the device can do so. A
  // caller that starts the next batch before it waits for this one keeps the device busy. Batches
  // run in the order of their starts, and at most two may be started and not waited for. The
  // launches of `rotation` must outlive the batch. By default the batch runs at once.
  virtual std::unique_ptr<RunningBatch> start_batch(std::span<const Launch> rotation,
                                                    std::int64_t repeats);
  // Seconds since some moment in the past, by the clock that budgets are counted with. A simulated
  // device moves its own clock, so that its tests do not wait.
  [[nodiscard]] virtual double now_s() const;
  // Empties the caches by reading, outside the timed part, then times one launch.
  virtual Timing time_cold(const Launch& launch) = 0;
  // Runs once, untimed, and waits.
  virtual void run(const Launch& launch) = 0;
  // Runs each launch of a rotation so.
  void run_each(std::span<const Launch> rotation);
};

}  // namespace ridgebench
