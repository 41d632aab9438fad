#include "kernels/common/enum_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// The Levenshtein distance, by the row of its table that is needed.
std::size_t changes(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

std::string join_names(std::span<const std::string_view> names) {
  auto named = names | std::views::filter([](auto name) { return !name.empty(); });
  return fmt::format("{}", fmt::join(named.begin(), named.end(), ", "));
}

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t fewest = (text.size() + 1) / 2;
  for (const std::string_view name : names) {
    // A name that is much longer or shorter needs no table.
    if (name.size() > 2 * text.size() || text.size() > 2 * name.size()) continue;
    if (const std::size_t d = changes(text, name); d < fewest) {
      fewest = d;
      nearest = name;
    }
  }
  return nearest;
}

void reject_name(std::string_view what, std::string_view text,
                 std::span<const std::string_view> allowed) {
  const std::string_view nearest = nearest_name(text, allowed);
  const std::string offer = nearest.empty() ? "" : fmt::format("nearest: {}; ", nearest);
  throw UsageError(
      fmt::format("unknown {} '{}'; {}allowed: {}", what, text, offer, join_names(allowed)));
}

}  // namespace ridgebench
