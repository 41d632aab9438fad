#include "kernels/common/operation.hpp"

#include <array>
#include <cstring>

namespace ridgepoint {
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
double lookup(const void* data, std::int64_t index) {
  return decode_table<T>()[static_cast<const T*>(data)[index].bits];
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
  switch (format) {
    case Format::fp32:
    case Format::tf32:
    case Format::tf32x3:
      return static_cast<const float*>(data)[index];
    case Format::fp16:
      return lookup<Fp16>(data, index);
    case Format::bf16:
      return lookup<Bf16>(data, index);
    case Format::fp8_e4m3:
      return lookup<Fp8E4m3>(data, index);
    case Format::fp8_e5m2:
      return lookup<Fp8E5m2>(data, index);
  }
  return 0;
}

double bytes(const Operation& operation, const Shape& shape, FormatPair format) {
  if (operation.traffic) return operation.traffic(shape, format);
  return operand_bytes(operation.operands(shape, format), false);
}

double written_fraction(const Operation& operation, const Shape& shape, FormatPair format) {
  const std::vector<Operand> operands = operation.operands(shape, format);
  return operand_bytes(operands, true) / operand_bytes(operands, false);
}

}  // namespace ridgepoint
