// Chooses the rows of an output to compare and computes their reference.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/problem.hpp"
#include "kernels/common/reference/rows.hpp"

namespace ridgebench {

// The cost of a comparison in multiply-adds of a sum, each about a nanosecond of one thread. A
// sample of this cost takes a fraction of a second.
inline constexpr double kSampleCost = 0x1p25;

// Limit of the reference values that one call computes and the cache of references keeps, but for
// references of many rows (most_kept_elements).
inline constexpr std::int64_t kMostKeptElements = std::int64_t{1} << 22U;

// Returns the cost of a comparison of `rows` rows, or of sums of groups of their elements.
double cost_of_rows(const Problem& problem, std::int64_t rows, std::int64_t group = 1);
// Returns the number of those rows; a choice may have a few less.
std::int64_t count_to_check(const Problem& problem, double affordable = kSampleCost);
// Neighbouring rows of an output.
struct RowRange {
  std::int64_t first;
  std::int64_t count;
};
// Returns the output rows to compare: all if their cost is affordable, else the first, the last and
// a choice that the seed draws.
std::vector<std::int64_t> rows_to_check(const Problem& problem, std::uint64_t seed,
                                        double affordable = kSampleCost);
// The same for rows of a range, which are not empty.
std::vector<std::int64_t> rows_to_check(const Problem& problem, RowRange among, std::uint64_t seed,
                                        double affordable);

// Returns the length of the smallest groups whose sums over the whole output are affordable, at
// most a row; empty if the operation has no such sums.
std::optional<std::int64_t> group_to_check(const Problem& problem, double affordable);
// Draws the signs of the columns of groups.
std::vector<double> draw_signs(const Problem& problem, std::uint64_t seed);

// Largest number of elements whose reference is computed at once and kept for other techniques. A
// reference of many rows is expensive, and may take a share of the host's memory.
std::int64_t most_kept_elements(const Operation& operation);

// Returns the reference of rows, or of groups of their elements.
std::vector<Expected> reference_of(const Problem& problem, std::span<const View> inputs,
                                   std::span<const std::int64_t> rows, const Groups& groups = {});

// Keeps the reference values of rows, which all techniques of an operation share.
class ReferenceCache {
 public:
  explicit ReferenceCache(std::size_t most_bytes = std::size_t{1} << 28U)
      : most_bytes_(most_bytes) {}

  // `key` names the inputs and the rows. get() calls `inputs` only if the cache does not hold their
  // reference. The result is valid until the next call.
  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  // Frees all values. Returns false if there were none.
  bool clear();
  // Adds what was computed ahead.
  const std::vector<Expected>& put(const std::string& key, std::vector<Expected> values);
  const std::vector<Expected>& get(const std::string& key, const Problem& problem,
                                   const std::function<std::vector<View>()>& inputs,
                                   std::span<const std::int64_t> rows);

 private:
  std::size_t most_bytes_;
  std::map<std::string, std::vector<Expected>> values_;
  std::size_t bytes_ = 0;
};

}  // namespace ridgebench
