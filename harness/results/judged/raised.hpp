// Judges the rows of one device by the roofs that its verified rows raised: a roof is the best that
// anything verified reached (docs/method/roofs.md).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench {

// A ceiling that judges kernels: verified, no burst, at the full rate, and not of a cache that
// stands in for the memory.
bool is_roof(const Record& record);

// Completes records of older versions: the flag of rows that caches may serve, where they have that
// of a short rotation only, and the roof of tf32x3, three products of tf32. Where ceilings of the
// memory have a short rotation too, the device limits all of them, and a row is like its ceiling.
void complete_older(std::span<Record> rows);

// A row by the raised roofs.
struct RaisedRow {
  Record record;
  double raised = 1;  // of a ceiling: the factor by which a row, or a second look at it, raises it
  std::optional<std::string> raised_by = std::nullopt;
};
std::vector<RaisedRow> raised_rows(std::vector<Record> rows);

// The least time (s) by the roof of a row. Empty for arithmetic that no ceiling measured: traffic
// alone would give too low a bound.
std::optional<double> least_time_s(const Record& record);

}  // namespace ridgebench
