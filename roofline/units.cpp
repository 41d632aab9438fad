#include "roofline/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace ridgebench {
namespace {

struct Prefix {
  double scale;
  std::string_view text;
};
constexpr std::array kSmall{Prefix{1, ""}, Prefix{1e-3, "m"}, Prefix{1e-6, "u"}, Prefix{1e-9, "n"}};
constexpr std::array kLarge{Prefix{1e18, "E"}, Prefix{1e15, "P"}, Prefix{1e12, "T"},
                            Prefix{1e9, "G"},  Prefix{1e6, "M"},  Prefix{1e3, "k"}};
constexpr std::array kCounts{Prefix{1e12, "T"}, Prefix{1e9, "B"}, Prefix{1e6, "M"}};
constexpr std::array kNone{Prefix{1, ""}};

// Vendors do not scale beyond these, and a larger value is easier to read as a power of ten.
constexpr double kBeyondPrefixes = 1e21;

std::span<const Prefix> prefixes_of(std::string_view unit) {
  if (unit == "s") return kSmall;
  if (unit == "B" || unit == "B/s" || unit == "FLOP" || unit == "FLOP/s" || unit == "results/s")
    return kLarge;
  return kNone;
}

// Returns the first prefix whose scale the value reaches after it is rounded; none if it reaches no
// scale.
Prefix prefix_of(double value, std::span<const Prefix> prefixes) {
  constexpr double kRounded = 0.99995;
  for (const Prefix& prefix : prefixes) {
    if (std::abs(value) >= kRounded * prefix.scale) return prefix;
  }
  return {1, ""};
}

}  // namespace

std::string with_unit(double value, std::string_view unit) {
  if (value >= kBeyondPrefixes) return fmt::format("{:.4g} {}", value, unit);
  const auto [scale, prefix] = prefix_of(value, prefixes_of(unit));
  return fmt::format("{:.4g} {}{}", value / scale, prefix, unit);
}

std::string count_text(double count) {
  if (count < 1e6) return fmt::format("{:.10g}", count);
  const auto [scale, prefix] = prefix_of(count, kCounts);
  return fmt::format("{:.4g}{}", count / scale, prefix);
}

std::string counted(std::size_t number, std::string_view noun) {
  const char* const plural = noun.ends_with("ch") ? "es" : "s";  // launch, mismatch
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : plural);
}

}  // namespace ridgebench
