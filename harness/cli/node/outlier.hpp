// Finds the GPU of a node that is odd in a row: the outlier rule of a fleet, applied to one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/common/enum_names.hpp"

namespace ridgebench::node {

// The modified z-score of Iglewicz and Hoaglin, "How to detect and handle outliers" (1993),
// z = 0.6745 (x - median) / MAD, and their limit. 0.6745 is the MAD of a standard normal variable.
inline constexpr double kMadOfNormal = 0.6745;
inline constexpr double kOddZ = 3.5;
// z alone flags a healthy GPU in one of twelve nodes of eight. In simulated fleets with a spread of
// 0.5 % between healthy GPUs, a distance of 3 % from the median besides flagged none.
inline constexpr double kOddDistance = 0.03;
inline constexpr double kFarDistance = 0.06;
// With fewer GPUs the MAD says too little: there is no z and no verdict.
inline constexpr std::size_t kFewestForZ = 8;

// `differs`: more than 3 % from the median, without a verdict.
enum class Oddness : std::uint8_t { none, differs, slow, fast };
constexpr auto names_of(Oddness) { return enum_names("oddness", "ok", "differs", "SLOW", "FAST"); }

struct PeerRatio {
  double of_median;         // rate over the median of the rates
  std::optional<double> z;  // empty for fewer than kFewestForZ rates
  Oddness odd = Oddness::none;

  [[nodiscard]] bool far() const;  // more than 6 % from the median, and odd
};

// Places the rates of comparable GPUs in one row and pass; empty if a rate is missing.
std::vector<std::optional<PeerRatio>> peer_ratios(std::span<const std::optional<double>> rates);

// The median of at least one value: of an even number the mean of the two in the middle.
double median(std::vector<double> values);

}  // namespace ridgebench::node
