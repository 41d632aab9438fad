// The cases of a run: every technique x format x shape x regime that a device offers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/regime.hpp"
#include "harness/device/device.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

struct Case {
  const Operation* operation;
  Technique technique;
  // Null where the technique does not register the format: the case is listed and skipped.
  const Implementation* implementation;
  Device* device;
  FormatPair format;
  Shape shape = {};
  Regime regime = Regime::steady;
  bool control = false;  // a ceiling measured again at the end

  // `matmul/packed/bf16/m:1024/n:1024/k:1024/layout:nt/steady@cpu`
  [[nodiscard]] std::string id() const;
  [[nodiscard]] bool is_ceiling() const { return operation->ceiling.has_value(); }
  [[nodiscard]] std::vector<Operand> operands() const;
  [[nodiscard]] Work work() const;
  [[nodiscard]] double written_share() const;
  // The part of the record that is known before the case is measured.
  [[nodiscard]] Record describe() const;
};

// All cases of a device in a profile, ceilings first. Without given regimes, quick and standard run
// steady, standard adds cold for what fits into the cache, and full runs all.
std::vector<Case> enumerate_cases(const Registry& registry, Device& device, Profile profile,
                                  const std::vector<Regime>& regimes);

// Whether a kernel's case is judged by this ceiling.
bool needs_ceiling(const Case& c, const Case& ceiling, std::span<const Case> ceilings);

// Why the technique cannot serve the case's format and shape on its device; empty where it can.
// Allocates, tunes and launches nothing.
std::optional<std::string> unsupported_reason(const Case& c);

}  // namespace ridgebench
