// What the roofline model says of an operation before it runs.
#pragma once

#include <nlohmann/json.hpp>

#include "kernels/common/operation.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// Returns the keys of `predict --json` (docs/method.md) in SI base units. What is unknown is null,
// and `notes` says why. Throws UsageError if the device lacks a rate that decides.
nlohmann::ordered_json predict(const Operation& operation, const Shape& shape, FormatPair format,
                               const Roofs& roofs);

}  // namespace ridgebench
