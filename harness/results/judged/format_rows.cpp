#include "harness/results/judged/format_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

namespace ridgebench {
namespace {

// Adds the points of a format. Returns the formats of their arithmetic.
std::set<std::string> add_points(FormatRows& selection, const std::vector<RaisedRow>& rows) {
  std::set<std::string> arithmetic;
  for (const auto& [r, raised, by] : rows) {
    const bool point =
        r.role == Role::kernel && r.status == Status::ok && r.regime == Regime::steady;
    if (!point || (selection.format && r.format.name() != *selection.format)) continue;
    selection.points.push_back(&r);
    arithmetic.insert(r.arithmetic.name());
    if (!r.roof) continue;
    for (const auto& ceiling : {r.roof->compute_ceiling, r.roof->memory_ceiling}) {
      if (ceiling) selection.used.insert(*ceiling);
    }
  }
  return arithmetic;
}

}  // namespace

FormatRows rows_of_format(const std::vector<RaisedRow>& rows,
                          const std::optional<std::string>& format) {
  FormatRows selection{.format = format};
  std::set<std::string> wanted = add_points(selection, rows);
  if (format) wanted.insert(*format);
  for (const RaisedRow& row : rows) {
    const Record& r = row.record;
    if (!is_roof(r)) continue;
    selection.all_ceilings.push_back(&row);
    const bool memory = r.saturates == Resource::memory || r.saturates == Resource::cache;
    if (!format || memory || wanted.contains(r.format.name()) || selection.used.contains(r.id)) {
      selection.ceilings.push_back(&row);
    }
  }
  return selection;
}

bool is_square(const Shape& shape) {
  const std::vector<std::int64_t> sizes = shape.sizes();
  return !sizes.empty() && std::ranges::count(sizes, sizes.front()) == std::ssize(sizes);
}

std::string traffic_name(double written_fraction) {
  constexpr std::array<std::pair<std::string_view, double>, 4> streams{
      {{"read", 0.0}, {"triad", 1.0 / 3}, {"copy", 0.5}, {"write", 1.0}}};
  const auto nearest = std::ranges::min_element(
      streams, {}, [&](const auto& stream) { return std::abs(stream.second - written_fraction); });
  return std::string(nearest->first);
}

std::optional<std::string> traffic_of(const FormatRows& selection,
                                      const std::optional<std::string>& id) {
  for (const RaisedRow* row : selection.all_ceilings) {
    if (row->record.id == id) return traffic_name(row->record.written_fraction);
  }
  return std::nullopt;
}

}  // namespace ridgebench
