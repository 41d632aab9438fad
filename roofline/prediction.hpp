// Prediction of the roofline model for an operation.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/common/operation.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// The times that no launch of some work undercuts, and what decides.
struct LowerBounds {
  double roofline_s;  // the longer of arithmetic and traffic
  double lowest_s;    // with special functions and with the launch
  Limit limit;
};
// Empty if nothing bounds the work: it has FLOPs and no bytes, the peak is unknown, and neither
// special functions nor a launch have a known time.
std::optional<LowerBounds> lower_bounds(const Work& work, const LimitingRates& rates,
                                        double special_results, const Roofs& roofs);

// Says which peak is missing if the arithmetic of an operation has none.
std::string missing_peak_note(const Roofs& roofs);

// Returns the dimensions of a shape, its layout and its attributes as keys.
nlohmann::ordered_json sizes_of(const Shape& shape);

// Returns the keys of `predict --json` (docs/commands.md) in SI base units. What is unknown is
// null, and `notes` says why. Throws UsageError if the device lacks a rate that decides.
nlohmann::ordered_json predict(const Operation& operation, const Shape& shape, FormatPair format,
                               const Roofs& roofs);

}  // namespace ridgebench
