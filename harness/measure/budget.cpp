#include "harness/measure/budget.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ridgebench {

Budget::Budget(std::vector<std::optional<double>> preparation_s, std::optional<double> budget_s,
               double seconds_per_case)
    : preparation_s_(std::move(preparation_s)),
      budget_s_(budget_s),
      seconds_per_case_(seconds_per_case) {}

double Budget::share(std::size_t index, double elapsed) const {
  if (!budget_s_) return seconds_per_case_;
  const double left = *budget_s_ - elapsed - preparation(index);
  return std::max(kShortestShare, left / std::max(1.0, measured(index)));
}

void Budget::learn(std::size_t index, double preparation_s) {
  if (!preparation_s_.at(index)) return;
  estimated_s_ += *preparation_s_[index];
  taken_s_ += preparation_s;
}

double Budget::shortest_s() const { return preparation(0) + measured(0) * kShortestShare; }

double Budget::total_s() const {
  if (budget_s_) return std::max(*budget_s_, shortest_s());
  return preparation(0) + measured(0) * seconds_per_case_;
}

double Budget::measured(std::size_t index) const {
  const auto first = preparation_s_.begin() + static_cast<std::ptrdiff_t>(index);
  return static_cast<double>(std::count_if(
      first, preparation_s_.end(), [](const auto& estimate) { return estimate.has_value(); }));
}

double Budget::preparation(std::size_t index) const {
  const auto first = preparation_s_.begin() + static_cast<std::ptrdiff_t>(index);
  const double estimated =
      std::accumulate(first, preparation_s_.end(), 0.0,
                      [](double sum, const auto& estimate) { return sum + estimate.value_or(0); });
  return estimated_s_ > 0 ? estimated * taken_s_ / estimated_s_ : estimated;
}

}  // namespace ridgebench
