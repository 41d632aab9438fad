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
// one number for all dimensions where `dimension` is n, represents a square. Throws UsageError.
OpenShape parse_open_shape(const std::string& text, const std::string& dimension,
                           const Operation& operation);

// Finds the smallest size from which on arithmetic takes at least as long as traffic, by the rates
// that `predict` has. Launches and special functions do not count. Returns
//   op, dimension, shape (the sizes that are given), format, device,
//   smallest_compute_bound: null if memory decides at every size that a shape can have,
//     or if the peak is unknown, so that nothing can be decided,
//   largest_memory_bound: the size below it; null if arithmetic decides at every size, or
//     without a peak,
//   intensity_flop_per_byte, ridge_flop_per_byte: at the first of them that is not null, or at the
//     largest size; both are null without a peak,
//   notes.
// Throws UsageError if the device lacks a rate.
nlohmann::ordered_json solve_compute_bound(const Operation& operation, const OpenShape& open,
                                           FormatPair format, const Roofs& roofs);

}  // namespace ridgebench
