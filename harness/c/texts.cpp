#include "harness/c/texts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/printable.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_part_of_a_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string text_of(const char* given) { return given == nullptr ? std::string() : given; }

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

std::string checked_name(const char* what, const char* given) {
  std::string name = text_of(given);
  if (name.empty() || name.size() > kLongestName || !is_letter(name.front()) ||
      !std::ranges::all_of(name, is_part_of_a_name)) {
    throw UsageError(fmt::format(
        "{} '{}' is not a name; allowed: a-z, 0-9 and _, a letter first, at most {} characters",
        what, name.substr(0, kLongestName), kLongestName));
  }
  return name;
}

std::vector<FormatPair> formats_of(const std::string& owner, const char* list) {
  std::vector<FormatPair> formats;
  for (const std::string& part : parts_of(text_of(list))) {
    const FormatPair format(parse_format(part));
    if (std::ranges::find(formats, format) == formats.end()) formats.push_back(format);
  }
  if (formats.empty()) throw UsageError(fmt::format("{} names no format", owner));
  return formats;
}

std::string line_of(const Message& message) {
  return printable({message.begin(), std::ranges::find(message, '\0')});
}

}  // namespace ridgebench
