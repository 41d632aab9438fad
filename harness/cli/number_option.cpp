#include "harness/cli/number_option.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

CLI::Validator number_that(const std::function<bool(double)>& holds, const std::string& allowed) {
  return {[=](std::string& text) {
            const auto value = parse_number(text);
            if (!value || !holds(*value)) return fmt::format("'{}' is not {}", text, allowed);
            text = fmt::format("{}", *value);
            return std::string();
          },
          ""};
}

}  // namespace

double number_of(const std::string& option, const std::string& text) {
  if (const auto value = parse_number(text)) return *value;
  throw UsageError(fmt::format("{} is '{}'; allowed: a number above 0, such as {}", option, text,
                               kNumberExamples));
}

double bytes_of(const std::string& option, const std::string& text) {
  const bool unit = text.ends_with('B') || text.ends_with('b');
  const std::string number = text.substr(0, text.size() - 1);
  if (!unit || !parse_number(number)) return number_of(option, text);
  throw UsageError(
      fmt::format("{0} is '{1}', where B may mean bytes or a billion; allowed: {2} for bytes, {3} "
                  "for billions of bytes",
                  option, text, number, fmt::format("{}G", number)));
}

double fraction_of(const std::string& option, const std::string& text) {
  if (const auto value = parse_fraction(text)) return *value;
  throw UsageError(fmt::format("{} is '{}'; allowed: a fraction such as 0.4 or 40%", option, text));
}

std::int64_t count_of(const std::string& option, const std::string& text, double most) {
  const double count = parse_number(text).value_or(0);
  if (count < 1 || count > most || count != std::floor(count)) {
    throw UsageError(fmt::format("{} is '{}'; allowed: a whole number from 1 to {:.0f}, such as {}",
                                 option, text, most, "1, 64 or 4k"));
  }
  return static_cast<std::int64_t>(count);
}

std::vector<std::int64_t> counts_of(const std::string& option, const std::string& text,
                                    double most) {
  std::vector<std::int64_t> counts;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    counts.push_back(count_of(option, part, most));
  }
  return counts;
}

CLI::Validator number_in(double low, double high, const std::string& allowed) {
  return number_that([=](double value) { return value >= low && value <= high; }, allowed);
}

CLI::Validator whole_in(double low, double high, const std::string& allowed) {
  return number_that(
      [=](double value) { return value >= low && value <= high && value == std::floor(value); },
      allowed);
}

CLI::Validator not_empty() {
  return {[](const std::string& text) {
            return std::string(text.empty() ? "an empty text names nothing" : "");
          },
          ""};
}

}  // namespace ridgebench
