#include "harness/cli/plan_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "harness/base/printable.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// Vendors state memory sizes in powers of ten, and frameworks count tensors in MiB.
std::string bytes_text(double bytes) {
  constexpr double kMiB = 1048576;
  if (bytes < 1e6) return fmt::format("{:.6g} bytes", bytes);
  return fmt::format("{} ({:.6g} MiB)", with_unit(bytes, "B"), bytes / kMiB);
}

// A number of days has no prefix, and its digits after the point count as long as it is small.
std::string days_text(double days) {
  constexpr double kLong = 1000;
  constexpr double kForever = 1e9;
  if (days < kLong || days >= kForever) return fmt::format("{:.4g} days", days);
  return fmt::format("{:.0f} days", days);
}

std::string quantity(double value, std::string_view unit) {
  if (unit == "byte") return bytes_text(value);
  if (unit == "day") return days_text(value);
  if (unit == "parameters") return fmt::format("{} parameters", count_text(value));
  if (unit == "1") return fmt::format("{:.10g}", value);
  return with_unit(value, unit);
}

std::string line(std::string_view name, std::string_view text) {
  return fmt::format("  {:<44} {}\n", name, text);
}

std::string input_text(const PlanAnswer& value) {
  if (value.is_number()) return fmt::format("{:.10g}", value.get<double>());
  return value.is_string() ? printable(value.get<std::string>()) : value.dump();
}

}  // namespace

std::string plan_text(const PlanAnswer& answer) {
  std::string text = fmt::format("plan {}\n", answer["plan"].get<std::string>());
  for (const auto& [name, value] : answer["inputs"].items()) text += line(name, input_text(value));
  text += "\n";
  for (const PlanAnswer& term : answer["terms"]) {
    const double value = term["value"].get<double>();
    text += line(printable(term["name"].get<std::string>()),
                 quantity(value, term["unit"].get<std::string>()));
  }
  text += "\n";
  struct Result {
    const char* key;
    std::string_view unit;
  };
  constexpr std::array kResults{Result{"flops", "FLOP"}, Result{"days", "day"},
                                Result{"parameters", "parameters"}, Result{"bytes", "byte"},
                                Result{"bytes_per_parameter", "byte"}};
  for (const auto& [key, unit] : kResults) {
    if (answer.contains(key)) text += line(key, quantity(answer[key].get<double>(), unit));
  }
  if (answer.contains("fits")) text += line("fits", answer["fits"].get<bool>() ? "yes" : "no");
  if (answer.contains("note")) text += line("note", answer["note"].get<std::string>());
  return text;
}

}  // namespace ridgebench
