#include "roofline/encoding.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <utility>

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
    all.push_back({f.name, &f});
  }
  all.push_back({kFp4E2m1.name, &kFp4E2m1});
  return all;
}

// The formats of scales, which no number of a tensor has.
std::vector<Encoding> scale_encodings() {
  return {{kUe8m0.name, &kUe8m0, false}, {"ue4m3", &info(Format::fp8_e4m3), false}};
}

std::vector<Encoding> named_encoding(std::vector<Encoding> all, const std::string& format) {
  std::string wanted = format == "fp8" || format == "mxfp8" ? "fp8_e4m3" : format;
  if (fp4_blocks(wanted) != nullptr) wanted = kFp4E2m1.name;  // its element, without the scale
  std::vector<std::string_view> names;
  for (const Encoding& one : all) names.push_back(one.name);
  std::erase_if(all, [&](const Encoding& one) { return one.name != wanted; });
  if (!all.empty()) return all;
  throw UsageError(fmt::format("--format is '{}'; allowed: {}", format, join_names(names)));
}

}  // namespace

std::uint32_t Encoding::encode(double value) const {
  const bool fp32 = info->format == Format::fp32;
  return encode_bits(*info, fp32 ? static_cast<float>(value) : rounded_to_odd(value));
}

double Encoding::decode(std::uint32_t code) const {
  return static_cast<double>(decode_bits(*info, code));
}

std::vector<Encoding> encodings_of(const std::string& format) {
  return format.empty() ? encodings() : named_encoding(encodings(), format);
}

std::vector<Encoding> encodings_of_numbers(const std::string& format) {
  if (format.empty()) return encodings();
  std::vector<Encoding> all = encodings();
  for (const Encoding& scale : scale_encodings()) all.push_back(scale);
  return named_encoding(std::move(all), format);
}

std::string_view class_of(const Encoding& encoding, std::uint32_t code, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return "infinity";
  if (value == 0) return "zero";
  if (!encoding.has_subnormals()) return "normal";
  const std::uint32_t exponents = (1U << encoding.exponent_bits()) - 1;
  return (code >> encoding.mantissa_bits() & exponents) == 0 ? "subnormal" : "normal";
}

std::string_view outcome_of(const Encoding& encoding, double value, double decoded) {
  if (decoded == value) return "exact";
  if (decoded == 0) return "underflow";
  if (std::isinf(decoded)) return "overflow";
  // Up to half a step above the largest value there is still rounding. The tie itself rounds to the
  // even one of its neighbours: 448 of fp8_e4m3 is even, and 6 of fp4 is odd.
  const double step = encoding.last_step();
  const double above = std::abs(value) - encoding.largest();
  if (!encoding.has_subnormals()) return above > 0 ? "saturates" : "rounded";  // ue8m0 rounds up
  const bool odd = std::fmod(encoding.largest() / step, 2) == 1;
  const bool beyond = above > step / 2 || (above == step / 2 && odd);
  return beyond ? "saturates" : "rounded";
}

}  // namespace ridgebench
