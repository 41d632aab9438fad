#include "roofline/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "roofline/encoding.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// "5 x 2^-5"; a whole number remains a whole number.
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

std::optional<double> relative_error(double value, double decoded) {
  const double error = (decoded - value) / value;
  return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

// Adds how the bits become the value: 1.f x 2^(e - bias), or 0.f x 2^(1 - bias) for a subnormal.
void add_decoding(ordered_json& row, const Encoding& encoding, std::uint32_t code, double decoded) {
  row["bias"] = encoding.bias();
  row["power"] = nullptr;
  row["significand"] = nullptr;
  row["decoding"] = nullptr;
  if (!std::isfinite(decoded)) return;
  const std::uint32_t field =
      code >> encoding.mantissa_bits() & ((1U << encoding.exponent_bits()) - 1);
  const int exponent = static_cast<int>(encoding.has_subnormals() ? std::max(field, 1U) : field);
  const double significand = std::ldexp(std::abs(decoded), encoding.bias() - exponent);
  row["power"] = exponent - encoding.bias();
  row["significand"] = significand;
  row["decoding"] = fmt::format("{}{:.10g} x 2^({} - {})", std::signbit(decoded) ? "-" : "",
                                significand, exponent, encoding.bias());
}

ordered_json row_of(const Encoding& encoding, std::uint32_t code, std::optional<double> value) {
  const double decoded = encoding.decode(code);
  const std::string digits = fmt::format("{:0{}b}", code, encoding.bits());
  const auto exponent_bits = static_cast<std::size_t>(encoding.exponent_bits());
  const std::size_t sign = encoding.has_sign ? 1 : 0;
  ordered_json row{{"format", encoding.name},
                   {"bits", fmt::format("0x{:0{}x}", code, (encoding.bits() + 3) / 4)},
                   {"sign", digits.substr(0, sign)},
                   {"exponent", digits.substr(sign, exponent_bits)},
                   {"mantissa", digits.substr(sign + exponent_bits)},
                   {"class", class_of(encoding, code, decoded)},
                   {"decoded", std::isfinite(decoded) ? ordered_json(decoded) : nullptr},
                   {"exact", exact_text(decoded)},
                   {"outcome", nullptr},
                   {"relative_error", nullptr}};
  add_decoding(row, encoding, code, decoded);
  if (!value) return row;
  row["outcome"] = outcome_of(encoding, *value, decoded);
  row["relative_error"] = nullable(relative_error(*value, decoded));
  return row;
}

// The digits of a text of bits, and how many bits each represents.
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
  for (const Encoding& encoding : encodings_of_numbers(format)) {
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

// A scale has no sign, and ue8m0 no zero.
void check_scale(const Encoding& encoding, double value) {
  if (encoding.has_sign) return;
  const bool zero = encoding.decode(0) == 0;
  if (value > 0 || (value == 0 && zero)) return;
  throw UsageError(fmt::format("{} is a format of scales and has no {:g}; allowed: a number {}",
                               encoding.name, value, zero ? "from 0 on" : "above 0"));
}

}  // namespace

ordered_json number_in_formats(const std::string& text, const std::string& format) {
  if (const auto bits = bit_text(text)) return decoded_bits(text, *bits, format);
  const std::optional<double> value = parse_number(text);
  if (!value) {
    throw UsageError(
        fmt::format("'{}' is not a number; allowed: a number that a double holds, such as 1e-8, "
                    "0.15625 or 70B, or bits, such as 0x3e200000 or 0b0_01100_0100000000",
                    shown(text)));
  }
  ordered_json rows = ordered_json::array();
  for (const Encoding& encoding : encodings_of_numbers(format)) {
    check_scale(encoding, *value);
    rows.push_back(row_of(encoding, encoding.encode(*value), value));
  }
  return {{"number", text}, {"value", *value}, {"formats", rows}};
}

}  // namespace ridgebench
