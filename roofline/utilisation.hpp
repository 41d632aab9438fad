// Compares a measured row with three denominators that are never merged (docs/method.md), and finds
// rows that are physically impossible. A result is empty if its denominator is unknown.
#pragma once

#include <optional>
#include <string>

#include "roofline/device_spec.hpp"
#include "roofline/model.hpp"

namespace ridgebench {

// One launch and its median time, which is above 0.
struct Timed {
  Work work;
  double time_s;
};

// (a) Model FLOPs utilisation: achieved FLOP/s over the dense data-sheet peak of the format's best
// engine. It exceeds 1 if the device holds a higher clock than the data sheet assumes.
std::optional<double> mfu(const Timed& row, const DeviceSpec* sheet, Format format);

// Returns that peak in FLOP/s at the clock that the device held (Hz).
std::optional<double> peak_at_clock_flops_per_s(const DeviceSpec* sheet, Format format,
                                                std::optional<double> clock_hz);

// (b) Achieved FLOP/s over the peak at the clock held.
std::optional<double> fraction_of_roof_at_clock(const Timed& row,
                                                std::optional<double> peak_at_clock_flops_per_s);

// The limits of a row. The roof holds the ceilings of the engine and of the memory for this traffic
// mix, measured on the same device. special_s is the least time of the special functions or of the
// conversions of a launch.
struct Limits {
  std::optional<Roof> roof = std::nullopt;
  std::optional<double> special_s = std::nullopt;
  std::optional<double> launch_floor_s = std::nullopt;  // an empty launch
};

// (c) Achieved over attainable speed: the least time by the roof and by special_s, over the time
// taken. The ratio of times serves rows without FLOPs. Empty without a roof.
std::optional<double> fraction_of_measured_roof(const Timed& row, const Limits& limits);

// Returns launch if the row is shorter than 10 launch floors. Else the longest of the
// special-function, arithmetic and traffic times decides. The result is empty without a roof.
std::optional<Limit> row_bound(const Timed& row, const Limits& limits);

// The physical limits of a row: the rate of the memory that serves it (a DRAM's pins, a cache's
// ports) and the rate of the engine.
struct Physics {
  std::optional<double> bandwidth_bytes_per_s = std::nullopt;
  std::optional<double> issue_flops_per_s = std::nullopt;  // at the clock held
};

// Returns why a row is impossible: it exceeds a physical limit by more than 1 %, so its FLOPs,
// bytes or time are miscounted. The result is empty for a possible row.
std::optional<std::string> miscounted(const Timed& row, const Physics& physics);

}  // namespace ridgebench
