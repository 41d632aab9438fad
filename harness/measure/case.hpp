// The cases of a run are all techniques x formats x shapes x regimes of a device.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/regime.hpp"
#include "harness/device/device.hpp"
#include "harness/measure/problem.hpp"
#include "harness/measure/selection/selection.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

struct Case {
  const Operation* operation;
  Technique technique;
  // Null if the technique does not register the format. The run then skips the case.
  const Implementation* implementation;
  Device* device;
  FormatPair format;
  Shape shape = {};
  Regime regime = Regime::steady;
  bool control = false;  // a ceiling measured again at the end

  // `matmul/packed/bf16/m:1024/n:1024/k:1024/layout:nt/steady@cpu`
  [[nodiscard]] std::string id() const;
  [[nodiscard]] bool is_ceiling() const { return operation->ceiling.has_value(); }
  [[nodiscard]] Problem problem() const { return {*operation, shape, format}; }
  [[nodiscard]] Work work() const;
  [[nodiscard]] double written_share() const;
  // Returns the part of the record that is known before the measurement.
  [[nodiscard]] Record describe() const;
};

// Returns the selected cases of a device in a profile, after all of its ceilings. If `regimes` is
// empty, the profile chooses them: quick and lecture run steady, standard runs steady and, for
// cases that fit into the cache, cold, and full runs all.
std::vector<Case> enumerate_cases(const Registry& registry, Device& device, Profile profile,
                                  const std::vector<Regime>& regimes,
                                  const Selection& selection = {});

// Returns true if the technique times its variants and keeps the fastest: it has `_tuned` in its
// name.
bool tuned(const Case& c);

// Format in which the quick profile measures every technique of a product on every device.
inline constexpr Format kLadderFormat = Format::bf16;

// Returns true if the quick profile measures the case of a product or of a tensor engine only on
// request. If the power limit slows a case down, it takes seconds. On devices whose power settles
// slowly, the profile leaves out mixed formats and, in other formats than kLadderFormat, each
// technique whose operation has a tuned one of the same origin. It also leaves out ceilings that do
// not reach their engine's full rate.
bool left_out_of_quick(const Case& c, std::span<const Case> cases);

// Returns true if the case's operation is needed by a step only, and neither the names nor the
// filter of the user name it. No profile measures such a case.
bool left_out_unless_named(const Case& c, const Selection& selection, const Filter& filter);

// Returns true if the ceiling is a denominator of the kernel's case.
bool needs_ceiling(const Case& c, const Case& ceiling, std::span<const Case> ceilings);

// Returns why the technique cannot serve the case's format and shape on its device, or why a naive
// technique would take too long; empty if it can. The function allocates, tunes and launches
// nothing.
std::optional<std::string> unsupported_reason(const Case& c);

}  // namespace ridgebench
