#include "kernels/common/operation.hpp"

#include <algorithm>
#include <cstddef>

namespace ridgebench {
namespace {

// Decoding through tables keeps the reference fast enough to sum 10^8 terms.
template <class T>
const std::vector<float>& decode_table() {
  static const std::vector<float> table = [] {
    std::vector<float> values(std::size_t{1} << (8 * sizeof(T)));
    for (std::size_t bits = 0; bits < values.size(); ++bits) {
      values[bits] = decode(T{static_cast<decltype(T::bits)>(bits)});
    }
    return values;
  }();
  return table;
}

template <class T>
void look_up(const void* data, std::int64_t first, std::span<double> out) {
  const float* const table = decode_table<T>().data();
  const T* const elements = static_cast<const T*>(data) + first;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = table[elements[i].bits];
}

double operand_bytes(const std::vector<Operand>& operands, bool written_only) {
  double sum = 0;
  for (const Operand& operand : operands) {
    if (!written_only || operand.access == Access::written) sum += operand.bytes();
  }
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
  }
}

double bytes(const Operation& operation, const Shape& shape, FormatPair format) {
  if (operation.traffic) return operation.traffic(shape, format);
  return operand_bytes(operation.operands(shape, format), false);
}

double written_fraction(const Operation& operation, const Shape& shape, FormatPair format) {
  const std::vector<Operand> operands = operation.operands(shape, format);
  return operand_bytes(operands, true) / operand_bytes(operands, false);
}

}  // namespace ridgebench
