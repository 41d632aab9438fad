// Model FLOPs utilisation as it was measured, for plans that should not rest on a guess.
#pragma once

#include <string>

#include "kernels/common/format.hpp"
#include "roofline/results.hpp"

namespace ridgebench {

struct MeasuredMfu {
  double mfu;
  std::string id;  // of the row
};

// The best MFU of the verified steady matmul rows in a format. A training run stays below it: not
// all of its FLOPs are matmuls of the best size. Throws UsageError that says what is missing; rows
// measured on a host have no MFU, since no data sheet promises anything of it.
MeasuredMfu best_matmul_mfu(const Results& results, Format format);

}  // namespace ridgebench
