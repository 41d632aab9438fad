#include "roofline/solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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

// The search meets every allowed size whose distance to the next smaller one, or to 0, is not more.
// matmul_grouped needs that much, where all groups but one are empty.
constexpr std::int64_t kWidestGap = 65536;
// Ranges of sizes that a search looks at before it gives up, after seconds.
constexpr int kMostRanges = 1 << 20;
// Intensities that differ by less, relatively, are equal.
constexpr double kRounding = 1e-12;

// The first number in [low, high) that `holds`, where all above it hold; `high` if none does.
std::int64_t first_that(std::int64_t low, std::int64_t high,
                        const std::function<bool(std::int64_t)>& holds) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

// The wanted sizes that `predict` accepts.
class AllowedSizes {
 public:
  // None is above `limit`. Throws UsageError if there is none.
  AllowedSizes(const Operation& operation, const OpenShape& open, std::int64_t limit)
      : operation_(operation),
        open_(open),
        end_(first_that(1, limit + 1, [&](std::int64_t size) { return too_large(size); })) {
    const auto first = from(1);
    if (!first) {
      throw UsageError(fmt::format("{} of shape {}: {}", operation.name, open.with(1).text(),
                                   refusal(1).value_or("the shape is too large")));
    }
    smallest_ = *first;
    gap_ = smallest_;
    for (const std::int64_t size : open.with(1).sizes()) gap_ = std::max(gap_, size);
    gap_ = std::min(gap_, kWidestGap);
    largest_ = first_that(smallest_, end_, [&](std::int64_t size) { return !from(size); }) - 1;
  }

  [[nodiscard]] std::int64_t smallest() const { return smallest_; }
  [[nodiscard]] std::int64_t largest() const { return largest_; }
  // The next one at or above `size`; empty if there is none.
  [[nodiscard]] std::optional<std::int64_t> from(std::int64_t size) const {
    for (const std::int64_t end = std::min(end_, size + gap_); size < end; ++size) {
      if (!refusal(size)) return size;
    }
    return std::nullopt;
  }
  // The next one at or below `size`; `otherwise` if there is none.
  [[nodiscard]] std::int64_t up_to(std::int64_t size, std::int64_t otherwise) const {
    for (const std::int64_t end = size - gap_; size > std::max(end, otherwise); --size) {
      if (!refusal(size)) return size;
    }
    return otherwise;
  }

 private:
  [[nodiscard]] bool too_large(std::int64_t size) const {
    double product = 1;
    const Shape shape = open_.with(size);
    for (const std::string& dimension : operation_.dimensions) {
      product *= static_cast<double>(shape[dimension]);
    }
    return product >= kLargestProduct;
  }
  [[nodiscard]] std::optional<std::string> refusal(std::int64_t size) const {
    if (!operation_.refuses) return std::nullopt;
    const Shape shape = open_.with(size);
    try {
      auto reason = operation_.refuses(shape);
      if (!reason) (void)operation_.flops(shape);  // an operation of a file may refuse these
      return reason;
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  const Operation& operation_;
  const OpenShape& open_;
  std::int64_t end_;
  std::int64_t gap_ = kWidestGap;
  std::int64_t smallest_ = 0;
  std::int64_t largest_ = 0;
};

// A size, and what the operation does there.
struct Point {
  std::int64_t size;
  Work work;
  double written;  // bytes
};

// The limits of all sizes in their order: the other limit, then perhaps both in turn, then that of
// the largest size.
struct Verdict {
  Limit at_largest;
  std::optional<std::int64_t> last_other;  // the largest size of the other limit
  std::int64_t settled;                    // the size from which on `at_largest` holds
  std::int64_t first_same;                 // the smallest size of `at_largest`

  [[nodiscard]] bool alternates() const { return first_same < settled; }
};

class Solver {
 public:
  Solver(const Operation& operation, const OpenShape& open, FormatPair format, const Roofs& roofs,
         const AllowedSizes& sizes)
      : operation_(operation), open_(open), format_(format), roofs_(roofs), sizes_(sizes) {
    const LimitingRates rates = limiting_rates(roofs, operation.engine, format, 0);
    if (rates.peak) peak_ = rates.peak->per_s;
  }
  [[nodiscard]] bool has_peak() const { return peak_.has_value(); }

  [[nodiscard]] Point point(std::int64_t size) const {
    const Shape shape = open_.with(size);
    const double all = bytes(operation_, shape, format_);
    return {
        size, {operation_.flops(shape), all}, all * written_fraction(operation_, shape, format_)};
  }
  [[nodiscard]] Roof roof(const Point& at) const {
    return {*peak_, bandwidth(at.written / at.work.bytes).per_s};
  }

  [[nodiscard]] Verdict verdict() const {
    const Point low = point(sizes_.smallest());
    const Point high = point(sizes_.largest());
    const Limit at_largest = bound(high.work, roof(high));
    const Limit other = at_largest == Limit::memory ? Limit::compute : Limit::memory;
    // Elementwise work has one intensity, which may be the ridge, from which no range is far.
    const double change = *high.work.intensity() / *low.work.intensity() - 1;
    if (std::abs(change) < kRounding && bound(low.work, roof(low)) == at_largest) {
      return {at_largest, {}, low.size, low.size};
    }
    const auto last_other = find({low, high}, other, true);
    if (!last_other) return {at_largest, {}, low.size, low.size};
    const std::int64_t settled = sizes_.from(*last_other + 1).value_or(high.size);
    const auto first_same = find({low, point(*last_other)}, at_largest, false);
    return {at_largest, last_other, settled, first_same.value_or(settled)};
  }

 private:
  struct Range {
    Point low, high;
  };

  [[nodiscard]] Rate bandwidth(double written_share) const {
    return roofs_.bandwidth(std::min(written_share, 1.0));
  }

  // The limit of all sizes of a range; empty if the ends do not decide it. FLOPs, bytes and written
  // bytes do not fall as a size grows, so that those of every size lie between the ends'.
  [[nodiscard]] std::optional<Limit> limit_of(const Range& range) const {
    const auto& [low, high] = range;
    if (high.work.flops < low.work.flops || high.work.bytes < low.work.bytes) {
      throw UsageError(fmt::format(
          "--solve {0}: FLOPs or bytes of {1} fall from {0}:{2} to {0}:{3}; allowed: a dimension "
          "with which both grow",
          open_.dimension, operation_.name, low.size, high.size));
    }
    const Rate least = bandwidth(low.written / high.work.bytes);
    const Rate most = bandwidth(high.written / low.work.bytes);
    if (least.written_fraction != most.written_fraction) return std::nullopt;
    const Roof roof{*peak_, least.per_s};
    if (bound({low.work.flops, high.work.bytes}, roof) == Limit::compute) return Limit::compute;
    if (bound({high.work.flops, low.work.bytes}, roof) == Limit::memory) return Limit::memory;
    return std::nullopt;
  }

  // The largest (`last`) or the smallest size of a range that has the limit; empty if none has it.
  [[nodiscard]] std::optional<std::int64_t> find(const Range& all, Limit limit, bool last) const {
    std::vector<Range> ranges{all};
    for (int tried = 0; !ranges.empty(); ++tried) {
      if (tried == kMostRanges) {
        throw UsageError(
            fmt::format("--solve {} cannot be decided: the intensity of {} stays too near to the "
                        "ridge; allowed: other sizes, formats or devices",
                        open_.dimension, operation_.name));
      }
      const auto [low, high] = ranges.back();
      ranges.pop_back();
      const std::optional<Limit> of_all = limit_of({low, high});
      if (of_all == limit) return last ? high.size : low.size;
      if (of_all) continue;
      const std::int64_t middle = sizes_.up_to(low.size + (high.size - low.size) / 2, low.size);
      const std::int64_t next = sizes_.from(middle + 1).value_or(high.size);
      Range sooner{next < high.size ? point(next) : high, high};
      Range later{low, middle > low.size ? point(middle) : low};
      if (!last) std::swap(sooner, later);
      ranges.push_back(later);
      ranges.push_back(sooner);
    }
    return std::nullopt;
  }

  const Operation& operation_;
  const OpenShape& open_;
  FormatPair format_;
  const Roofs& roofs_;
  const AllowedSizes& sizes_;
  std::optional<double> peak_;  // FLOP/s
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

// `verdict` is empty without a peak.
nlohmann::ordered_json notes_of(const OpenShape& open, const Roofs& roofs,
                                const std::optional<Verdict>& verdict, std::int64_t largest) {
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
  if (!verdict) {
    notes.push_back(missing_peak_note(roofs));
    return notes;
  }
  if (verdict->at_largest == Limit::memory) {
    notes.push_back(fmt::format(
        "memory decides at every size {} {}, the largest of a shape",
        verdict->last_other ? fmt::format("from {} to", verdict->settled) : "up to", largest));
  }
  const auto floor = roofs.launch_floor_s();
  if (floor && (verdict->at_largest == Limit::compute || verdict->last_other)) {
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
  Operation of_any_size = operation;  // what does not fit depends on the size that is wanted
  of_any_size.refuses = nullptr;
  OpenShape open{parse_shape(whole, of_any_size), dimension, square};
  // Roundings decide which groups of unequal shares have a token (token_groups.hpp).
  const auto& attributes = open.shape.attributes();
  const bool skewed = std::ranges::any_of(
      attributes, [](const auto& one) { return one.first == "skew" && one.second != 0; });
  if (skewed && (square || dimension == "m" || dimension == "g")) {
    throw UsageError(fmt::format(
        "--solve {} and skew exclude each other: the number of groups with a token rises and falls "
        "as {} grows",
        dimension, dimension));
  }
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
                                           FormatPair format, const Roofs& roofs,
                                           std::int64_t limit) {
  const AllowedSizes sizes(operation, open, limit);
  const Solver solver(operation, open, format, roofs, sizes);
  std::optional<Verdict> verdict;
  if (solver.has_peak()) verdict = solver.verdict();
  std::optional<std::int64_t> compute_from;
  std::optional<std::int64_t> memory_to;
  std::optional<std::int64_t> memory_from;
  std::optional<std::int64_t> compute_to;
  if (verdict && verdict->at_largest == Limit::compute) {
    compute_from = verdict->settled;
    memory_to = verdict->last_other;
  } else if (verdict) {
    memory_to = sizes.largest();
    compute_to = verdict->last_other;
    if (compute_to) memory_from = verdict->settled;
  }
  std::optional<std::int64_t> alternates_from;
  if (verdict && verdict->alternates()) alternates_from = verdict->first_same;
  const Point shown =
      solver.point(compute_from ? *compute_from : memory_from.value_or(sizes.largest()));
  return {{"op", operation.name},
          {"dimension", open.dimension},
          {"shape", given_sizes(open)},
          {"format", format.name()},
          {"device", roofs.name()},
          {"smallest_compute_bound", nullable(compute_from)},
          {"largest_memory_bound", nullable(memory_to)},
          {"smallest_memory_bound", nullable(memory_from)},
          {"largest_compute_bound", nullable(compute_to)},
          {"alternates_from", nullable(alternates_from)},
          {"intensity_flop_per_byte", nullable(verdict ? shown.work.intensity() : std::nullopt)},
          {"ridge_flop_per_byte",
           nullable(verdict ? std::optional(solver.roof(shown).ridge()) : std::nullopt)},
          {"notes", notes_of(open, roofs, verdict, sizes.largest())}};
}

}  // namespace ridgebench
