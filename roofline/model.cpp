#include "roofline/model.hpp"

#include <algorithm>

namespace ridgebench {
namespace {

double arithmetic_s(const Work& work, const Roof& roof) {
  return work.flops / roof.peak_flops_per_s;
}

double traffic_s(const Work& work, const Roof& roof) {
  return work.bytes / roof.bandwidth_bytes_per_s;
}

}  // namespace

std::optional<double> Work::intensity() const {
  if (bytes == 0) return std::nullopt;
  return flops / bytes;
}

double attainable_flops_per_s(const Work& work, const Roof& roof) {
  return roof.peak_flops_per_s * mfu_bound(work, roof);
}

double mfu_bound(const Work& work, const Roof& roof) {
  if (work.flops == 0) return 0;
  const auto intensity = work.intensity();
  return intensity ? std::min(1.0, *intensity / roof.ridge()) : 1.0;
}

double time_lower_bound_s(const Work& work, const Roof& roof) {
  return std::max(arithmetic_s(work, roof), traffic_s(work, roof));
}

double time_without_overlap_s(const Work& work, const Roof& roof) {
  return arithmetic_s(work, roof) + traffic_s(work, roof);
}

Limit bound(const Work& work, const Roof& roof) {
  if (work.flops == 0 && work.bytes == 0) return Limit::launch;
  return arithmetic_s(work, roof) < traffic_s(work, roof) ? Limit::memory : Limit::compute;
}

}  // namespace ridgebench
