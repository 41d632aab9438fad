// The rate of a counter that is renewed in steps, such as a GPU's energy counter.
#pragma once

#include <optional>
#include <span>

namespace ridgebench {

struct CounterReading {
  double time_s = 0;  // since some moment in the past
  double total = 0;
};

// Change per second, and the standard error of that.
struct CounterRate {
  double per_s = 0;
  double error_per_s = 0;
};

// Fewest renewals through which a line is fitted.
inline constexpr std::size_t kFewestRenewals = 6;

// The slope of a least-squares line through the renewals of a counter: the readings, in order of
// time, whose total differs from that of the reading before. Two readings alone have the error of
// one step each. A line has the error of the moments at which a reader sees the steps, and averages
// it: at 20 renewals in 2 s that are seen up to 10 ms late, the standard error is 0.1 %. The first
// reading does not count as a renewal, because the counter changed at an unknown time before it.
// Empty where there are fewer than kFewestRenewals, and where the counter went back.
std::optional<CounterRate> fit_renewals(std::span<const CounterReading> readings);

}  // namespace ridgebench
