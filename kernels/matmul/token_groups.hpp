// Tokens of the groups of a grouped product, as of the experts of a layer. They follow from the
// shape: m tokens, g groups, and
//   empty  groups without a token, evenly spaced among the others
//   skew   s: the other groups, in their order, have tokens in proportion to 1, 2^-s, 3^-s, ...
//          (Zipf's law); 0: all have the same number, up to rounding
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/shape.hpp"

namespace ridgebench {

inline constexpr std::int64_t kMostGroups = 65536;
inline constexpr double kMostSkew = 8;

// g + 1 numbers: group i has the rows starts[i] .. starts[i + 1] - 1 of A and of C.
std::vector<std::int64_t> token_starts(const Shape& shape);

// The rows of a group, as a product by itself in layout nt.
struct TokenGroup {
  std::int64_t index;
  std::int64_t first;
  std::int64_t tokens;

  [[nodiscard]] Shape product(const Shape& all) const {
    return Shape({{"m", tokens}, {"n", all["n"]}, {"k", all["k"]}});
  }
};

// The groups that have a token.
std::vector<TokenGroup> busy_groups(const Shape& shape);

}  // namespace ridgebench
