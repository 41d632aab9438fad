#include "harness/base/step_fit.hpp"

#include <cmath>
#include <vector>

namespace ridgebench {
namespace {

std::vector<CounterReading> renewals_of(std::span<const CounterReading> readings) {
  std::vector<CounterReading> renewals;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (readings[i].total != readings[i - 1].total) renewals.push_back(readings[i]);
  }
  return renewals;
}

}  // namespace

std::optional<CounterRate> fit_renewals(std::span<const CounterReading> readings) {
  const std::vector<CounterReading> renewals = renewals_of(readings);
  if (renewals.size() < kFewestRenewals) return std::nullopt;
  const auto count = static_cast<double>(renewals.size());
  CounterReading mean;
  for (const CounterReading& renewal : renewals) {
    mean.time_s += renewal.time_s / count;
    mean.total += renewal.total / count;
  }
  double time_squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < renewals.size(); ++i) {
    if (i > 0 && renewals[i].total < renewals[i - 1].total) return std::nullopt;
    const double time = renewals[i].time_s - mean.time_s;
    time_squares += time * time;
    products += time * (renewals[i].total - mean.total);
  }
  if (time_squares <= 0) return std::nullopt;
  const double slope = products / time_squares;
  double residues = 0;
  for (const CounterReading& renewal : renewals) {
    const double residue = renewal.total - mean.total - slope * (renewal.time_s - mean.time_s);
    residues += residue * residue;
  }
  return CounterRate{slope, std::sqrt(residues / (count - 2) / time_squares)};
}

}  // namespace ridgebench
