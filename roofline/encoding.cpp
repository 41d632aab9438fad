#include "roofline/encoding.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "roofline/fp4.hpp"

namespace ridgebench {
namespace {

// Returns the float that rounds to every narrower format as the double does. It is cut, and its
// last bit is set if something was cut off (rounding to odd), so that no tie arises or is lost.
// Source: Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57(4), 2008.
float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value) return nearest;
  const bool away = std::abs(static_cast<double>(nearest)) > std::abs(value);
  const float cut = away ? std::nextafter(nearest, 0.0F) : nearest;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(std::copysign(cut, nearest)) | 1U);
}

std::vector<Encoding> encodings() {
  std::vector<Encoding> all;
  for (const FormatInfo& f : kFormats) {
    if (f.format == Format::tf32x3 || f.format == Format::fp64 || f.whole()) continue;
    all.push_back({f.name, f.exponent_bits, f.mantissa_bits, f.max_finite(), &f});
  }
  all.push_back({Fp4::name, Fp4::exponent_bits, Fp4::mantissa_bits, Fp4::values.back(), nullptr});
  return all;
}

}  // namespace

std::uint32_t Encoding::encode(double value) const {
  if (info == nullptr) return Fp4::encode(value);
  const bool fp32 = info->format == Format::fp32;
  return encode_bits(*info, fp32 ? static_cast<float>(value) : rounded_to_odd(value));
}

double Encoding::decode(std::uint32_t code) const {
  return info == nullptr ? Fp4::decode(code) : static_cast<double>(decode_bits(*info, code));
}

std::vector<Encoding> encodings_of(const std::string& format) {
  std::vector<Encoding> all = encodings();
  if (format.empty()) return all;
  std::string wanted = format == "fp8" ? "fp8_e4m3" : format;
  if (fp4_blocks(wanted) != nullptr) wanted = Fp4::name;  // its element, without the scale
  std::vector<std::string_view> names;
  for (const Encoding& one : all) names.push_back(one.name);
  std::erase_if(all, [&](const Encoding& one) { return one.name != wanted; });
  if (!all.empty()) return all;
  throw UsageError(fmt::format("--format is '{}'; allowed: {}", format, join_names(names)));
}

std::string_view class_of(const Encoding& encoding, std::uint32_t code, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return "infinity";
  if (value == 0) return "zero";
  const std::uint32_t exponents = (1U << encoding.exponent_bits) - 1;
  return (code >> encoding.mantissa_bits & exponents) == 0 ? "subnormal" : "normal";
}

std::string_view outcome_of(const Encoding& encoding, double value, double decoded) {
  if (decoded == value) return "exact";
  if (decoded == 0) return "underflow";
  if (std::isinf(decoded)) return "overflow";
  // Up to half a step above the largest value there is still rounding. The tie itself rounds to the
  // even one of its neighbours: 448 of fp8_e4m3 is even, and 6 of fp4 is odd.
  const double step = encoding.last_step();
  const double above = std::abs(value) - encoding.largest;
  const bool odd = std::fmod(encoding.largest / step, 2) == 1;
  const bool beyond = above > step / 2 || (above == step / 2 && odd);
  return beyond ? "saturates" : "rounded";
}

}  // namespace ridgebench
