#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "harness/results/doubts.hpp"
#include "harness/results/explained/causes.hpp"
#include "harness/results/measured_roofs.hpp"
#include "roofline/json_pointer.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// A technique that is faster by less than this is as fast.
constexpr double kFasterBy = 0.01;

// The flags that are causes by themselves.
struct FlagCause {
  std::string_view flag;
  CauseOf of;
  std::string_view evidence;
  std::string_view remedy;
};
constexpr std::array kFlagCauses{
    FlagCause{"inherited_cap", CauseOf::measurement,
              "the clock was still recovering from the power limit that the row before had met",
              "measure the row by itself: --filter"},
    FlagCause{"short_rotation", CauseOf::measurement,
              "the buffer sets move too few bytes to empty the caches",
              "a larger shape, or more free memory"},
    FlagCause{"few_samples", CauseOf::measurement, "the row has fewer than 30 samples",
              "a larger --budget, or fewer rows"},
    FlagCause{"drift", CauseOf::measurement, "the samples have a trend above 1 %",
              "measure again; doctor names what changes on the machine"},
    FlagCause{"bimodal", CauseOf::measurement,
              "the samples lie on two levels, and the median hides one",
              "measure again with more samples, and look at samples_s of the record"},
    FlagCause{"claim_unchecked", CauseOf::measurement,
              "the isolated kernel claims more than twice what the measuring process saw",
              "measure on a machine without other load"},
    FlagCause{"zero_inputs", CauseOf::measurement,
              "the inputs are zeros: the device draws less power and may hold a higher clock",
              "--fill normal"},
    FlagCause{"few_probes", CauseOf::measurement,
              "the reference is too expensive for all probes: a kernel that keeps answers may pass",
              "a smaller shape"},
    FlagCause{
        "fixed_answer", CauseOf::measurement,
        "new inputs moved hardly any element of an output: a kernel that keeps answers passes",
        "inputs on which every output depends, or another size"},
    FlagCause{"fixed_inputs", CauseOf::measurement,
              "inputs besides the operands never changed: a kernel may keep what it makes of them",
              "operands of the harness in their place, or random inputs in the workload"},
    FlagCause{"below_one_wave", CauseOf::kernel,
              "the largest kernel has fewer thread blocks than nine tenths of the multiprocessors",
              "a larger shape, smaller tiles, or a technique that splits k"},
    FlagCause{"storage_format", CauseOf::kernel,
              "the kernel multiplies in another format than the inputs have, and converts them",
              "a technique whose arithmetic has the format of the inputs"},
    FlagCause{"no_flops", CauseOf::measurement,
              "the operation states no FLOPs: only the roof of the memory judges the row",
              "FLOPs in the operation, or the key flops in the definition of a problem"},
};

void add_flags(const RowFacts& facts, CauseOf of, std::vector<Cause>& to) {
  for (const FlagCause& cause : kFlagCauses) {
    if (cause.of != of || !facts.record->flagged(cause.flag)) continue;
    to.push_back({.code = std::string(cause.flag),
                  .of = of,
                  .evidence = std::string(cause.evidence),
                  .remedy = std::string(cause.remedy)});
  }
}

void add_library(const RowFacts& facts, std::vector<Cause>& to) {
  if (!facts.record->held_back_by) return;
  to.push_back(
      {.code = "library_held_back",
       .of = CauseOf::measurement,
       .evidence = fmt::format("{} keeps the library from its best", *facts.record->held_back_by),
       .remedy = "unset the variable"});
}

void add_doubts(const RowFacts& facts, std::vector<Cause>& to) {
  if (facts.doubted.empty()) return;
  const bool several = facts.doubted.size() > 1;
  to.push_back(
      {.code = "control_moved",
       .of = CauseOf::measurement,
       .evidence = fmt::format("the {} {} moved by more than {:.0f} % during the run, and "
                               "the share of the roof with {}",
                               several ? "ceilings" : "ceiling", fmt::join(facts.doubted, " and "),
                               100 * kControlMoved, several ? "them" : "it"),
       .remedy = "measure again when the machine is idle"});
}

void add_cache(const RowFacts& facts, std::vector<Cause>& to) {
  if (!facts.served_by_cache) return;
  to.push_back({.code = std::string(kServedByCache),
                .of = CauseOf::measurement,
                .evidence = "caches may have served the data, so that the memory does not limit "
                            "the row",
                .remedy = "a larger shape, or --regime steady"});
}

void add_early(const RowFacts& facts, std::vector<Cause>& to) {
  if (facts.record->early != true) return;
  to.push_back({.code = "early",
                .of = CauseOf::measurement,
                .evidence = "a launch may start before the launch ahead of it has ended, so that "
                            "the row hides launch times that others show",
                .remedy = "compare with --no-early, or in the regime cold"});
}

void add_launch(const RowFacts& facts, std::vector<Cause>& to) {
  const Record& r = *facts.record;
  if (facts.limit != Limit::launch || !r.time) return;
  const auto floor_s = number_at(facts.device->json, "/launch_floor_s");
  to.push_back({.code = "launch",
                .of = CauseOf::kernel,
                .evidence = fmt::format(
                    "a launch takes {}{}", with_unit(r.time->median, "s"),
                    floor_s ? fmt::format(", and an empty one {}", with_unit(*floor_s, "s")) : ""),
                .remedy = "a larger shape, a fused operation, or several launches in one graph"});
}

void add_special(const RowFacts& facts, std::vector<Cause>& to) {
  const auto& roof = facts.record->roof;
  if (facts.limit != Limit::special || !roof || !roof->special_s()) return;
  to.push_back({.code = "special",
                .of = CauseOf::kernel,
                .evidence = fmt::format("special functions or conversions take {} at least",
                                        with_unit(*roof->special_s(), "s")),
                .remedy = "an approximation with fewer of them, or a format of two to a register"});
}

// Says that two rows are of different power states, and so of different clocks; empty if not.
std::string states_text(const Record& one, const Record& other) {
  if (!one.power_state || !other.power_state || one.power_state == other.power_state) return "";
  return fmt::format("; the power states differ, {} there and {} here", name(*other.power_state),
                     name(*one.power_state));
}

void add_technique(const RowFacts& facts, std::vector<Cause>& to) {
  const Record& r = *facts.record;
  if (facts.fastest == nullptr || !r.time || !facts.fastest->time) return;
  const double factor = r.time->median / facts.fastest->time->median;
  if (factor < 1 + kFasterBy) return;
  to.push_back({.code = "technique",
                .of = CauseOf::kernel,
                .factor = factor,
                .evidence = fmt::format("{} computes the same in {}{}", facts.fastest->technique,
                                        with_unit(facts.fastest->time->median, "s"),
                                        states_text(r, *facts.fastest)),
                .remedy = fmt::format("--technique {}", facts.fastest->technique)});
}

// The order of importance within a list.
auto importance(const Cause& cause) {
  return std::tuple(cause.of, !cause.factor, -cause.factor.value_or(0));
}

}  // namespace

std::vector<Cause> measurement_causes(const RowFacts& facts) {
  std::vector<Cause> causes;
  add_cache(facts, causes);
  add_library(facts, causes);
  add_doubts(facts, causes);
  add_flags(facts, CauseOf::measurement, causes);
  add_early(facts, causes);
  return causes;
}

std::vector<Cause> kernel_causes(const RowFacts& facts) {
  std::vector<Cause> causes;
  add_launch(facts, causes);
  add_special(facts, causes);
  add_flags(facts, CauseOf::kernel, causes);
  add_technique(facts, causes);
  return causes;
}

std::vector<Cause> causes_of(const RowFacts& facts) {
  std::vector<Cause> all = machine_causes(facts);
  for (Cause& cause : measurement_causes(facts)) all.push_back(std::move(cause));
  for (Cause& cause : kernel_causes(facts)) all.push_back(std::move(cause));
  std::ranges::stable_sort(all, {}, importance);
  return all;
}

}  // namespace ridgebench
