#include "kernels/common/amounts.hpp"

#include <fmt/format.h>

#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

void check_number(std::function<double(const Shape&)>& function, const std::string& operation,
                  const AmountRange& range) {
  if (!function) return;
  function = [call = std::move(function), operation, range](const Shape& shape) {
    return require_amount(range, operation, shape, call(shape));
  };
}

}  // namespace

double require_amount(const AmountRange& range, const std::string& operation, const Shape& shape,
                      double value) {
  if (value >= range.least && value <= range.most) return value;
  throw UsageError(fmt::format("{} {} of {} at {}; allowed: {}", value, range.what, operation,
                               shape.text(), range.allowed));
}

void check_amounts(Operation& operation) {
  const std::string& name = operation.name;
  check_number(operation.flops, name, kFlops);
  check_number(operation.reduction, name, kTerms);
  check_number(operation.special, name, kSpecial);
  if (operation.traffic) {
    operation.traffic = [call = std::move(operation.traffic), name](const Shape& shape,
                                                                    FormatPair format) {
      return require_amount(kTraffic, name, shape, call(shape, format));
    };
  }
  if (operation.row_length) {
    operation.row_length = [call = std::move(operation.row_length), name](const Shape& shape) {
      const std::int64_t length = call(shape);
      (void)require_amount(kRow, name, shape, static_cast<double>(length));
      return length;
    };
  }
}

}  // namespace ridgebench
