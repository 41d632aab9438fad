// Telemetry of a GPU: at one moment, and while a row runs, sampled on a thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "harness/base/step_fit.hpp"
#include "harness/device/cuda/nvml.hpp"
#include "harness/device/load.hpp"
#include "harness/device/meters.hpp"

namespace ridgebench {

// Readings that may differ before and after a run; null if the driver does not report them.
nlohmann::ordered_json state_of(const Nvml& nvml);

// The totals of a GPU to which the samples of a case add.
std::vector<Meter> meters_of(const Nvml& nvml);

class Telemetry {
 public:
  // Samples `nvml` until stop() or the destructor.
  explicit Telemetry(const Nvml& nvml);
  Telemetry(const Telemetry&) = delete;  // owns a thread
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();

  // Ends the sampling. Returns {median, min, max}, or null without samples, of power_w,
  // sm_clock_hz, memory_clock_hz, temperature_c and memory_temperature_c; samples: their number;
  // clock_events: the names of all reasons that occurred; other_processes: the largest number at
  // once.
  nlohmann::ordered_json stop();

  // Readings of the energy counter since then, by steady_s(), some fifty a second.
  [[nodiscard]] std::vector<CounterReading> energy_readings(double since_s);

  // Power, clock and temperature since then, by steady_s(), some sixteen a second.
  [[nodiscard]] std::vector<LoadReading> load_readings(double since_s);

 private:
  void sample_until_stopped();
  void take_sample();
  void read_energy();
  void end_sampling();

  struct Quantity {
    const char* name;
    std::optional<double> (Nvml::*read)() const;
    std::optional<double> LoadReading::* of_load = nullptr;  // where a reading of a load has it
    std::vector<double> samples = {};
  };

  const Nvml* nvml_;
  std::vector<Quantity> quantities_;
  std::optional<std::uint64_t> clock_events_;
  std::optional<unsigned> processes_;
  std::vector<CounterReading> energy_;
  std::vector<LoadReading> load_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace ridgebench
