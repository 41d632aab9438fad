// The rows that the roofs of one format concern.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/results/judged/raised.hpp"

namespace ridgebench {

// The rows of one format, or of all, and the ceilings that concern them.
struct FormatRows {
  std::optional<std::string> format = std::nullopt;
  std::vector<const Record*> points = {};           // verified kernels of the steady regime
  std::vector<const RaisedRow*> ceilings = {};      // that judge kernels
  std::vector<const RaisedRow*> all_ceilings = {};  // of the device
  std::set<std::string> used = {};                  // ids of the ceilings that judge the points
};

// `rows` are those of one device, and must outlive the result.
FormatRows rows_of_format(const std::vector<RaisedRow>& rows,
                          const std::optional<std::string>& format);

// True if all sizes are one: `predict OP n:4096` names such a shape.
bool is_square(const Shape& shape);

// "read", "triad", "copy" or "write": the stream whose share of written bytes is nearest.
std::string traffic_name(double written_fraction);

// The mix of a memory's ceiling that judges kernels; empty for another.
std::optional<std::string> traffic_of(const FormatRows& selection,
                                      const std::optional<std::string>& id);

}  // namespace ridgebench
