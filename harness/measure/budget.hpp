// Divides the time of a run among its cases.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ridgebench {

// Smallest share of a case, in seconds. A case that is late is measured all the same.
inline constexpr double kShortestShare = 0.05;

class Budget {
 public:
  // `preparation_s` holds for each case an estimate of the seconds that it takes beside its share:
  // inputs, reference and comparisons. It is empty for a case that will be skipped. Without a
  // budget, every case has `seconds_per_case`.
  Budget(std::vector<std::optional<double>> preparation_s, std::optional<double> budget_s,
         double seconds_per_case);

  // Returns the seconds that case `index` may take for its warm-up and samples if the run started
  // `elapsed` seconds ago.
  [[nodiscard]] double share(std::size_t index, double elapsed) const;

  // Compares the estimate of a case with the seconds that it took beside its share. The later
  // estimates scale with all ratios so far.
  void learn(std::size_t index, double preparation_s);

  // Leaves out a case that needs no time, because an earlier process measured it.
  void leave_out(std::size_t index) { preparation_s_.at(index).reset(); }

  // The run takes at least this long, however small its budget is.
  [[nodiscard]] double shortest_s() const;
  // The run takes about this long.
  [[nodiscard]] double total_s() const;

 private:
  // The cases from `index` on: their number without those that will be skipped, and seconds.
  [[nodiscard]] double measured(std::size_t index) const;
  [[nodiscard]] double preparation(std::size_t index) const;

  std::vector<std::optional<double>> preparation_s_;
  std::optional<double> budget_s_;
  double seconds_per_case_;
  double estimated_s_ = 0;  // of the cases that were compared
  double taken_s_ = 0;      // by them
};

}  // namespace ridgebench
