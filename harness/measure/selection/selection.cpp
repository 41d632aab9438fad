#include "harness/measure/selection/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/selection/shape_range.hpp"
#include "harness/measure/selection/shapes_file.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Throws UsageError if no operation in question has the technique.
void require_technique(const std::string& name, std::span<const Operation* const> operations,
                       const Registry& registry) {
  std::set<std::string_view> allowed;
  for (const auto& i : registry.implementations()) {
    if (std::ranges::find(operations, i->operation) != operations.end()) {
      allowed.insert(i->technique.name);
    }
  }
  if (allowed.contains(name)) return;
  reject_name("technique", name, std::vector<std::string_view>(allowed.begin(), allowed.end()));
}

// Throws UsageError for a ceiling, whose sizes decide the roofs.
const Operation& operation_of(std::string_view name, const Registry& registry) {
  const Operation& operation = registry.operation(name);
  if (!operation.ceiling) return operation;
  throw UsageError(fmt::format(
      "{} is a ceiling, whose sizes a profile chooses; allowed: an operation, or --filter", name));
}

}  // namespace

Selection::Selection(const CaseNames& names, const Registry& registry) {
  for (const std::string& name : names.operations) {
    operations_.emplace(operation_of(name, registry).name);
  }
  for (const std::string& line : names.shapes) {
    try {
      add_shapes(line, registry);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("'{}': {}", line.substr(0, 200), error.what()));
    }
  }
  if (!names.shapes.empty()) require_shapes();
  std::vector<const Operation*> chosen;
  for (const auto& operation : registry.operations()) {
    if (!operation->ceiling && has(*operation)) chosen.push_back(operation.get());
  }
  for (const std::string& text : names.formats) {
    formats_.push_back(parse_format(text, chosen));
  }
  for (const std::string& name : names.techniques) {
    require_technique(name, chosen, registry);
    techniques_.insert(name);
  }
}

void Selection::add_shapes(const std::string& line, const Registry& registry) {
  const ShapeLine parsed = parse_shape_line(line);
  const Operation& operation = operation_of(parsed.operation, registry);
  if (!operations_.empty() && !operations_.contains(operation.name)) return;
  NamedShape named;
  if (parsed.format) {
    const Operation* one = &operation;
    named.format = parse_format(*parsed.format, {&one, 1});
  }
  std::vector<NamedShape>& all = shapes_[std::string(operation.name)];
  for (const std::string& text : expand_shape(parsed.shape)) {
    named.shape = parse_shape(text, operation);
    all.push_back(named);
  }
  if (all.size() > kMostShapes) {
    throw UsageError(fmt::format("{}: more than {} shapes", operation.name, kMostShapes));
  }
}

void Selection::require_shapes() const {
  for (const std::string& name : operations_) {
    if (!shapes_.contains(name)) {
      throw UsageError(fmt::format(
          "no shape of operation {} is given; allowed: shapes of each operation that is named",
          name));
    }
  }
}

bool Selection::has(const Operation& operation) const {
  if (!shapes_.empty()) return shapes_.contains(operation.name);
  return operations_.empty() || operations_.contains(operation.name);
}

bool Selection::names(const Operation& operation) const {
  return has(operation) && !(shapes_.empty() && operations_.empty());
}

bool Selection::has_technique(std::string_view technique) const {
  return techniques_.empty() || techniques_.contains(technique);
}

bool Selection::has_format(FormatPair format) const {
  return formats_.empty() || std::ranges::find(formats_, format) != formats_.end();
}

std::optional<std::vector<Shape>> Selection::shapes(const Operation& operation,
                                                    FormatPair format) const {
  if (shapes_.empty()) return std::nullopt;
  std::vector<Shape> chosen;
  const auto found = shapes_.find(operation.name);
  if (found == shapes_.end()) return chosen;
  std::set<std::string> known;
  for (const NamedShape& named : found->second) {
    const bool wanted = !named.format || *named.format == format;
    if (wanted && known.insert(named.shape.text()).second) chosen.push_back(named.shape);
  }
  return chosen;
}

std::string no_case(const Filter& filter, const CaseNames& names) {
  const std::string by_filter =
      filter.shown().empty() ? "" : fmt::format("filter '{}'", filter.shown());
  const char* const by_names =
      names.empty() ? "" : "the operations, techniques, formats and shapes";
  return fmt::format("no case matches {}{}{}; `ridgebench list` shows all cases", by_filter,
                     !by_filter.empty() && !names.empty() ? " and " : "", by_names);
}

}  // namespace ridgebench
