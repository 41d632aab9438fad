#include "roofline/solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/model.hpp"
#include "roofline/nullable.hpp"
#include "roofline/prediction.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// Returns the smallest number in [low, high] that `serves`, where all above it serve and `high`
// does.
std::int64_t smallest(std::int64_t low, std::int64_t high,
                      const std::function<bool(std::int64_t)>& serves) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (serves(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

// The largest size that a shape can have.
std::int64_t largest_size(const OpenShape& open) {
  const auto too_large = [&](std::int64_t size) {
    double product = 1;
    for (const std::int64_t one : open.with(size).sizes()) product *= static_cast<double>(one);
    return product >= kLargestProduct;
  };
  return smallest(1, kLargestSize + 1,
                  [&](std::int64_t size) { return size > kLargestSize || too_large(size); }) -
         1;
}

class Solver {
 public:
  Solver(const Operation& operation, const OpenShape& open, FormatPair format, const Roofs& roofs)
      : operation_(operation), open_(open), format_(format), roofs_(roofs) {}

  [[nodiscard]] Work work(std::int64_t size) const {
    const Shape shape = open_.with(size);
    return {operation_.flops(shape), bytes(operation_, shape, format_)};
  }
  [[nodiscard]] LimitingRates rates(std::int64_t size) const {
    return limiting_rates(roofs_, operation_.engine, format_,
                          written_fraction(operation_, open_.with(size), format_));
  }

  // The smallest size from which on the operation is compute-bound. Intensity and the written share
  // of the traffic are monotone in the size. The bandwidth depends on that share, so that it is
  // constant on intervals of sizes, and on each of them one side of the ridge follows the other.
  [[nodiscard]] std::optional<std::int64_t> from(std::int64_t largest) const {
    std::optional<std::int64_t> found;
    for (std::int64_t high = largest; high >= 1 && compute_bound(high);) {
      const double bandwidth = rates(high).bandwidth.per_s;
      const std::int64_t low = smallest(
          1, high, [&](std::int64_t size) { return rates(size).bandwidth.per_s == bandwidth; });
      if (!compute_bound(low)) {
        return smallest(low, high, [&](std::int64_t size) { return compute_bound(size); });
      }
      found = low;
      high = low - 1;
    }
    return found;
  }

 private:
  [[nodiscard]] bool compute_bound(std::int64_t size) const {
    const LimitingRates limits = rates(size);
    return limits.peak && bound(work(size), limits.roof()) == Limit::compute;
  }

  const Operation& operation_;
  const OpenShape& open_;
  FormatPair format_;
  const Roofs& roofs_;
};

// The sizes that the question gives.
nlohmann::ordered_json given_sizes(const OpenShape& open) {
  nlohmann::ordered_json sizes = sizes_of(open.shape);
  for (const auto& [dimension, size] : open.shape.dimensions()) {
    const bool optional = std::ranges::find(open.optional, dimension) != open.optional.end();
    if ((open.square && !optional) || dimension == open.dimension) sizes.erase(dimension);
  }
  return sizes;
}

// `largest` is empty unless memory decides at every size up to it.
nlohmann::ordered_json notes_of(const OpenShape& open, const Roofs& roofs, bool decided,
                                std::optional<std::int64_t> largest) {
  nlohmann::ordered_json notes = nlohmann::ordered_json::array();
  if (open.unused) {
    notes.push_back(fmt::format("the size {}:{} does not count: --solve looks for {}",
                                open.dimension, *open.unused, open.dimension));
  }
  if (open.square && open.shape.dimensions().size() > 1) {
    notes.push_back(open.optional.empty() ? "all sizes are equal"
                                          : fmt::format("all sizes are equal, except {}",
                                                        fmt::join(open.optional, ", ")));
  }
  if (!decided) {
    notes.push_back(missing_peak_note(roofs));
  } else if (largest) {
    notes.push_back(
        fmt::format("memory decides at every size up to {}, the largest of a shape", *largest));
  } else if (const auto floor = roofs.launch_floor_s()) {
    notes.push_back(
        fmt::format("a launch takes at least {} here, and it decides below ten times "
                    "that; this answer does not count it",
                    with_unit(*floor, "s")));
  }
  return notes;
}

// The dimensions that a text of a shape gives sizes for; "" is a number without a name.
std::vector<std::string> sized_labels(std::string_view text, const Operation& operation) {
  std::vector<std::string> labels;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('/'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t colon = part.find(':');
    std::string label(colon == std::string_view::npos ? "" : part.substr(0, colon));
    const bool attribute =
        std::ranges::find(operation.attributes, label, &Shape::Attribute::first) !=
        operation.attributes.end();
    const bool optional =
        std::ranges::find(operation.optional_dimensions, label, &OptionalDimension::name) !=
        operation.optional_dimensions.end();
    if (!attribute && !optional && label != "layout") labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

Shape OpenShape::with(std::int64_t size) const {
  std::vector<Shape::Dimension> sizes = shape.dimensions();
  for (auto& [label, value] : sizes) {
    const bool all = square && std::ranges::find(optional, label) == optional.end();
    if (all || label == dimension) value = size;
  }
  const std::optional<Layout> layout =
      shape.has_layout() ? std::optional(shape.layout()) : std::nullopt;
  return Shape(std::move(sizes), layout, shape.attributes());
}

OpenShape parse_open_shape(const std::string& text, const std::string& dimension,
                           const Operation& operation) {
  if (std::ranges::find(operation.dimensions, dimension) == operation.dimensions.end()) {
    throw UsageError(fmt::format("--solve is '{}'; allowed: a dimension of {}: {}", dimension,
                                 operation.name, fmt::join(operation.dimensions, ", ")));
  }
  const std::vector<std::string> labels = sized_labels(text, operation);
  const bool one_for_all = labels.size() == 1 && (labels.front().empty() || labels.front() == "n");
  const bool square = labels.empty() || (one_for_all && dimension == "n");
  std::string whole = text;
  if (labels.empty()) {
    whole = text.empty() ? "1" : "1/" + text;
  } else if (!one_for_all && std::ranges::find(labels, dimension) == labels.end()) {
    whole += fmt::format("/{}:1", dimension);
  }
  OpenShape open{parse_shape(whole, operation), dimension, square};
  for (const auto& [name, usual] : operation.optional_dimensions) {
    if (open.shape.size_or(name, 0) == 0) continue;
    open.optional.push_back(name);
    // A leading dimension bounds a line, whose length may be the size that is wanted.
    if (usual(open.with(1)) != usual(open.with(2))) {
      throw UsageError(
          fmt::format("--solve {} and {} exclude each other: the size that is wanted "
                      "bounds {}",
                      dimension, name, name));
    }
  }
  const bool given = std::ranges::find(labels, dimension) != labels.end();
  if (given || (square && !labels.empty())) open.unused = open.shape[dimension];
  return open;
}

nlohmann::ordered_json solve_compute_bound(const Operation& operation, const OpenShape& open,
                                           FormatPair format, const Roofs& roofs) {
  const Solver solver(operation, open, format, roofs);
  const std::int64_t largest = largest_size(open);
  const std::optional<std::int64_t> from = solver.from(largest);
  const std::int64_t shown = from.value_or(largest);
  const LimitingRates rates = solver.rates(shown);
  const bool decided = rates.peak.has_value();
  std::optional<std::int64_t> below;
  if (decided && from != 1) below = from ? *from - 1 : largest;
  return {{"op", operation.name},
          {"dimension", open.dimension},
          {"shape", given_sizes(open)},
          {"format", format.name()},
          {"device", roofs.name()},
          {"smallest_compute_bound", nullable(from)},
          {"largest_memory_bound", nullable(below)},
          {"intensity_flop_per_byte",
           nullable(decided ? solver.work(shown).intensity() : std::nullopt)},
          {"ridge_flop_per_byte", decided ? nlohmann::ordered_json(rates.roof().ridge())
                                          : nlohmann::ordered_json(nullptr)},
          {"notes", notes_of(open, roofs, decided, from ? std::nullopt : std::optional(largest))}};
}

}  // namespace ridgebench
