// The roofs that a device's own ceilings draw. A ceiling counts if it is a verified steady row with
// role ceiling and fp32 accumulation; a cache's bandwidth is no roof for rows served by memory, and
// a tensor burst (zeros for milliseconds) is no roof for sustained work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/results.hpp"

namespace ridgebench {

// A measured rate (FLOP/s or byte/s) and the id of the row that reached it.
struct MeasuredRate {
  double per_s;
  std::string id;
};

class MeasuredRoofs {
 public:
  MeasuredRoofs() = default;
  // All rows of one device.
  MeasuredRoofs(const Results& results, const std::string& device);

  // Takes a row if it is a ceiling that counts; of several of one kind the fastest is kept.
  void add(const ResultRow& row);

  [[nodiscard]] bool empty() const { return engines_.empty() && memory_.empty(); }

  // FLOP/s of an engine in a format; empty where no such ceiling was measured.
  [[nodiscard]] std::optional<MeasuredRate> engine_roof(Engine engine, Format format) const;

  // The faster of the fma and tensor engines in a format.
  [[nodiscard]] std::optional<MeasuredRate> best_engine_roof(Format format) const;

  // Results per second of the slowest special function that was measured.
  [[nodiscard]] std::optional<MeasuredRate> special_roof() const { return special_; }

  // Formats that have an engine ceiling, in the order of kFormats.
  [[nodiscard]] std::vector<Format> formats() const;

  // byte/s of the ceiling whose traffic has the nearest written fraction (read 0, triad 1/3,
  // copy 1/2, write 1); of two equally near the slower one. Empty without memory ceilings.
  [[nodiscard]] std::optional<MeasuredRate> memory_roof(double written_fraction) const;

 private:
  struct EngineRoof {
    Engine engine;
    Format format;
    MeasuredRate rate;
  };
  struct MemoryRoof {
    double written_fraction;
    MeasuredRate rate;
  };

  void add_engine(Engine engine, const ResultRow& row);
  void add_memory(const ResultRow& row);
  void add_special(const ResultRow& row);

  std::vector<EngineRoof> engines_;
  std::vector<MemoryRoof> memory_;
  std::optional<MeasuredRate> special_;
};

}  // namespace ridgebench
