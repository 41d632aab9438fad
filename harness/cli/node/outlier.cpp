#include "harness/cli/node/outlier.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridgebench::node {
namespace {

double z_of(double value, double center, double mad) {
  if (value == center) return 0;
  return mad > 0 ? kMadOfNormal * (value - center) / mad
                 : std::copysign(std::numeric_limits<double>::infinity(), value - center);
}

Oddness oddness_of(const PeerRatio& ratio) {
  const double distance = ratio.of_median - 1;
  if (std::abs(distance) <= kOddDistance) return Oddness::none;
  if (!ratio.z) return Oddness::differs;
  if (std::abs(*ratio.z) <= kOddZ) return Oddness::none;
  return distance < 0 ? Oddness::slow : Oddness::fast;
}

}  // namespace

bool PeerRatio::far() const {
  return odd != Oddness::none && std::abs(of_median - 1) > kFarDistance;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<std::optional<PeerRatio>> peer_ratios(std::span<const std::optional<double>> rates) {
  std::vector<std::optional<PeerRatio>> found(rates.size());
  std::vector<double> known;
  for (const auto& rate : rates) {
    if (rate) known.push_back(*rate);
  }
  if (known.empty()) return found;
  const double center = median(known);
  std::vector<double> distances;
  for (const double rate : known) distances.push_back(std::abs(rate - center));
  const double mad = median(distances);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!rates[i]) continue;
    PeerRatio ratio{.of_median = *rates[i] / center, .z = {}};
    if (known.size() >= kFewestForZ) ratio.z = z_of(*rates[i], center, mad);
    ratio.odd = oddness_of(ratio);
    found[i] = ratio;
  }
  return found;
}

}  // namespace ridgebench::node
