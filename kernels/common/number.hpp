// The one grammar of numbers on the command line: 4096, 0.5, 1e6, 4k, 70B, 15T. Where a fraction is
// meant, 40% is one too.
#pragma once

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace ridgebench {

// Every whole number from 0 to this one is a double, so that JSON keeps it.
inline constexpr double kLargestCount = 0x1p53;

// For messages: "allowed: a number such as <examples>".
inline constexpr std::string_view kNumberExamples = "4096, 1e6, 4k, 70B or 15T";

namespace number_detail {

// The power of ten that the last character represents; 0 for a digit or an unknown character.
constexpr int power_of(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 3;
    case 'M':  // not m, which is the prefix of a thousandth
      return 6;
    case 'G':
    case 'g':
    case 'B':
    case 'b':
      return 9;
    case 'T':
    case 't':
      return 12;
    default:
      return 0;
  }
}

// Returns the finite number that a decimal text represents; empty for any other text.
inline std::optional<double> whole_text(const std::string& text) {
  const char* const end = text.data() + text.size();
#ifdef __cpp_lib_to_chars
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
#else  // clang's libc++ does not say that it has from_chars for double
  errno = 0;
  char* stop = nullptr;
  const double value = std::strtod(text.c_str(), &stop);
  if (text.empty() || text.front() == '+' || stop != end || errno == ERANGE) return std::nullopt;
#endif
  return value;
}

// The power joins the text, so that the result is the double nearest to what the text says: 0.3k is
// 300. A text has either an exponent or a suffix.
inline std::optional<double> scaled(std::string_view digits, int power) {
  const bool plain = digits.find_first_not_of("-.0123456789") == std::string_view::npos;
  const bool decimal = digits.find_first_not_of("-+.0123456789eE") == std::string_view::npos;
  if (power == 0 ? !decimal : !plain) return std::nullopt;
  std::string text(digits);
  if (power != 0) {
    text += 'e';
    text += std::to_string(power);
  }
  return whole_text(text);
}

}  // namespace number_detail

// Returns the finite number that the whole text represents; empty for any other text.
inline std::optional<double> parse_number(std::string_view text) {
  const int power = text.empty() ? 0 : number_detail::power_of(text.back());
  if (power != 0) text.remove_suffix(1);
  return number_detail::scaled(text, power);
}

// The same for an option that means a fraction: 0.4 and 40% are equal.
inline std::optional<double> parse_fraction(std::string_view text) {
  if (!text.ends_with('%')) return parse_number(text);
  text.remove_suffix(1);
  return number_detail::scaled(text, -2);
}

}  // namespace ridgebench
