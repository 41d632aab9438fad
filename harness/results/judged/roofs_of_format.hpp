// The roofs of a device's rows as figures draw them.
#pragma once

#include <vector>

#include "harness/results/judged/judged.hpp"
#include "harness/results/judged/raised.hpp"

namespace ridgebench {

// The roofs of all formats together, then those of each format that a row or a ceiling has. `rows`
// are those of one device.
std::vector<RoofsOfFormat> roofs_by_format(const std::vector<RaisedRow>& rows);

}  // namespace ridgebench
