// Looks again at rows that are faster than their roof allows: the row and the ceilings that it
// exceeds are measured in turns, because either may have been measured in an odd moment.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/measure/case.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

class SecondLooks {
 public:
  // Measures a case within `seconds`, as the run measures its cases.
  using Measure = std::function<Record(const Case& c, double seconds)>;

  // Adds a row of this run or of an earlier one: the rate of a ceiling, and what a second look at a
  // kernel found of its ceilings.
  void add(const Record& record);
  // Adds a ceiling that this process measures.
  void add(const Case& ceiling) { cases_.insert_or_assign(ceiling.id(), ceiling); }

  // Returns the row to be recorded. If it exceeds a ceiling by more than kSuspectMargin, the
  // function measures the row and each such ceiling again, in three turns of `seconds` together. If
  // the best rate of the ceiling explains the first samples, the row keeps them. If it explains
  // those of the turn with the median time, the row takes these. Else the row becomes `suspect` and
  // has no time. If the row fails in a turn, the function returns that record. `measure` may throw.
  Record confirm(Record record, const Case& c, double seconds, const Measure& measure);

 private:
  // The rate of a ceiling in second looks over the one that its row has; at least 1.
  [[nodiscard]] double raised(const std::optional<std::string>& ceiling) const;
  // The ceilings that the row exceeds by more than kSuspectMargin, at their best so far.
  [[nodiscard]] SecondLook exceeded(const Record& record) const;
  // Measures the ceilings that the row exceeds.
  void measure_ceilings(const Record& record, const Case& c, double seconds,
                        const Measure& measure);
  void measure_ceiling(const std::string& id, const Case& c, double seconds,
                       const Measure& measure);

  std::map<std::string, Case> cases_;
  std::map<std::string, double> rates_;   // by the id of a ceiling, in FLOP/s or byte/s
  std::map<std::string, double> raised_;  // the ceilings that a second look found to be faster
};

}  // namespace ridgebench
