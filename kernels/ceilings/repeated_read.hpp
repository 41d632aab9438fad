// Common part of the ceilings of caches and of shared memory: the same n elements are read
// `passes` times, and the sum of all those reads shows that none was left out. fp32.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/common/registry.hpp"
#include "kernels/common/sum_of_terms.hpp"

namespace ridgebench {

inline Operation repeated_read(const std::string& name, int cache_level) {
  const auto reads = [](const Shape& s) {
    return static_cast<double>(s["n"]) * static_cast<double>(s["passes"]);
  };
  Operation op;
  op.name = name;
  op.dimensions = {"n", "passes"};
  op.formats = {Format::fp32};
  op.flops = reads;
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"sum", 1, f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return std::int64_t{1}; };
  op.reference = [](const Shape& s, std::int64_t, std::span<const View> in,
                    std::span<Expected> out) {
    const Expected once = sum_of_terms(
        s["n"], [&](std::int64_t first, std::span<double> x) { in[0].read(first, x); });
    const auto times = static_cast<double>(s["passes"]);
    out[0] = {times * once.value, std::sqrt(times) * once.norm};
  };
  op.reduction = reads;
  op.ceiling = Ceiling{.resource = Resource::cache, .cache_level = cache_level};
  op.traffic = [=](const Shape& s, FormatPair) { return reads(s) * sizeof(float); };
  return op;
}

}  // namespace ridgebench
