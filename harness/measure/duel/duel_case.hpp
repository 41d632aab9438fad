// The two sides of a duel before it is measured.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "harness/measure/case.hpp"
#include "harness/results/duel_record.hpp"

namespace ridgebench {

// Returns the seconds after which a duel, or one of its processes, counts as hung. `seconds` is its
// planned time.
constexpr double duel_hangs_after_s(double seconds) { return std::max(10 * seconds, 60.0); }

// Two cases that differ in the technique at most.
struct DuelCase {
  Case first;
  Case second;
  double seconds;     // for the warm-up and the blocks of all processes
  int processes = 1;  // 1: this one
  // Own the implementations of `first` and `second` if the user made the choice of the technique;
  // else null.
  std::array<std::shared_ptr<const Implementation>, 2> forced = {};

  // The launches of a cold duel are single ones, between which no power settles.
  [[nodiscard]] bool cold() const { return first.regime == Regime::cold; }
  // `matmul/packed:openblas/fp32/m:1024/n:1024/k:1024/layout:nt/steady@cpu`
  [[nodiscard]] std::string id() const;
  // The part of the record that is known before the measurement.
  [[nodiscard]] DuelRecord describe() const;
  // Why one of the techniques cannot serve the case; empty if both can. Launches nothing.
  [[nodiscard]] std::optional<std::string> unsupported() const;
};

}  // namespace ridgebench
