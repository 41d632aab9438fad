#include "roofline/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/number.hpp"
#include "roofline/fp4.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

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

// One of the formats that `number` shows.
struct Encoding {
  std::string_view name;
  int exponent_bits;
  int mantissa_bits;
  double largest;
  const FormatInfo* info;  // null: fp4

  [[nodiscard]] int bits() const { return 1 + exponent_bits + mantissa_bits; }
  [[nodiscard]] std::uint32_t encode(double value) const {
    if (info == nullptr) return Fp4::encode(value);
    const bool fp32 = info->format == Format::fp32;
    return encode_bits(*info, fp32 ? static_cast<float>(value) : rounded_to_odd(value));
  }
  [[nodiscard]] double decode(std::uint32_t code) const {
    return info == nullptr ? Fp4::decode(code) : static_cast<double>(decode_bits(*info, code));
  }
};

std::vector<Encoding> encodings() {
  std::vector<Encoding> all;
  for (const FormatInfo& f : kFormats) {
    if (f.format == Format::tf32x3 || f.format == Format::fp64 || f.whole()) continue;
    all.push_back({f.name, f.exponent_bits, f.mantissa_bits, f.max_finite(), &f});
  }
  all.push_back({Fp4::name, Fp4::exponent_bits, Fp4::mantissa_bits, Fp4::values.back(), nullptr});
  return all;
}

// Those of one name, or all for an empty name.
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

// "5 x 2^-5"; a whole number stands as it is.
std::string exact_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  if (value == std::floor(value) && std::abs(value) <= kLargestCount) {
    return fmt::format("{:.0f}", value);
  }
  int exponent = 0;
  double significand = std::frexp(value, &exponent);
  while (significand != std::floor(significand)) {
    significand *= 2;
    --exponent;
  }
  return fmt::format("{:.0f} x 2^{}", significand, exponent);
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
  const double step = std::ldexp(1.0, std::ilogb(encoding.largest) - encoding.mantissa_bits);
  const double above = std::abs(value) - encoding.largest;
  const bool odd = std::fmod(encoding.largest / step, 2) == 1;
  const bool beyond = above > step / 2 || (above == step / 2 && odd);
  return beyond ? "saturates" : "rounded";
}

std::optional<double> relative_error(double value, double decoded) {
  const double error = (decoded - value) / value;
  return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

ordered_json row_of(const Encoding& encoding, std::uint32_t code, std::optional<double> value) {
  const double decoded = encoding.decode(code);
  const std::string digits = fmt::format("{:0{}b}", code, encoding.bits());
  const auto exponent_bits = static_cast<std::size_t>(encoding.exponent_bits);
  ordered_json row{{"format", encoding.name},
                   {"bits", fmt::format("0x{:0{}x}", code, (encoding.bits() + 3) / 4)},
                   {"sign", digits.substr(0, 1)},
                   {"exponent", digits.substr(1, exponent_bits)},
                   {"mantissa", digits.substr(1 + exponent_bits)},
                   {"class", class_of(encoding, code, decoded)},
                   {"decoded", std::isfinite(decoded) ? ordered_json(decoded) : nullptr},
                   {"exact", exact_text(decoded)},
                   {"outcome", nullptr},
                   {"relative_error", nullptr}};
  if (!value) return row;
  row["outcome"] = outcome_of(encoding, *value, decoded);
  row["relative_error"] = nullable(relative_error(*value, decoded));
  return row;
}

// The digits of a text of bits, and how many bits each stands for.
struct BitText {
  std::string digits;
  int base;

  [[nodiscard]] int bits() const { return static_cast<int>(digits.size()) * (base == 16 ? 4 : 1); }
};

// Empty for a text that does not start with 0x or 0b.
std::optional<BitText> bit_text(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (!hex && !text.starts_with("0b") && !text.starts_with("0B")) return std::nullopt;
  BitText result{std::string(text.substr(2)), hex ? 16 : 2};
  std::erase(result.digits, '_');
  return result;
}

// 32 bits at most. Empty for a text with other characters.
std::optional<std::uint32_t> code_of(const BitText& text) {
  std::uint32_t code = 0;
  const char* const end = text.digits.data() + text.digits.size();
  const auto [stop, error] = std::from_chars(text.digits.data(), end, code, text.base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return code;
}

// A hexadecimal digit may reach beyond the bits of tf32, whose 19 bits five digits hold.
bool fits(const Encoding& encoding, const BitText& text, std::uint32_t code, bool named) {
  if (text.base == 2 || !named) return text.bits() == encoding.bits();
  return encoding.bits() == 32 || code >> encoding.bits() == 0;
}

// The start of a text for a message.
std::string shown(const std::string& text) {
  constexpr std::size_t kMost = 60;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

ordered_json decoded_bits(const std::string& text, const BitText& bits, const std::string& format) {
  const std::optional<std::uint32_t> code = code_of(bits);
  ordered_json rows = ordered_json::array();
  std::string widths;
  for (const Encoding& encoding : encodings_of(format)) {
    widths += fmt::format("{}{} ({})", widths.empty() ? "" : ", ", encoding.name, encoding.bits());
    if (code && fits(encoding, bits, *code, !format.empty())) {
      rows.push_back(row_of(encoding, *code, std::nullopt));
    }
  }
  if (rows.empty()) {
    throw UsageError(fmt::format(
        "'{}' has {} bits; allowed: as many 0 and 1 after 0b, or "
        "hexadecimal digits after 0x, as the format has bits: {}",
        shown(text), code ? fmt::format("{}", bits.bits()) : "other digits or too many", widths));
  }
  return {{"number", text}, {"value", nullptr}, {"formats", rows}};
}

}  // namespace

ordered_json number_in_formats(const std::string& text, const std::string& format) {
  if (const auto bits = bit_text(text)) return decoded_bits(text, *bits, format);
  const std::optional<double> value = parse_number(text);
  if (!value) {
    throw UsageError(
        fmt::format("'{}' is no number; allowed: a number that a double holds, such as 1e-8, "
                    "0.15625 or 70B, or bits, such as 0x3e200000 or 0b0_01100_0100000000",
                    shown(text)));
  }
  ordered_json rows = ordered_json::array();
  for (const Encoding& encoding : encodings_of(format)) {
    rows.push_back(row_of(encoding, encoding.encode(*value), value));
  }
  return {{"number", text}, {"value", *value}, {"formats", rows}};
}

}  // namespace ridgebench
