// Sweeps of parallelism, which show Little's law: a rate is what is in flight over the latency, up
// to the unit's limit. fma_parallelism: warps of an SM times independent chains of a thread
// (fma.hpp has the chain). dram_parallelism and l2_parallelism: warps of an SM times packs of 16
// bytes that a thread loads before it uses the first (repeated_read.hpp). An SM has one block. None
// of them is a roof.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "kernels/ceilings/cache.hpp"
#include "kernels/ceilings/fma.hpp"
#include "kernels/ceilings/repeated_read.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

// Values that kernels are compiled for. A block has 32 warps at most.
inline constexpr std::array<std::int64_t, 6> kWarpsOfBlock{32, 16, 8, 4, 2, 1};
inline constexpr std::array<std::int64_t, 4> kInFlight{8, 4, 2, 1};  // chains or packs of a thread

// For Technique::supports: why no kernel is compiled for a point of a sweep; `in_flight` is the
// name of what a thread has in flight.
inline std::optional<std::string> parallelism_limit(const Shape& s, const std::string& in_flight) {
  if (std::ranges::find(kWarpsOfBlock, s["warps"]) == kWarpsOfBlock.end()) {
    return "warps is none of 1, 2, 4, 8, 16, 32";
  }
  if (std::ranges::find(kInFlight, s[in_flight]) == kInFlight.end()) {
    return in_flight + " is none of 1, 2, 4, 8";
  }
  return std::nullopt;
}

namespace parallelism_detail {

// One chain alone takes a millisecond, at four clocks a step.
inline constexpr std::int64_t kChainIterations = std::int64_t{1} << 19U;

// Calls add(warps, in flight) for each point: in full all, else the corners.
template <class Add>
void for_each_point(Profile profile, const Add& add) {
  for (const std::int64_t warps : kWarpsOfBlock) {
    for (const std::int64_t in_flight : kInFlight) {
      const bool corner = (warps == 32 || warps == 4) && (in_flight == 8 || in_flight == 1);
      if (profile == Profile::full || corner) add(warps, in_flight);
    }
  }
}

inline bool measures(Profile profile, const Machine& machine) {
  return machine.compute_capability > 0 && at_least_standard(profile);
}

inline double chains(const Shape& s) {
  return 32.0 * static_cast<double>(s["blocks"] * s["warps"] * s["chains"]);
}

inline Operation fma_parallelism() {
  Operation op = fma_detail::fma_peak();
  op.name = "fma_parallelism";
  op.dimensions = {"blocks", "warps", "chains", "iterations"};
  op.flops = [](const Shape& s) { return 2 * chains(s) * static_cast<double>(s["iterations"]); };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    const auto n = static_cast<std::int64_t>(chains(s));
    return {{"x", n, f.a}, {"y", n, f.a, Access::written}};
  };
  op.shapes = [](Profile profile, Pace, const Machine& machine) {
    std::vector<Shape> shapes;
    if (!measures(profile, machine)) return shapes;
    for_each_point(profile, [&](std::int64_t warps, std::int64_t chains) {
      shapes.emplace_back(std::vector<Shape::Dimension>{{"blocks", machine.units},
                                                        {"warps", warps},
                                                        {"chains", chains},
                                                        {"iterations", kChainIterations}});
    });
    return shapes;
  };
  op.ceiling->sweep = true;
  return op;
}

// The sweep over what `once`, a shape of n and passes, says.
inline Operation read_parallelism(const std::string& name, Ceiling ceiling,
                                  Shape (*once)(const Machine&)) {
  Operation op = repeated_read(name, ceiling.cache_level);
  op.dimensions = {"n", "warps", "packs", "passes"};
  op.shapes = [once](Profile profile, Pace, const Machine& machine) {
    std::vector<Shape> shapes;
    if (!measures(profile, machine)) return shapes;
    const Shape read = once(machine);
    for_each_point(profile, [&](std::int64_t warps, std::int64_t packs) {
      shapes.emplace_back(std::vector<Shape::Dimension>{
          {"n", read["n"]}, {"warps", warps}, {"packs", packs}, {"passes", read["passes"]}});
    });
    return shapes;
  };
  op.ceiling = ceiling;
  op.ceiling->sweep = true;
  return op;
}

inline Shape dram_shape(const Machine& machine) {
  return Shape({{"n", dram_elements(machine, sizeof(float))}, {"passes", 1}});
}

inline Shape l2_shape(const Machine& machine) { return cache_detail::gpu_shape(machine, 1.0 / 4); }

}  // namespace parallelism_detail

inline const RegisterOperation fma_parallelism{parallelism_detail::fma_parallelism()};
inline const RegisterOperation dram_parallelism{parallelism_detail::read_parallelism(
    "dram_parallelism", {.resource = Resource::memory}, parallelism_detail::dram_shape)};
inline const RegisterOperation l2_parallelism{
    parallelism_detail::read_parallelism("l2_parallelism",
                                         {.resource = Resource::cache,
                                          .cache_level = 2,
                                          .most_per_clock = cache_detail::most_per_clock_level_2},
                                         parallelism_detail::l2_shape)};

}  // namespace ridgebench
