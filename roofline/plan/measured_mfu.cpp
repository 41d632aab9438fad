#include "roofline/plan/measured_mfu.hpp"

#include <fmt/format.h>

#include <optional>

#include "kernels/common/error.hpp"

namespace ridgebench {

MeasuredMfu best_matmul_mfu(const Results& results, Format format) {
  std::optional<MeasuredMfu> best;
  bool measured = false;
  for (const ResultRow& row : results.rows) {
    const bool matmul = row.op == "matmul" && row.role == "kernel" && row.status == "ok" &&
                        row.regime == "steady" && row.format == info(format).name;
    measured = measured || matmul;
    if (matmul && row.mfu && (!best || *row.mfu > best->mfu)) best = {*row.mfu, row.id};
  }
  if (best) return *best;
  throw UsageError(
      fmt::format("{} has {}; give --mfu a number from 0 to 1", results.directory.string(),
                  measured ? "no MFU: its device has no data sheet (a host), only measured roofs"
                           : fmt::format("no steady {} matmul with status ok", info(format).name)));
}

}  // namespace ridgebench
