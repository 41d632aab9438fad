// The reference of a matrix product in double precision, fast enough for all elements: it
// multiplies packed panels in registers, as `packed` does in fp32.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/common/reference/rows.hpp"

namespace ridgebench {

// Multiplies `numbers`, which are those from k = `first` on of a row of A or of a column of B, by
// their scales.
using MultiplyByScales =
    std::function<void(std::int64_t row, std::int64_t first, std::span<double> numbers)>;

// Scales of both operands of a product in layout nt; empty: all are 1.
struct ProductScales {
  MultiplyByScales a;
  MultiplyByScales b;
};

// Writes the values of the groups of `rows` of C = A B, one row behind the other, and the 2-norms
// of their terms. The shape has m, n, k and a layout, and may have what product_strides.hpp lists:
// the rows of a batch are numbered on from product to product. Scales are for a single product.
// Uses all threads, and a few megabytes of memory for each, whatever the shape is.
void product_reference(const Shape& shape, std::span<const std::int64_t> rows, const Groups& groups,
                       View a, View b, std::span<Expected> out, const ProductScales& scales = {});

}  // namespace ridgebench
