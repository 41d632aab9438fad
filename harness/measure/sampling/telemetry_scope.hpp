// The telemetry of a case while it is measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

// Records the device's telemetry of a case, also if the case throws.
class TelemetryScope {
 public:
  TelemetryScope(Device& device, Record& record) : device_(&device), record_(&record) {
    device.begin_case(record.id);
  }
  TelemetryScope(const TelemetryScope&) = delete;  // the destructor ends the case
  TelemetryScope& operator=(const TelemetryScope&) = delete;
  ~TelemetryScope() {
    record_->telemetry = device_->end_case();
    record_->telemetry["window"] = std::move(window);
    if (!load.empty()) record_->telemetry["load"] = to_json(load);
    if (!unit_fingerprints.empty()) record_->telemetry["unit_fingerprints"] = unit_fingerprints;
    if (!unit_times.empty()) record_->telemetry["unit_times_s"] = unit_times;  // NaN becomes null
  }

  nlohmann::ordered_json window = nullptr;  // cost of the samples; null without samples
  std::vector<LoadReading> load;            // of a case that has to be hot
  std::vector<double> unit_times;           // Implementation::unit_times
  // The hash of the results of each multiprocessor, by its number (fingerprint.hpp).
  std::vector<std::string> unit_fingerprints;

 private:
  Device* device_;
  Record* record_;
};

}  // namespace ridgebench
