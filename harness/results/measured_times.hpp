// The times that a results directory holds of its operations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/measured_roofs.hpp"
#include "harness/results/record.hpp"
#include "harness/results/step_rows.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {

// A median time, and the power state in which it was measured if that is known.
struct MeasuredTime {
  double seconds;
  std::optional<PowerState> state = std::nullopt;
};
// The best time of each shape, by its text.
using BestTimes = std::map<std::string, MeasuredTime>;

// Keeps the time if it is the best of its shape.
void keep_best(BestTimes& best, const Shape& shape, const MeasuredTime& time);

class MeasuredTimes {
 public:
  // Reads what `device` names, as open_roofs takes it: a run or a step; nothing for a data sheet.
  // Throws UsageError.
  explicit MeasuredTimes(const std::string& device);

  // Returns the best times of an operation: of a run those of its verified steady kernels, of a
  // step those of its parts that no cache may serve. Throws UsageError.
  [[nodiscard]] BestTimes best(const Operation& operation, FormatPair format) const;
  [[nodiscard]] bool of_step() const { return !steps_.empty(); }

 private:
  [[nodiscard]] Shape shape_of(const Shape& shape, const Operation& operation,
                               const std::string& row) const;

  std::optional<ResultsOfDevice> results_;
  std::vector<Record> records_;  // kernels of the device whose roofs open_roofs returns
  std::vector<StepRows> steps_;
};

}  // namespace ridgebench
