// How the matrices of a product lie in memory. A shape with m, n, k and a layout may also state
//   b              a batch: b products, whose matrices follow each other without a gap
//   lda, ldb, ldc  leading dimensions: elements from a line of a matrix to the next, as BLAS counts
//                  them; a line is what is contiguous in memory, a row of the stored matrix
// A matrix takes its lines times its leading dimension, also behind its last line.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/operation.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// A matrix of a product, row-major as it is stored.
struct StoredLines {
  std::int64_t lines;
  std::int64_t length;  // elements of a line that belong to the matrix
  std::int64_t stride;  // leading dimension

  [[nodiscard]] std::int64_t elements() const { return lines * stride; }
  // As an operand of `batch` such matrices.
  [[nodiscard]] Rows rows() const { return stride == length ? Rows{} : Rows{length, stride}; }
};

// Lines without gaps, and a product by itself, are the defaults.
inline StoredLines lines_of_a(const Shape& s) {
  const bool tn = s.layout() == Layout::tn;
  const std::int64_t length = s[tn ? "m" : "k"];
  return {s[tn ? "k" : "m"], length, s.size_or("lda", length)};
}
inline StoredLines lines_of_b(const Shape& s) {
  const bool nt = s.layout() == Layout::nt;
  const std::int64_t length = s[nt ? "k" : "n"];
  return {s[nt ? "n" : "k"], length, s.size_or("ldb", length)};
}
inline StoredLines lines_of_c(const Shape& s) { return {s["m"], s["n"], s.size_or("ldc", s["n"])}; }
inline std::int64_t batch_of(const Shape& s) { return s.size_or("b", 1); }

}  // namespace ridgebench
