#include "roofline/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "roofline/nullable.hpp"
#include "roofline/units.hpp"
#include "roofline/utilisation.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// The model's FLOP/s, or fewer where special functions or the launch take longer than the model.
std::optional<double> mfu_bound_of(const Work& work, const Roof& model, const LowerBounds& bounds,
                                   const std::optional<Rate>& promised) {
  if (!promised) return std::nullopt;
  const bool longer = bounds.lowest_s > bounds.roofline_s;
  const double reached =
      longer ? work.flops / bounds.lowest_s : attainable_flops_per_s(work, model);
  return reached / promised->per_s;
}

ordered_json notes_of(const LimitingRates& rates, const LowerBounds& bounds, const Roofs& roofs) {
  ordered_json notes = ordered_json::array();
  if (!rates.peak) {
    notes.push_back(missing_peak_note(roofs));
  }
  if (bounds.limit == Limit::launch && roofs.launch_floor_s()) {
    notes.push_back(
        fmt::format("launch: the lower bound is below ten launches, and one takes at least {} here",
                    with_unit(*roofs.launch_floor_s(), "s")));
  }
  if (bounds.limit == Limit::special) {
    notes.emplace_back("special functions take longer than arithmetic and traffic");
  }
  return notes;
}

}  // namespace

std::string missing_peak_note(const Roofs& roofs) {
  return fmt::format(
      "{} has no fp32 peak of its FMA units, which do this arithmetic: the bound counts memory "
      "alone",
      roofs.name());
}

ordered_json sizes_of(const Shape& shape) {
  ordered_json sizes = ordered_json::object();
  for (const auto& [dimension, size] : shape.dimensions()) sizes[dimension] = size;
  if (shape.has_layout()) sizes["layout"] = name(shape.layout());
  for (const auto& [attribute, value] : shape.attributes()) sizes[attribute] = value;
  return sizes;
}

std::optional<LowerBounds> lower_bounds(const Work& work, const LimitingRates& rates,
                                        double special_results, const Roofs& roofs) {
  const Roof model = rates.roof();
  Limits limits{.roof = model};
  limits.launch_floor_s = roofs.launch_floor_s();
  if (const auto rate = roofs.special_roof()) limits.special_s = special_results / rate->per_s;
  const bool bounded = rates.peak || work.bytes > 0 || work.flops == 0;
  const double roofline_s = bounded ? time_lower_bound_s(work, model) : 0;
  const double lowest_s =
      std::max({roofline_s, limits.special_s.value_or(0), limits.launch_floor_s.value_or(0)});
  if (!bounded && lowest_s == 0) return std::nullopt;
  const auto limit = row_bound({.work = work, .time_s = lowest_s}, limits);
  return LowerBounds{roofline_s, lowest_s, limit.value_or(bound(work, model))};
}

ordered_json predict(const Operation& operation, const Shape& shape, FormatPair format,
                     const Roofs& roofs) {
  const LimitingRates rates =
      limiting_rates(roofs, operation.engine, format, written_fraction(operation, shape, format));
  const Roof model = rates.roof();
  const Work work{operation.flops(shape), bytes(operation, shape, format)};
  const double special_results = operation.special ? operation.special(shape) : 0;
  const LowerBounds bounds = lower_bounds(work, rates, special_results, roofs).value();
  const auto with_peak = [&](auto value) {
    return rates.peak ? ordered_json(value) : ordered_json(nullptr);
  };
  return {
      {"op", operation.name},
      {"shape", sizes_of(shape)},
      {"format", format.name()},
      {"device", roofs.name()},
      {"flops", work.flops},
      {"bytes", work.bytes},
      {"intensity_flop_per_byte", nullable(work.intensity())},
      {"ridge_flop_per_byte", with_peak(model.ridge())},
      {"bound", name(bounds.limit)},
      {"peak_flops_per_s", with_peak(model.peak_flops_per_s)},
      {"bandwidth_bytes_per_s", model.bandwidth_bytes_per_s},
      {"attainable_flops_per_s", attainable_flops_per_s(work, model)},
      {"mfu_bound", nullable(mfu_bound_of(work, model, bounds, roofs.promised_peak(format)))},
      {"time_lower_bound_s", bounds.lowest_s},
      {"time_without_overlap_s", std::max(time_without_overlap_s(work, model), bounds.lowest_s)},
      {"peak_from", rates.peak ? ordered_json(rates.peak->origin) : ordered_json(nullptr)},
      {"bandwidth_from", rates.bandwidth.origin},
      {"launch_floor_s", nullable(roofs.launch_floor_s())},
      {"notes", notes_of(rates, bounds, roofs)}};
}

}  // namespace ridgebench
