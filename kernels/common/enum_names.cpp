#include "kernels/common/enum_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "kernels/common/error.hpp"

namespace ridgebench {

std::string join_names(std::span<const std::string_view> names) {
  auto named = names | std::views::filter([](auto name) { return !name.empty(); });
  return fmt::format("{}", fmt::join(named.begin(), named.end(), ", "));
}

void reject_name(std::string_view what, std::string_view text,
                 std::span<const std::string_view> allowed) {
  throw UsageError(fmt::format("unknown {} '{}'; allowed: {}", what, text, join_names(allowed)));
}

}  // namespace ridgebench
