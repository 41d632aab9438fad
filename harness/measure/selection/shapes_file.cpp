#include "harness/measure/selection/shapes_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <utility>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kCommas = ",";

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

std::vector<std::string> fields_of(std::string_view line, std::string_view separators) {
  std::vector<std::string> fields;
  for (std::string_view rest = line; !rest.empty();) {
    fields.push_back(take_field(rest, separators));
  }
  return fields;
}

enum class Column { operation, shape, format, dimension };

// Empty for the name of no column.
std::optional<Column> column_of(const std::string& name) {
  if (name == "operation" || name == "op") return Column::operation;
  if (name == "shape") return Column::shape;
  if (name == "format" || name == "dtype") return Column::format;
  const bool letter = name.size() == 1 && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  return letter ? std::optional(Column::dimension) : std::nullopt;
}

// A table whose header names its columns, between commas, semicolons or blanks.
class ShapeTable {
 public:
  // Returns an empty value if the line does not name columns. Throws UsageError if it also has an
  // unknown name.
  static std::optional<ShapeTable> of_header(std::string_view line,
                                             const std::vector<std::string>& operations) {
    for (const std::string_view separators : {std::string_view(";"), kBlanks}) {
      std::vector<std::string> names = fields_of(line, separators);
      const bool known = std::ranges::all_of(
          names, [](const std::string& name) { return column_of(name).has_value(); });
      if (known && names.size() > 1) return ShapeTable(std::move(names), separators, operations);
    }
    const auto is_name = [](const std::string& field) {
      return !field.empty() && std::ranges::all_of(field, [](unsigned char c) {
        return std::isalpha(c) != 0 || c == '_';
      });
    };
    std::vector<std::string> names = fields_of(line, kCommas);
    if (!std::ranges::all_of(names, is_name) ||
        std::ranges::none_of(names,
                             [](const std::string& n) { return column_of(n).has_value(); })) {
      return std::nullopt;
    }
    const auto unknown = std::ranges::find_if(
        names, [](const std::string& name) { return !column_of(name).has_value(); });
    if (unknown != names.end()) {
      throw UsageError(
          fmt::format("column '{}'; allowed: operation, shape, format, and dimensions of one "
                      "letter, such as m,n,k",
                      unknown->substr(0, 100)));
    }
    return ShapeTable(std::move(names), kCommas, operations);
  }

  // The cases of a line: one, or one of each operation.
  [[nodiscard]] std::vector<ShapeLine> lines(std::string_view text) const {
    std::vector<std::string> fields = fields_of(text, separators_);
    // Blanks around an empty field are one separator.
    const bool whole = separators_ != kBlanks || fields.size() == names_.size();
    if (fields.size() > names_.size() || !whole) {
      throw UsageError(fmt::format("{} fields; allowed: {}", fields.size(), names_.size()));
    }
    fields.resize(names_.size());
    ShapeLine found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string& field = fields[i];
      switch (*column_of(names_[i])) {
        case Column::operation:
          found.operation = field;
          break;
        case Column::shape:
          found.shape = field;
          break;
        case Column::format:
          if (!field.empty()) found.format = field;
          break;
        case Column::dimension: {
          const auto letter =
              static_cast<char>(std::tolower(static_cast<unsigned char>(names_[i][0])));
          if (field.empty()) throw UsageError(fmt::format("{} has no size", names_[i]));
          found.shape += fmt::format("{}{}:{}", found.shape.empty() ? "" : "/", letter, field);
          break;
        }
      }
    }
    const bool named = !found.operation.empty();
    if (!named && operations_.empty()) {
      throw UsageError("no operation; allowed: a column operation, or --op");
    }
    std::vector<ShapeLine> all;
    for (const std::string& one : named ? std::vector{found.operation} : operations_) {
      found.operation = one;
      if (found.shape.empty()) throw UsageError("no shape");
      require_words(found);
      all.push_back(found);
    }
    return all;
  }

 private:
  ShapeTable(std::vector<std::string> names, std::string_view separators,
             std::vector<std::string> operations)
      : names_(std::move(names)), separators_(separators), operations_(std::move(operations)) {}

  std::vector<std::string> names_;
  std::string_view separators_;
  std::vector<std::string> operations_;
};

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

std::vector<ShapeLine> read_shapes_file(const std::string& path,
                                        const std::vector<std::string>& operations) {
  std::string bytes = read_file(path);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (bytes.starts_with(kByteOrderMark)) bytes.erase(0, kByteOrderMark.size());
  std::istringstream text(std::move(bytes));
  std::vector<ShapeLine> lines;
  std::optional<ShapeTable> table;
  bool first = true;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.empty()) continue;
    try {
      if (content.find('\0') != std::string_view::npos) throw UsageError("a byte is 0");
      if (std::exchange(first, false)) {
        table = ShapeTable::of_header(content, operations);
        if (table) continue;
      }
      if (table) {
        std::ranges::copy(table->lines(content), std::back_inserter(lines));
      } else {
        lines.push_back(parse_shape_line(content));
      }
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}, line {}: {}", path, number, error.what()));
    }
  }
  if (lines.empty()) throw UsageError(path + " has no shape");
  return lines;
}

}  // namespace ridgebench
