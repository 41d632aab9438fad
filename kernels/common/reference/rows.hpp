// An operation may have a second reference that computes many rows at once, faster than row by row.
// A product of matrices has one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/common/operation.hpp"

namespace ridgebench {

// Groups of `length` neighbouring elements of an output row, or of the `columns` elements of it
// from `first` on. A group represents the sum of its elements, each multiplied by its column's
// sign.
struct Groups {
  std::int64_t length = 1;
  std::span<const double> signs = {};  // 1 or -1 for each column of the row; empty: all 1
  std::int64_t first = 0;
  std::int64_t columns = 0;  // 0: all that follow

  // Elements of a row that the groups divide, if it has `row_length`.
  [[nodiscard]] std::int64_t width(std::int64_t row_length) const {
    return columns > 0 ? columns : row_length - first;
  }
};

struct RowsReference {
  // Writes the values of the groups of `rows`, ceil(width / length) to a row, one row behind the
  // other. Uses all threads.
  void (*compute)(const Shape&, std::span<const std::int64_t> rows, const Groups& groups,
                  std::span<const View> in, std::span<Expected> out);
  // True if groups may be longer than one element. They may where an output is linear in a column
  // of the second input: the sum of columns then costs no more than one (Freivalds).
  bool sums_groups;
  // Neighbouring rows that share what the reference packs once for all of them; null: all rows.
  std::int64_t (*rows_together)(const Shape&) = nullptr;
};

// Adds a reference at start-up, before main.
struct RegisterRowsReference {
  RegisterRowsReference(std::string_view operation, const RowsReference& reference);
};

// Null if the operation has none.
const RowsReference* rows_reference_of(const Operation& operation);

}  // namespace ridgebench
