// The roofline model bounds the speed of a piece of work by the two rates of a device. An FMA
// counts as 2 FLOPs, bytes are compulsory traffic, and attainable = min(peak, intensity x
// bandwidth). Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// The limit of a row: the memory, the arithmetic engine, the special-function units, or the launch.
enum class Limit : std::uint8_t { memory, compute, special, launch };
constexpr auto names_of(Limit) {
  return enum_names("limit", "memory", "compute", "special", "launch");
}

// The FLOPs and bytes of one launch. A copy has no FLOPs, and a loop on registers has no bytes.
struct Work {
  double flops;
  double bytes;

  // FLOP/byte; empty if there are no bytes.
  [[nodiscard]] std::optional<double> intensity() const;
};

// Both rates are positive and finite.
struct Roof {
  double peak_flops_per_s;
  double bandwidth_bytes_per_s;

  // FLOP/byte. Work with a lower intensity is limited by the memory.
  [[nodiscard]] double ridge() const { return peak_flops_per_s / bandwidth_bytes_per_s; }
};

// FLOP/s. The value is the peak if there are no bytes, and 0 if there are no FLOPs.
double attainable_flops_per_s(const Work& work, const Roof& roof);

// Returns the highest possible MFU, min(1, intensity / ridge).
double mfu_bound(const Work& work, const Roof& roof);

// Returns the seconds if arithmetic and traffic overlap fully: the larger of the two times.
double time_lower_bound_s(const Work& work, const Roof& roof);

// Returns the seconds if they do not overlap: the sum, which is at most twice the bound above.
double time_without_overlap_s(const Work& work, const Roof& roof);

// Returns memory below the ridge, compute at or above it, and launch if there is no work.
Limit bound(const Work& work, const Roof& roof);

}  // namespace ridgebench
