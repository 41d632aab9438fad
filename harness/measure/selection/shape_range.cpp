#include "harness/measure/selection/shape_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void reject_range(std::string_view range) {
  throw UsageError(
      fmt::format("'{}' is not a range of sizes; allowed: start..stop:step or start..stop:xFACTOR, "
                  "with 1 <= start <= stop <= 2^40, for instance 512..4096:512 or 1..4096:x2",
                  range));
}

double size_in(std::string_view range, std::string_view text) {
  const double size = parse_number(text).value_or(0);
  constexpr auto kMost = static_cast<double>(kLargestSize);
  if (size != std::floor(size) || size < 1 || size > kMost) reject_range(range);
  return size;
}

struct Step {
  double factor = 1;  // 1: the sizes grow by `addend`
  double addend = 1;
};

Step step_of(std::string_view range, std::string_view text) {
  if (!text.starts_with('x')) return {.addend = size_in(range, text)};
  constexpr double kSmallestFactor = 1.001;
  const double factor = parse_number(text.substr(1)).value_or(0);
  if (factor < kSmallestFactor) reject_range(range);
  return {.factor = factor};
}

void add_range(std::vector<std::string>& values, std::string_view range) {
  const std::size_t dots = range.find("..");
  const std::size_t colon = range.find(':', dots);
  const double start = size_in(range, range.substr(0, dots));
  const double stop = size_in(range, range.substr(dots + 2, colon - std::min(colon, dots + 2)));
  if (stop < start) reject_range(range);
  const Step step =
      colon == std::string_view::npos ? Step{} : step_of(range, range.substr(colon + 1));
  for (int n = 0;; ++n) {
    const double exact =
        step.factor > 1 ? start * std::pow(step.factor, n) : start + n * step.addend;
    if (std::round(exact) > stop) return;
    values.push_back(fmt::format("{:.0f}", std::round(exact)));
    if (values.size() > kMostShapes) {
      throw UsageError(fmt::format("range '{}' has more than {} sizes", range, kMostShapes));
    }
  }
}

// One dimension: "m:" or nothing, and the texts of its sizes.
struct Dimension {
  std::string_view label;
  std::vector<std::string> values;
};

// A part that starts with a letter has a name before its first colon.
Dimension dimension_of(std::string_view part) {
  Dimension dimension;
  const bool named = !part.empty() && std::isalpha(static_cast<unsigned char>(part.front())) != 0;
  const std::size_t colon = named ? part.find(':') : std::string_view::npos;
  if (colon != std::string_view::npos) dimension.label = part.substr(0, colon + 1);
  for (const std::string_view item : split(part.substr(dimension.label.size()), ',')) {
    if (item.find("..") == std::string_view::npos) {
      dimension.values.emplace_back(item);
    } else {
      add_range(dimension.values, item);
    }
  }
  return dimension;
}

}  // namespace

std::vector<std::string> expand_shape(std::string_view text) {
  std::vector<std::string> texts{""};
  for (const std::string_view part : split(text, '/')) {
    const Dimension dimension = dimension_of(part);
    if (texts.size() * dimension.values.size() > kMostShapes) {
      throw UsageError(fmt::format("shape '{}' represents more than {} shapes", text, kMostShapes));
    }
    std::vector<std::string> longer;
    for (const std::string& beginning : texts) {
      for (const std::string& value : dimension.values) {
        longer.push_back(fmt::format("{}{}{}{}", beginning, beginning.empty() ? "" : "/",
                                     dimension.label, value));
      }
    }
    texts = std::move(longer);
  }
  std::set<std::string> known;
  std::erase_if(texts, [&](const std::string& one) { return !known.insert(one).second; });
  return texts;
}

}  // namespace ridgebench
