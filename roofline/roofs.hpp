// Where a roof comes from: a data sheet, or the ceilings of a results directory. `--on DEVICE`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/common/format.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/model.hpp"
#include "roofline/results.hpp"

namespace ridgebench {

// A rate (FLOP/s or byte/s) and what vouches for it: a sheet's name or a measured row's id.
struct Rate {
  double per_s;
  std::string origin;
};

class RoofSource {
 public:
  RoofSource() = default;
  RoofSource(const RoofSource&) = delete;
  RoofSource& operator=(const RoofSource&) = delete;
  virtual ~RoofSource() = default;

  // "h100-sxm", or the device and directory of the measurement.
  [[nodiscard]] virtual std::string name() const = 0;

  // The best engine of a format: fp32 on the FMA units, all others on the tensor units. Throws
  // UsageError for a format that the device does not have, naming those it has.
  [[nodiscard]] virtual Rate peak(Format format) const = 0;

  // Memory bandwidth for traffic of which this share is written; a data sheet has one for all.
  // Throws UsageError if none was measured.
  [[nodiscard]] virtual Rate bandwidth(double written_fraction) const = 0;

  // Capacity, where it is known.
  [[nodiscard]] virtual std::optional<double> memory_bytes() const = 0;
};

// A mixed pair has the peak of the slower of its formats. Throws as peak and bandwidth do.
Roof roof(const RoofSource& source, FormatPair format, double written_fraction);

std::unique_ptr<RoofSource> sheet_roofs(DeviceSpec sheet);

// `device` as in environment.json ("cpu"); empty: the only one that has ceilings. A storage format
// has the peak of the format that its rows did arithmetic in. Throws UsageError.
std::unique_ptr<RoofSource> measured_roofs(const Results& results, std::string_view device);

// DEVICE of the command line: a data sheet's name or alias, a data sheet file, or a results
// directory, with @cpu or @cuda:0 appended if it holds several devices. Throws UsageError.
std::unique_ptr<RoofSource> open_roof_source(const std::string& device);

}  // namespace ridgebench
