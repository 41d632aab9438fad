// How good a measured row is, against three denominators that are never merged (docs/method.md),
// and whether it is physically possible. Every result is empty where its denominator is unknown.
#pragma once

#include <optional>
#include <string>

#include "roofline/device_spec.hpp"
#include "roofline/model.hpp"

namespace ridgebench {

// One launch, by its median time; seconds > 0.
struct Timed {
  Work work;
  double time_s;
};

// (a) Model FLOPs utilisation: achieved FLOP/s over the dense data-sheet peak of the format's best
// engine. May exceed 1 where the device clocks higher than its data sheet assumes.
std::optional<double> mfu(const Timed& row, const DeviceSpec* sheet, Format format);

// FLOP/s of that peak at the clock that the device held (Hz).
std::optional<double> peak_at_clock_flops_per_s(const DeviceSpec* sheet, Format format,
                                                std::optional<double> clock_hz);

// (b) Achieved FLOP/s over the peak at the clock held.
std::optional<double> fraction_of_roof_at_clock(const Timed& row,
                                                std::optional<double> peak_at_clock_flops_per_s);

// (c) Achieved over attainable under the ceilings measured on the same device: the engine's, and
// the memory's for this traffic mix. Written in time, so that it covers rows without FLOPs.
std::optional<double> fraction_of_measured_roof(const Timed& row, const std::optional<Roof>& roof);

// What else may limit a row. special_results is a count per launch.
struct Limits {
  std::optional<Roof> roof = std::nullopt;
  double special_results = 0;
  std::optional<double> special_results_per_s = std::nullopt;
  std::optional<double> launch_floor_s = std::nullopt;  // an empty launch
};

// Launch for a row shorter than 10 launch floors; then the longest of the special-function,
// arithmetic and traffic times. Empty without a roof.
std::optional<Limit> row_bound(const Timed& row, const Limits& limits);

// Rates that nothing can exceed: of the memory that serves the row (a DRAM's pins, a cache's ports)
// and of the engine.
struct Physics {
  std::optional<double> bandwidth_bytes_per_s = std::nullopt;
  std::optional<double> issue_flops_per_s = std::nullopt;  // at the clock held
};

// Why a row cannot be true: it beats a physical limit by more than 1 %, so FLOPs, bytes or time are
// miscounted. Empty for a row that is possible.
std::optional<std::string> miscounted(const Timed& row, const Physics& physics);

}  // namespace ridgebench
