#include "kernels/common/format.hpp"

#include <fmt/format.h>

#include "kernels/common/error.hpp"

namespace ridgebench {

Format parse_format(std::string_view name) {
  if (name == "fp8") return Format::fp8_e4m3;
  std::string allowed;
  for (const FormatInfo& f : kFormats) {
    if (f.name == name) return f.format;
    allowed += fmt::format("{}, ", f.name);
  }
  const std::string_view why = name.starts_with("fp4") ? " (fp4 is not supported here)" : "";
  throw UsageError(
      fmt::format("unknown format '{}'{}; allowed: {}fp8 (= fp8_e4m3)", name, why, allowed));
}

Format parse_sum_format(std::string_view name) {
  return name == info(Format::int32).name ? Format::int32 : parse_format(name);
}

std::string FormatPair::name() const {
  return mixed() ? fmt::format("{}x{}", info(a).name, info(b).name) : std::string(info(a).name);
}

FormatPair parse_measured_format(std::string_view name) {
  const bool fp4 = name == kFp4E2m1.name || name == "fp4" || name == "nvfp4";
  return fp4 ? FormatPair(Format::fp4_e2m1) : parse_format_pair(name);
}

FormatPair parse_format_pair(std::string_view name) {
  constexpr std::string_view kShortest = "fp8";  // so that mxfp4 is one name
  const std::size_t cross = name.find('x');
  if (cross == std::string_view::npos || cross < kShortest.size() ||
      name == info(Format::tf32x3).name) {
    return parse_format(name);
  }
  return {parse_format(name.substr(0, cross)), parse_format(name.substr(cross + 1))};
}

}  // namespace ridgebench
