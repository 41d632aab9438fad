// An operation on a shape in a format, and what follows from these: operands, outputs, work and
// rows. It is computed once for a case, and all techniques of the case share it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/operation.hpp"
#include "roofline/model.hpp"

namespace ridgebench {

struct Problem {
  Problem(const Operation& of, Shape size, FormatPair formats);

  // The number of elements of rows in ascending order. The last row may be short.
  [[nodiscard]] std::int64_t elements_of(std::span<const std::int64_t> chosen) const;
  [[nodiscard]] std::vector<std::int64_t> all_rows() const;
  // True if a launch reads what an earlier launch wrote.
  [[nodiscard]] bool in_place() const;

  const Operation* operation;
  Shape shape;
  FormatPair format;
  std::vector<Operand> operands;
  std::vector<Output> outputs;
  Work work;
  double terms;                   // of an element of an output
  std::int64_t rows;              // of each output
  std::int64_t row_elements = 0;  // of a row of all outputs together
  std::int64_t elements = 0;      // of the rows of all outputs together
};

}  // namespace ridgebench
