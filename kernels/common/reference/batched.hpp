// A reference that computes many rows by one call, because a call is slow: another process has it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/common/operation.hpp"

namespace ridgebench {

// Rows of one buffer set, which a reference writes one behind the other.
struct RowsOfSet {
  std::vector<std::int64_t> rows;
  std::size_t length;  // of each but the last, in elements of all outputs
  std::vector<View> in;
  std::span<Expected> out;
};

// As Operation::reference, it computes one row, and std::function::target finds it.
struct BatchedReference {
  std::function<void(const Shape&, std::span<const RowsOfSet>)> compute;  // on all threads

  void operator()(const Shape& shape, std::int64_t row, std::span<const View> in,
                  std::span<Expected> out) const {
    const RowsOfSet one{{row}, out.size(), {in.begin(), in.end()}, out};
    compute(shape, {&one, 1});
  }
};

}  // namespace ridgebench
