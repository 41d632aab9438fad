// Ranges of the numbers that functions of an operation return. Nobody has checked the functions of
// an operation that somebody else wrote: one FLOP below 0 would spoil every rate.
#pragma once

#include <string>

#include "kernels/common/operation.hpp"

namespace ridgebench {

struct AmountRange {
  const char* what;  // in a message, after the value
  double least;
  double most;
  const char* allowed;
};
inline constexpr AmountRange kFlops{"FLOPs", 0, 1e30, "0 to 1e+30"};
inline constexpr AmountRange kTerms{"terms of a sum", 1, 0x1p50, "1 to 2^50"};
inline constexpr AmountRange kTraffic{"bytes of traffic", 1, 0x1p60, "1 to 2^60"};
inline constexpr AmountRange kMoreBytes{"more bytes", 0, 0x1p60, "0 to 2^60"};
inline constexpr AmountRange kSpecial{"special results", 0, 1e30, "0 to 1e+30"};
inline constexpr AmountRange kRow{"elements of a row of the reference", 1, 0x1p50, "1 to 2^50"};
inline constexpr AmountRange kElements{"elements of an operand", 1, 0x1p50, "1 to 2^50"};

// Returns the value. Throws UsageError that names operation, shape and range if the value is
// outside of the range or NaN.
double require_amount(const AmountRange& range, const std::string& operation, const Shape& shape,
                      double value);

// Replaces the functions of an operation by functions that check the numbers that they return with
// require_amount(), and throw UsageError. The elements of operands are left to those who have a
// shape to measure: an operand of half the elements has none in the unit shape, which gives its
// format.
void check_amounts(Operation& operation);

}  // namespace ridgebench
