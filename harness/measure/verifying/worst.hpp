// The worst of many comparisons of outputs with their references.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "harness/device/own_work.hpp"
#include "harness/measure/verifying/tolerance.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// Elements that a thread compares at once. They fit into a first-level cache.
inline constexpr std::int64_t kComparedBlock = 1024;

// True if an output can be compared with the reference: its value is finite, and its norm is a
// finite number from 0.
inline bool is_comparable(Expected expected) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return std::abs(expected.value) <= kLargest && expected.norm >= 0 && expected.norm <= kLargest;
}

// The worst of several comparisons.
struct Largest {
  double error = 0;  // over its tolerance
  double tolerance = 0;
  std::int64_t elements = 0;
  bool exact = true;
  std::int64_t takes_zero = 0;  // elements whose tolerance accepts a zero in place of another value
  bool refuses_zero = false;    // an element's tolerance does not
  std::optional<Expected> unknown =
      std::nullopt;  // a reference that no output can be compared with

  void add(double deviation, double allowed, bool is_exact) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const double ratio = deviation == 0 ? 0 : allowed > 0 ? deviation / allowed : infinite;
    // Comparisons with NaN are false. An output that is NaN gets an infinite error.
    add({.error = ratio >= 0 ? ratio : infinite,
         .tolerance = allowed,
         .elements = 1,
         .exact = is_exact});
  }

  void add(const Largest& other) {
    if (other.error > error || elements == 0) {
      error = other.error;
      tolerance = other.tolerance;
    }
    elements += other.elements;
    exact = exact && other.exact;
    takes_zero += other.takes_zero;
    refuses_zero = refuses_zero || other.refuses_zero;
    if (!unknown) unknown = other.unknown;
  }
};

// Fewer elements than these may all lie near zero by chance.
inline constexpr std::int64_t kFewZeros = 8;

// Calls compare_at(block, largest) for each of `blocks`, on all threads. Throws std::runtime_error
// for a reference that no output can be compared with, and for a tolerance with which zeros pass.
template <class F>
Verification largest_of(std::int64_t blocks, F compare_at) {
  const OwnWork own;
  std::vector<Largest> each(static_cast<std::size_t>(blocks));
  if (blocks == 1) {  // not in a parallel region, which would not let out an exception
    compare_at(0, each.front());
  } else {
#pragma omp parallel for schedule(static)
    for (std::int64_t b = 0; b < blocks; ++b) compare_at(b, each[static_cast<std::size_t>(b)]);
  }
  Largest all;
  for (const Largest& one : each) all.add(one);
  if (all.unknown) {
    const auto text = [](double x) { return std::isnan(x) ? "nan" : fmt::format("{}", x); };
    throw std::runtime_error(fmt::format("the reference gives {} with norm {} for an element",
                                         text(all.unknown->value), text(all.unknown->norm)));
  }
  if (!all.refuses_zero && all.takes_zero >= kFewZeros) {
    throw std::runtime_error(fmt::format(
        "the tolerance accepts zeros for all of {} elements: the norms of the reference "
        "or the stated errors are too large",
        all.elements));
  }
  return {
      .error = all.error, .tolerance = all.tolerance, .elements = all.elements, .exact = all.exact};
}

// Throws std::runtime_error for a technique whose stated errors and accumulator allow kMostError.
inline Tolerance tolerance_of(const Implementation& implementation, const Shape& shape,
                              Format output) {
  const Tolerance tolerance(implementation.technique, implementation.operation->reduction(shape),
                            output);
  if (tolerance.of_norm() < kMostError) return tolerance;
  throw std::runtime_error(fmt::format(
      "the technique's stated errors and its {} accumulator allow an error of {:.2g} of "
      "the reference's norm; allowed: less than {}",
      info(implementation.technique.accumulator).name, tolerance.of_norm(), kMostError));
}

}  // namespace ridgebench
