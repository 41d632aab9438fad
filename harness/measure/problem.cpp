#include "harness/measure/problem.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/common/amounts.hpp"
#include "kernels/common/ceil_div.hpp"

namespace ridgebench {
namespace {

// Returns the operands, and checks their sizes if the operation comes from a loaded file.
std::vector<Operand> operands_of(const Operation& operation, const Shape& shape,
                                 FormatPair format) {
  std::vector<Operand> operands = operation.operands(shape, format);
  if (operation.loaded_from.empty()) return operands;
  for (const Operand& operand : operands) {
    (void)require_amount(kElements, operation.name, shape, static_cast<double>(operand.elements));
  }
  return operands;
}

}  // namespace

Problem::Problem(const Operation& of, Shape size, FormatPair formats)
    : operation(&of),
      shape(std::move(size)),
      format(formats),
      operands(operands_of(of, shape, format)),
      outputs(outputs_of(of, shape, format)),
      work{of.flops(shape), bytes(of, shape, format)},
      terms(of.reduction(shape)),
      rows(ceil_div(outputs.front().operand.used_elements(), outputs.front().row_length)) {
  for (const Output& output : outputs) {
    row_elements += output.row_length;
    elements += output.operand.used_elements();
  }
}

std::int64_t Problem::elements_of(std::span<const std::int64_t> chosen) const {
  std::int64_t sum = (std::ssize(chosen) - 1) * row_elements;
  for (const Output& output : outputs) sum += output.length_of(chosen.back());
  return sum;
}

std::vector<std::int64_t> Problem::all_rows() const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

bool Problem::in_place() const {
  return std::ranges::any_of(operands,
                             [](const Operand& o) { return o.access == Access::updated; });
}

}  // namespace ridgebench
