// The two sides of a duel before it is measured.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/case.hpp"
#include "harness/results/duel_record.hpp"

namespace ridgebench {

// A duel or one of its processes hangs if it takes kDuelHangFactor times its seconds and more than
// kShortestDuelHang_s.
inline constexpr double kDuelHangFactor = 10;
inline constexpr double kShortestDuelHang_s = 60;

// Two cases that differ in the technique at most.
struct DuelCase {
  Case first;
  Case second;
  double seconds;     // for the warm-up and the blocks of all processes
  int processes = 1;  // 1: this one

  // `matmul/packed:openblas/fp32/m:1024/n:1024/k:1024/layout:nt/steady@cpu`
  [[nodiscard]] std::string id() const;
  // The part of the record that is known before the measurement.
  [[nodiscard]] DuelRecord describe() const;
  // Why one of the techniques cannot serve the case; empty if both can. Launches nothing.
  [[nodiscard]] std::optional<std::string> unsupported() const;
};

}  // namespace ridgebench
