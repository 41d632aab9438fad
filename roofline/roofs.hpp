// The rates that limit work on a device. They come from a data sheet or from measured rows.
//
// One rule serves predict, plan and run. CUDA cores, and the vector units of a host, compute in
// fp32 whatever the storage format is. They limit relu, gelu, dot and matvec. A tensor engine
// computes in the storage format and limits matmul, as far as it has one. Each traffic mix has the
// bandwidth that was measured with that mix.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/operation.hpp"
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
  explicit Roofs(std::string name = "", std::optional<double> memory_bytes = {},
                 std::optional<double> launch_floor_s = {})
      : name_(std::move(name)),
        memory_bytes_(memory_bytes),
        usable_memory_bytes_(memory_bytes),
        launch_floor_s_(launch_floor_s) {}
  // Holds the dense peaks with fp32 accumulation, and one bandwidth for all traffic.
  explicit Roofs(const DeviceSpec& sheet);

  // Keeps the highest rate of each kind. Of the special functions it keeps the lowest rate.
  void add(const Rate& rate);
  // Keeps the peaks that the vendor of the device promises, which an MFU is a share of.
  void promise(const DeviceSpec& sheet);

  [[nodiscard]] const std::string& name() const { return name_; }
  // A data sheet's number is the nominal one (80e9 for 80 GB), a run's is what its driver reports.
  [[nodiscard]] std::optional<double> memory_bytes() const { return memory_bytes_; }
  // Facts that a driver reports about such a device; empty if no source has them.
  [[nodiscard]] std::optional<double> usable_memory_bytes() const { return usable_memory_bytes_; }
  // The power that the data sheet states; empty without one.
  [[nodiscard]] std::optional<double> tdp_w() const { return tdp_w_; }
  // Seconds of an empty launch, as measured; empty for a data sheet.
  [[nodiscard]] std::optional<double> launch_floor_s() const { return launch_floor_s_; }
  [[nodiscard]] const std::vector<Rate>& rates() const { return rates_; }
  [[nodiscard]] bool empty() const { return rates_.empty(); }

  // FLOP/s of an engine (fma or tensor) in a format; empty if it is unknown.
  [[nodiscard]] std::optional<Rate> engine_roof(Engine engine, Format format) const;
  // FLOP/s of the faster of the two engines.
  [[nodiscard]] std::optional<Rate> best_engine_roof(Format format) const;
  // FLOP/s of an operation whose arithmetic `engine` may do, by the rule above. A mixed pair has
  // the lower peak of its formats.
  [[nodiscard]] std::optional<Rate> arithmetic_roof(Engine engine, FormatPair format) const;
  // Results per second of the slowest special function.
  [[nodiscard]] std::optional<Rate> special_roof() const;
  // Conversions per second to (narrow) or from (widen) a format.
  [[nodiscard]] std::optional<Rate> conversion_roof(Resource direction, Format format) const;
  // byte/s of the traffic whose written fraction is nearest (read 0, triad 1/3, copy 1/2, write 1).
  // If two are equally near, the function returns the lower rate.
  [[nodiscard]] std::optional<Rate> memory_roof(double written_fraction) const;

  // The name of the data sheet that promises the peaks; empty without one.
  [[nodiscard]] const std::string& data_sheet() const { return data_sheet_; }
  // The data sheet's dense peak of a format's best engine; empty if no data sheet promises one.
  [[nodiscard]] std::optional<Rate> promised_peak(FormatPair format) const;

  // The peak that an MFU is a share of: the data sheet's, or the measured one of a device without a
  // data sheet. Throws UsageError if the format has none.
  [[nodiscard]] Rate mfu_peak(FormatPair format) const;

  // These return what an operation of the tensor engine and what traffic reach. They throw
  // UsageError if that is unknown.
  [[nodiscard]] Rate peak(FormatPair format) const;
  [[nodiscard]] Rate bandwidth(double written_fraction) const;

 private:
  std::string name_;
  std::optional<double> memory_bytes_;
  std::optional<double> usable_memory_bytes_;
  std::optional<double> tdp_w_;
  std::optional<double> launch_floor_s_;
  std::vector<Rate> rates_;
  std::string data_sheet_;
  std::vector<Rate> promised_;
};

// The two rates of the model for an operation.
struct LimitingRates {
  std::optional<Rate> peak;  // empty: only the traffic decides
  Rate bandwidth;

  // Without a peak the arithmetic takes no time.
  [[nodiscard]] Roof roof() const;
};

// Returns the rates of an operation whose arithmetic `engine` may do. Throws UsageError without the
// bandwidth, or without the peak of a tensor operation, which arithmetic may well limit.
LimitingRates limiting_rates(const Roofs& roofs, Engine engine, FormatPair format,
                             double written_fraction);

}  // namespace ridgebench
