// The rates that limit work on a device. They come from a data sheet or from measured ceilings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/model.hpp"

namespace ridgebench {

// A rate is FLOP/s of an engine in a format, byte/s of the memory for one mix of reads and writes,
// or results per second of the special-function units or of conversions.
struct Rate {
  Resource resource;            // memory, fma, tensor, sfu, narrow or widen
  Format format;                // of an engine or of a conversion
  double written_fraction = 0;  // of the memory's traffic
  double per_s = 0;
  std::string origin;  // a sheet's name or a measured row's id
};

class Roofs {
 public:
  // Error messages start with `name`: "h100-sxm", or a device and its results directory.
  explicit Roofs(std::string name = "", std::optional<double> memory_bytes = {})
      : name_(std::move(name)), memory_bytes_(memory_bytes) {}
  // Holds the dense peaks with fp32 accumulation, and one bandwidth for all traffic.
  explicit Roofs(const DeviceSpec& sheet);

  // Keeps the highest rate of each kind. Of the special functions it keeps the lowest rate.
  void add(const Rate& rate);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::optional<double> memory_bytes() const { return memory_bytes_; }
  [[nodiscard]] bool empty() const { return rates_.empty(); }

  // FLOP/s of an engine (fma or tensor) in a format; empty if it is unknown.
  [[nodiscard]] std::optional<Rate> engine_roof(Engine engine, Format format) const;
  // FLOP/s of the faster of the two engines.
  [[nodiscard]] std::optional<Rate> best_engine_roof(Format format) const;
  // Results per second of the slowest special function.
  [[nodiscard]] std::optional<Rate> special_roof() const;
  // Conversions per second to (narrow) or from (widen) a format.
  [[nodiscard]] std::optional<Rate> conversion_roof(Resource direction, Format format) const;
  // byte/s of the traffic whose written fraction is nearest (read 0, triad 1/3, copy 1/2, write 1).
  // If two are equally near, the function returns the lower rate.
  [[nodiscard]] std::optional<Rate> memory_roof(double written_fraction) const;

  // These return best_engine_roof and memory_roof. They throw UsageError if there is none.
  [[nodiscard]] Rate peak(Format format) const;
  [[nodiscard]] Rate bandwidth(double written_fraction) const;

 private:
  std::string name_;
  std::optional<double> memory_bytes_;
  std::vector<Rate> rates_;
};

// Returns the two rates of the model. The peak of a mixed pair is the lower of its formats' peaks.
// Throws UsageError if a rate is unknown.
Roof roof(const Roofs& roofs, FormatPair format, double written_fraction);

}  // namespace ridgebench
