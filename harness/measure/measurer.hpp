// Measures one row: buffers, verification before and after, samples, and what they mean.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/injected_work.hpp"
#include "harness/measure/output_check.hpp"
#include "harness/measure/sampler.hpp"
#include "roofline/measured_roofs.hpp"

namespace ridgebench {

// State that the rows of one device share.
class Measurer {
 public:
  Measurer(Device& device, Fill fill, std::uint64_t seed);

  // Never throws for a row's own failure: it becomes the record's status and reason. Throws
  // Interrupted, and DeviceError when the device is lost.
  Record measure(const Case& row, double seconds, const std::function<bool()>& stop);

  // From now on `end_turn` is called before each batch; see SamplingLimits.
  void take_turns(std::function<double()> end_turn) { end_turn_ = std::move(end_turn); }

  // Ceilings by which later rows are judged. A verified ceiling that measure() returns is added by
  // itself; this adds those of an earlier run.
  void add_ceiling(const Record& record);

  [[nodiscard]] const MeasuredRoofs& roofs() const { return roofs_; }

 private:
  struct Bound {  // a row's buffers and the launches on them
    std::vector<BufferSet> sets;
    std::vector<Launch> rotation;
  };

  [[nodiscard]] Record described(const Case& row) const;
  // With too little memory beside the buffers of earlier rows, once more without them.
  void measure_with_room(Record& record, const Case& row, double seconds,
                         const std::function<bool()>& stop);
  void measure_into(Record& record, const Case& row, double seconds,
                    const std::function<bool()>& stop);
  Plan prepare(const Case& row);
  // What is wrong if a guard zone changed.
  std::optional<std::string> stray_write();
  // With poisoned outputs.
  Bound bind(const Case& row, const Plan& plan, std::int64_t sets, std::int64_t later = 0);
  std::int64_t affordable_sets(const Launch& launch, double seconds);
  // Of a row that is right: its samples, their statistics and what they are judged by.
  void finish(Record& record, const Case& row, const Samples& samples) const;
  void add_work(Record& record, const Case& row, Bound& bound) const;

  Device* device_;
  Fill fill_;
  std::uint64_t seed_;
  Buffers buffers_;
  OutputCheck check_;
  InjectedWork injected_;
  MeasuredRoofs roofs_;
  std::function<double()> end_turn_;
};

}  // namespace ridgebench
