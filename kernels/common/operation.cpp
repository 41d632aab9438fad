#include "kernels/common/operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// A function: GCC would run a lambda at compile time, for seconds, and then discard the result.
template <class T>
std::vector<float> decoded() {
  std::vector<float> values(std::size_t{1} << (8 * sizeof(T)));
  for (std::size_t bits = 0; bits < values.size(); ++bits) {
    values[bits] = decode(T{static_cast<decltype(T::bits)>(bits)});
  }
  return values;
}

// Decoding through tables keeps the reference fast enough to sum 10^8 terms.
template <class T>
const std::vector<float>& decode_table() {
  static const std::vector<float> table = decoded<T>();
  return table;
}

template <class T>
void look_up(const void* data, std::int64_t first, std::span<double> out) {
  const float* const table = decode_table<T>().data();
  const T* const elements = static_cast<const T*>(data) + first;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = table[elements[i].bits];
}

void read_pairs(const void* data, std::int64_t first, std::span<double> out) {
  const auto* const pairs = static_cast<const Fp4Pair*>(data);
  for (double& number : out) number = decode_at(pairs, first++);
}

double bytes_written(const std::vector<Operand>& operands) {
  double sum = 0;
  for (const Operand& operand : operands) sum += operand.is_output() ? operand.used_bytes() : 0;
  return sum;
}

double bytes_moved(const std::vector<Operand>& operands) {
  double sum = bytes_written(operands);
  for (const Operand& operand : operands) sum += operand.is_input() ? operand.used_bytes() : 0;
  return sum;
}

}  // namespace

double View::operator[](std::int64_t index) const {
  double element = 0;
  read(index, {&element, 1});
  return element;
}

void View::read(std::int64_t first, std::span<double> out) const {
  switch (format) {
    case Format::fp32:
    case Format::tf32:
    case Format::tf32x3:
      std::copy_n(static_cast<const float*>(data) + first, out.size(), out.data());
      break;
    case Format::fp16:
      look_up<Fp16>(data, first, out);
      break;
    case Format::bf16:
      look_up<Bf16>(data, first, out);
      break;
    case Format::fp8_e4m3:
      look_up<Fp8E4m3>(data, first, out);
      break;
    case Format::fp8_e5m2:
      look_up<Fp8E5m2>(data, first, out);
      break;
    case Format::fp64:
      std::copy_n(static_cast<const double*>(data) + first, out.size(), out.data());
      break;
    case Format::int8:
      look_up<Int8>(data, first, out);
      break;
    case Format::fp4_e2m1:
      read_pairs(data, first, out);
      break;
    case Format::ue8m0:
      look_up<Ue8m0>(data, first, out);
      break;
    case Format::int32:
      std::copy_n(static_cast<const std::int32_t*>(data) + first, out.size(), out.data());
      break;
  }
}

View View::from(std::int64_t first) const {
  const FormatInfo& f = info(format);
  return {static_cast<const std::byte*>(data) + first / f.numbers() * f.storage_bytes, format};
}

FormatPair parse_format(std::string_view text, std::span<const Operation* const> operations) {
  std::vector<std::string> allowed;
  for (const Operation* operation : operations) {
    for (const FormatPair format : operation->formats) {
      if (std::ranges::find(allowed, format.name()) == allowed.end()) {
        allowed.push_back(format.name());
      }
    }
  }
  std::string named;
  try {
    const FormatPair format = parse_measured_format(text);
    named = format.name();
    if (std::ranges::find(allowed, named) != allowed.end()) return format;
  } catch (const UsageError&) {
    named = text;  // which no operation has
  }
  const bool one = operations.size() == 1;
  throw UsageError(fmt::format("{} no format {}; allowed: {}",
                               one ? operations.front()->name + " has" : "the operations have",
                               named.empty() ? "''" : named, fmt::join(allowed, ", ")));
}

Shape unit_shape(const Operation& operation) {
  std::vector<Shape::Dimension> dimensions;
  for (const std::string& name : operation.dimensions) dimensions.emplace_back(name, 1);
  return Shape(std::move(dimensions),
               operation.has_layout ? std::optional(Layout::nt) : std::nullopt,
               operation.attributes);
}

std::int64_t Output::length_of(std::int64_t row) const {
  if (operand.rows.stride > 0) return row_length;
  return std::min(row_length, operand.elements - row * row_length);
}

Shape parse_shape(std::string_view text, const Operation& operation) {
  std::vector<std::string> optional;
  for (const auto& [name, usual] : operation.optional_dimensions) optional.push_back(name);
  Shape shape =
      parse_shape(text, operation.dimensions, operation.has_layout, operation.attributes, optional);
  for (const auto& [name, usual] : operation.optional_dimensions) {
    if (shape.size_or(name, 0) == usual(shape)) shape = shape.without(name);
  }
  if (operation.refuses) {
    if (const auto reason = operation.refuses(shape)) {
      throw UsageError(fmt::format("{} of shape {}: {}", operation.name, shape.text(), *reason));
    }
  }
  return shape;
}

std::vector<Output> outputs_of(const Operation& operation, const Shape& shape, FormatPair format) {
  std::vector<Output> outputs;
  std::int64_t rows = 0;
  const std::vector<Operand> operands = operation.operands(shape, format);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].is_output()) continue;
    const std::int64_t elements = operands[i].used_elements();
    std::int64_t length = operation.row_length(shape);
    if (outputs.empty()) {
      rows = ceil_div(elements, length);
    } else if (elements == outputs.front().operand.used_elements()) {
      length = outputs.front().row_length;
    } else if (elements % rows == 0) {
      length = elements / rows;
    } else {
      throw std::logic_error(
          fmt::format("output {} of {} has {} elements, which are no {} rows of one length",
                      operands[i].name, operation.name, elements, rows));
    }
    if (operands[i].rows.stride > 0 && operands[i].rows.length != length) {
      throw std::logic_error(
          fmt::format("output {} of {} has rows of {} elements, and the reference rows of {}",
                      operands[i].name, operation.name, operands[i].rows.length, length));
    }
    outputs.push_back({i, operands[i], length});
  }
  return outputs;
}

double bytes(const Operation& operation, const Shape& shape, FormatPair format) {
  if (operation.traffic) return operation.traffic(shape, format);
  return bytes_moved(operation.operands(shape, format));
}

double written_fraction(const Operation& operation, const Shape& shape, FormatPair format) {
  const std::vector<Operand> operands = operation.operands(shape, format);
  return bytes_written(operands) / bytes_moved(operands);
}

}  // namespace ridgebench
