#include "harness/device/cuda/telemetry.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "harness/base/stopwatch.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// A driver renews its readings about ten times a second. A line through the renewals of the energy
// counter needs the moment of each, to a fifth of that.
constexpr std::chrono::milliseconds kPeriod{20};
constexpr int kPeriodsOfASample = 3;

ordered_json named(const std::optional<std::uint64_t>& clock_events) {
  return clock_events ? ordered_json(names_of_clock_events(*clock_events)) : ordered_json(nullptr);
}

// Processes other than this one.
ordered_json others(const std::optional<unsigned>& processes) {
  return processes ? ordered_json(std::max(*processes, 1U) - 1) : ordered_json(nullptr);
}

// {median, min, max}; null without samples.
ordered_json summary(std::vector<double> samples) {
  if (samples.empty()) return nullptr;
  std::ranges::sort(samples);
  return {
      {"median", samples[samples.size() / 2]}, {"min", samples.front()}, {"max", samples.back()}};
}

}  // namespace

ordered_json state_of(const Nvml& nvml) {
  ordered_json state{{"sm_clock_hz", nullable(nvml.sm_clock_hz())},
                     {"memory_clock_hz", nullable(nvml.memory_clock_hz())},
                     {"performance_state", nullable(nvml.performance_state())},
                     {"power_w", nullable(nvml.power_w())},
                     {"temperature_c", nullable(nvml.temperature_c())},
                     {"memory_temperature_c", nullable(nvml.memory_temperature_c())},
                     {"energy_j", nullable(nvml.energy_j())},
                     {"clock_events", named(nvml.clock_events())},
                     {"power_capped_s", nullable(nvml.power_capped_s())},
                     {"heat_capped_s", nullable(nvml.heat_capped_s())},
                     {"ecc_corrected", nullable(nvml.corrected_errors())},
                     {"ecc_uncorrected", nullable(nvml.uncorrected_errors())},
                     {"remapped_rows", nvml.remapped_rows()},
                     {"xids", nullable(nvml.xids())},
                     {"other_processes", others(nvml.processes())}};
  state.update(nvml.wear());
  return state;
}

Telemetry::Telemetry(const Nvml& nvml)
    : nvml_(&nvml),
      quantities_{{"sm_clock_hz", &Nvml::sm_clock_hz, &LoadReading::sm_clock_hz},
                  {"memory_clock_hz", &Nvml::memory_clock_hz},
                  {"power_w", &Nvml::power_w, &LoadReading::power_w},
                  {"temperature_c", &Nvml::temperature_c, &LoadReading::temperature_c},
                  {"memory_temperature_c", &Nvml::memory_temperature_c}},
      thread_([this] { sample_until_stopped(); }) {}

Telemetry::~Telemetry() {
  if (thread_.joinable()) end_sampling();
}

void Telemetry::sample_until_stopped() {
  std::unique_lock lock(mutex_);
  for (int period = 0; !stopped_; ++period) {
    read_energy();
    if (period % kPeriodsOfASample == 0) take_sample();
    stopping_.wait_for(lock, kPeriod, [this] { return stopped_; });
  }
}

void Telemetry::take_sample() {
  LoadReading load;
  load.time_s = steady_s();
  for (Quantity& quantity : quantities_) {
    const auto value = (nvml_->*quantity.read)();
    if (value) quantity.samples.push_back(*value);
    if (quantity.of_load != nullptr) load.*quantity.of_load = value;
  }
  load_.push_back(load);
  if (const auto events = nvml_->clock_events())
    clock_events_ = clock_events_.value_or(0) | *events;
  if (const auto count = nvml_->processes()) processes_ = std::max(processes_.value_or(0), *count);
}

void Telemetry::read_energy() {
  const double start_s = steady_s();
  const std::optional<double> joules = nvml_->energy_j();
  if (joules) energy_.push_back({(start_s + steady_s()) / 2, *joules});
}

std::vector<CounterReading> Telemetry::energy_readings(double since_s) {
  const std::scoped_lock lock(mutex_);
  std::vector<CounterReading> found;
  std::ranges::copy_if(energy_, std::back_inserter(found),
                       [&](const CounterReading& reading) { return reading.time_s >= since_s; });
  return found;
}

std::vector<LoadReading> Telemetry::load_readings(double since_s) {
  const std::scoped_lock lock(mutex_);
  const auto first = std::ranges::find_if(
      load_, [&](const LoadReading& reading) { return reading.time_s >= since_s; });
  return {first, load_.end()};
}

void Telemetry::end_sampling() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
  thread_.join();
}

ordered_json Telemetry::stop() {
  end_sampling();
  ordered_json json = ordered_json::object();
  for (Quantity& quantity : quantities_) json[quantity.name] = summary(quantity.samples);
  json["samples"] = quantities_.front().samples.size();
  json["clock_events"] = named(clock_events_);
  json["other_processes"] = others(processes_);
  return json;
}

std::vector<Meter> meters_of(const Nvml& nvml) {
  return {{kEnergyMeter, nvml.energy_j()},
          {kPowerCappedMeter, nvml.power_capped_s()},
          {"heat_capped_s", nvml.heat_capped_s()},
          {"ecc_corrected", nvml.corrected_errors()},
          {"ecc_uncorrected", nvml.uncorrected_errors()}};
}

}  // namespace ridgebench
