// The roofline model: what a device's two rates allow a piece of work. Conventions: LECTURE, i.e.
// FMA = 2 FLOPs, bytes are compulsory traffic, attainable = min(peak, intensity x bandwidth).
// Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// What limits a row: the memory, the arithmetic engine, the special-function units, or the launch.
enum class Limit : std::uint8_t { memory, compute, special, launch };
constexpr auto names_of(Limit) {
  return enum_names("limit", "memory", "compute", "special", "launch");
}

// One launch's amounts. Either may be zero: a copy has no FLOPs, a register loop no bytes.
struct Work {
  double flops;
  double bytes;

  // FLOP/byte; empty without bytes.
  [[nodiscard]] std::optional<double> intensity() const;
};

// Both rates are positive and finite.
struct Roof {
  double peak_flops_per_s;
  double bandwidth_bytes_per_s;

  // FLOP/byte: below it memory is the limit.
  [[nodiscard]] double ridge() const { return peak_flops_per_s / bandwidth_bytes_per_s; }
};

// FLOP/s: the peak without bytes, 0 without FLOPs.
double attainable_flops_per_s(const Work& work, const Roof& roof);

// Highest possible MFU, min(1, intensity / ridge).
double mfu_bound(const Work& work, const Roof& roof);

// Seconds, if arithmetic and traffic overlap perfectly: the larger of the two times.
double time_lower_bound_s(const Work& work, const Roof& roof);

// Seconds, if they do not overlap at all: the sum of the two times, at most twice the bound above.
double time_without_overlap_s(const Work& work, const Roof& roof);

// Memory below the ridge, compute from it on, launch where there is no work at all.
Limit bound(const Work& work, const Roof& roof);

}  // namespace ridgebench
