#include "harness/measure/selection/shapes_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Takes the next field off the line. A field in double quotes may contain the separator.
std::string take_field(std::string_view& rest, std::string_view separators) {
  rest = trimmed(rest);
  std::string field;
  if (rest.starts_with('"')) {
    const std::size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) throw UsageError("a double quote has no partner");
    field = trimmed(rest.substr(1, end - 1));
    rest = trimmed(rest.substr(end + 1));
    if (!rest.empty() && separators.find(rest.front()) == std::string_view::npos) {
      throw UsageError("a separator is missing after a double quote");
    }
    if (!rest.empty()) rest.remove_prefix(1);
    return field;
  }
  const std::size_t end = rest.find_first_of(separators);
  field = trimmed(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return field;
}

// Fields between commas may hold what text() would separate again, into other fields.
void require_words(const ShapeLine& line) {
  for (const std::string& field : {line.operation, line.shape, line.format.value_or("")}) {
    if (field.find_first_of(kBlanks) != std::string::npos) {
      throw UsageError(fmt::format("'{}' holds a blank; allowed: a field without one",
                                   std::string_view(field).substr(0, 200)));
    }
  }
  if (line.operation.find(',') != std::string::npos || line.shape.starts_with(',')) {
    throw UsageError(
        fmt::format("'{} {}' has a comma in its operation or before its shape; allowed: commas "
                    "between sizes",
                    line.operation.substr(0, 100), line.shape.substr(0, 100)));
  }
}

}  // namespace

std::string ShapeLine::text() const {
  return fmt::format("{} {}{}{}", operation, shape, format ? " " : "", format.value_or(""));
}

ShapeLine parse_shape_line(std::string_view line) {
  std::string_view rest = trimmed(line);
  const std::size_t name = std::min(rest.find_first_of(" \t,"), rest.size());
  const bool csv = trimmed(rest.substr(name)).starts_with(',');
  const std::string_view separators = csv ? "," : " \t";
  ShapeLine result{.operation = take_field(rest, separators),
                   .shape = take_field(rest, separators),
                   .format = std::nullopt};
  std::string format = take_field(rest, separators);
  if (!format.empty()) result.format = std::move(format);
  if (result.operation.empty() || result.shape.empty() || !trimmed(rest).empty()) {
    throw UsageError(
        fmt::format("'{}' is not of the form OPERATION SHAPE [FORMAT], for instance matmul "
                    "m:4096/n:14336/k:4096 bf16, or the same with commas",
                    line.substr(0, 200)));
  }
  require_words(result);
  return result;
}

std::vector<ShapeLine> read_shapes_file(const std::string& path) {
  std::string bytes = read_file(path);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (bytes.starts_with(kByteOrderMark)) bytes.erase(0, kByteOrderMark.size());
  std::istringstream text(std::move(bytes));
  std::vector<ShapeLine> lines;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.empty() || (number == 1 && content.starts_with("operation,shape"))) continue;
    try {
      if (content.find('\0') != std::string_view::npos) throw UsageError("a byte is 0");
      lines.push_back(parse_shape_line(content));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}, line {}: {}", path, number, error.what()));
    }
  }
  if (lines.empty()) throw UsageError(path + " has no shape");
  return lines;
}

}  // namespace ridgebench
