#include "harness/cli/number_option.hpp"

#include <fmt/format.h>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {

double number_of(const std::string& option, const std::string& text) {
  if (const auto value = parse_number(text)) return *value;
  throw UsageError(fmt::format("{} is '{}'; allowed: a number above 0, such as {}", option, text,
                               kNumberExamples));
}

double fraction_of(const std::string& option, const std::string& text) {
  if (const auto value = parse_fraction(text)) return *value;
  throw UsageError(fmt::format("{} is '{}'; allowed: a fraction such as 0.4 or 40%", option, text));
}

CLI::Validator number_in(double low, double high, const std::string& allowed) {
  return {[=](std::string& text) {
            const auto value = parse_number(text);
            if (!value || !(*value >= low && *value <= high)) {
              return fmt::format("'{}' is not {}", text, allowed);
            }
            text = fmt::format("{}", *value);
            return std::string();
          },
          allowed};
}

}  // namespace ridgebench
