// The size from which an operation is compute-bound on a device.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/operation.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// A shape of which one size is wanted, or of which all sizes are equal and wanted (a square).
struct OpenShape {
  Shape shape;  // the wanted sizes are arbitrary
  std::string dimension;
  bool square;
  std::optional<std::int64_t> unused = std::nullopt;  // a size that the text gives for `dimension`
  std::vector<std::string> optional = {};             // dimensions that stay as the text gives them

  // The shape in which the wanted sizes are `size`.
  [[nodiscard]] Shape with(std::int64_t size) const;
};

// Reads a shape for `predict OP SHAPE --solve DIMENSION`. The text may leave the dimension out, and
// a size that it gives for it does not count, which a note of the answer says. An empty text, or
// one number for all dimensions where `dimension` is n, represents a square. Sizes that the
// operation refuses are left to the search. Throws UsageError.
OpenShape parse_open_shape(const std::string& text, const std::string& dimension,
                           const Operation& operation);

// Says at which sizes arithmetic takes at least as long as traffic (compute-bound) and at which
// less (memory-bound), by the rates that `predict` has. It speaks of the sizes up to `limit` that
// `predict` accepts beside the given ones. Launches and special functions do not count. Returns
//   op, dimension, shape (the sizes that are given), format, device,
//   smallest_compute_bound: every size from it on is compute-bound; null if the largest is not,
//   largest_memory_bound: the size below it, or the largest of all; null if every size is
//     compute-bound,
//   smallest_memory_bound: every size from it on is memory-bound, and the one below is not; else
//     null,
//   largest_compute_bound: the size below it, or null,
//   alternates_from: the smallest size that has the limit of the largest one before that limit
//     holds for good; null if the limit changes once or never,
//   intensity_flop_per_byte, ridge_flop_per_byte: at smallest_compute_bound, else at
//     smallest_memory_bound, else at the largest size,
//   notes.
// All of them but the first five and the notes are null if the peak is unknown, so that nothing
// can be decided. Throws UsageError if the device lacks a rate, if no size fits the given ones, and
// if sizes cannot be decided.
nlohmann::ordered_json solve_compute_bound(const Operation& operation, const OpenShape& open,
                                           FormatPair format, const Roofs& roofs,
                                           std::int64_t limit = kLargestSize);

}  // namespace ridgebench
