// Ceiling of a GPU's additions to memory, atomicAdd on fp32: `adds` times to each of `addresses`
// sums, which start from 0 in every launch. The addends are small integers made of the input, so
// that the sums are exact in any order. They happen in the cache that all SMs share.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/common/registry.hpp"

namespace ridgebench {

// 1 to 8: never 0, so that every addition shows, and so small that 2^21 of them stay below 2^24,
// the integers that fp32 holds.
constexpr float addend_of(float x) {
  const float magnitude = x < 0 ? -x : x;
  return 1 + static_cast<float>(static_cast<int>(magnitude < 7 ? magnitude : 7));
}

namespace atomics_detail {

inline constexpr std::int64_t kRowLength = 256;

inline Operation atomic_add() {
  Operation op;
  op.name = "atomic_add";
  op.dimensions = {"addresses", "adds"};
  op.formats = {Format::fp32};
  op.flops = [](const Shape& s) {
    return static_cast<double>(s["addresses"]) * static_cast<double>(s["adds"]);
  };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["addresses"], f.a}, {"sum", s["addresses"], f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return kRowLength; };
  op.reference = [](const Shape& s, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    std::int64_t i = row * kRowLength;
    for (Expected& sum : out) {
      const double addend = addend_of(static_cast<float>(in[0][i]));
      sum = {static_cast<double>(s["adds"]) * addend, 0};  // no error is allowed
      ++i;
    }
  };
  op.reduction = [](const Shape& s) { return static_cast<double>(s["adds"]); };
  // 4 MiB of neighbouring addresses, then a single address. Hosts have nothing of the kind.
  op.shapes = [](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0) return {};
    return {Shape({{"addresses", 1 << 20}, {"adds", 256}}),
            Shape({{"addresses", 1}, {"adds", 1 << 20}})};
  };
  op.ceiling = Ceiling{.resource = Resource::cache, .cache_level = 2};
  op.traffic = [](const Shape& s, FormatPair) {
    return static_cast<double>(s["addresses"]) * static_cast<double>(s["adds"]) * sizeof(float);
  };
  return op;
}

}  // namespace atomics_detail

inline const RegisterOperation atomic_add{atomics_detail::atomic_add()};

}  // namespace ridgebench
