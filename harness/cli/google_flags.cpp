#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "harness/cli/google_benchmark.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kPrefix = "--benchmark_";
constexpr std::array<std::string_view, 3> kReportFormats{"console", "json", "csv"};
constexpr std::array<std::string_view, 3> kColors{"auto", "true", "false"};
constexpr std::array<std::string_view, 2> kBooleans{"true", "false"};
// Flags of Google Benchmark's own sampling.
constexpr std::array<std::string_view, 4> kReplaced{"min_time", "min_warmup_time", "repetitions",
                                                    "enable_random_interleaving"};

// "--benchmark_name=value"; a name without a value means true.
struct Flag {
  std::string_view name;
  std::string_view value;
};

Flag split(std::string_view argument) {
  if (!argument.starts_with(kPrefix)) {
    throw UsageError(fmt::format(
        "unknown argument '{}'; `ridgebench run --help` lists what is allowed", argument));
  }
  argument.remove_prefix(kPrefix.size());
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return {argument, "true"};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::string one_of(const Flag& flag, std::span<const std::string_view> allowed) {
  if (std::ranges::find(allowed, flag.value) == allowed.end()) {
    throw UsageError(fmt::format("{}{} is '{}'; allowed: {}", kPrefix, flag.name, flag.value,
                                 fmt::join(allowed, ", ")));
  }
  return std::string(flag.value);
}

void apply(const Flag& flag, GoogleFlags& flags) {
  if (flag.name == "filter") {
    flags.filter = flag.value == "all" ? "." : flag.value;  // Google Benchmark's word
  } else if (flag.name == "list_tests") {
    flags.list_tests = one_of(flag, kBooleans) == "true";
  } else if (flag.name == "format") {
    flags.format = one_of(flag, kReportFormats);
  } else if (flag.name == "out") {
    if (flag.value.empty()) throw UsageError("--benchmark_out: no file is named");
    flags.out = flag.value;
  } else if (flag.name == "out_format") {
    flags.out_format = one_of(flag, kReportFormats);
  } else if (flag.name == "color") {
    flags.color = one_of(flag, kColors);
  } else if (std::ranges::find(kReplaced, flag.name) != kReplaced.end()) {
    throw UsageError(
        fmt::format("{}{} is not supported: precision ends the sampling; use --budget SECONDS",
                    kPrefix, flag.name));
  } else {
    throw UsageError(fmt::format(
        "unknown flag {}{}; allowed: filter, list_tests, format, out, out_format, color", kPrefix,
        flag.name));
  }
}

}  // namespace

GoogleFlags parse_google_flags(const std::vector<std::string>& arguments) {
  GoogleFlags flags;
  for (const std::string& argument : arguments) apply(split(argument), flags);
  return flags;
}

}  // namespace ridgebench
