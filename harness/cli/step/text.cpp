#include "harness/cli/step/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/text_table.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/step/measure_step.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

std::string seconds(std::optional<double> value) { return value ? with_unit(*value, "s") : "-"; }

// The 95 % interval of a median.
std::string interval(std::optional<double> low_s, std::optional<double> high_s) {
  return low_s && high_s ? fmt::format("{} to {}", with_unit(*low_s, "s"), with_unit(*high_s, "s"))
                         : "-";
}

std::string share(std::optional<double> part, std::optional<double> whole) {
  return part && whole && *whole > 0 ? fmt::format("{:.1f} %", 100 * *part / *whole) : "-";
}

std::string free_text(const StepRecord& r, double free_bytes) {
  return fmt::format("; {} are free{}", with_unit(free_bytes, "B"),
                     step_fits(r, free_bytes) ? "" : ": too little");
}

// By how much more memory the process or the GPU had in use after the first step.
std::string growth_text(const StepRecord& r) {
  if (!r.memory_growth_bytes) return "";
  return fmt::format("; the {} grew by {}", r.backend == Backend::cuda ? "GPU's use" : "process",
                     with_unit(static_cast<double>(*r.memory_growth_bytes), "B"));
}

std::string memory_text(const StepRecord& r, std::optional<double> free_bytes) {
  const auto bytes = [](auto value) { return with_unit(static_cast<double>(value), "B"); };
  return fmt::format(
      "memory   peak {} ({} predicted), in an allocation of {}{}{}\n"
      "FLOPs    {} of the model ({}), {} executed\n",
      bytes(r.peak_bytes), bytes(r.peak_predicted_bytes), bytes(r.arena_bytes), growth_text(r),
      free_bytes ? free_text(r, *free_bytes) : "", with_unit(r.flops_model, "FLOP"),
      r.step == StepKind::train ? "6 x parameters x rows" : "2 x parameters x rows, and attention",
      with_unit(r.flops_executed, "FLOP"));
}

std::string parts_text(const StepRecord& r) {
  std::vector<Texts> table{{"part", "phase", "technique", "launches", "time", "95 % interval",
                            "of the step", "measured roof", "of the roof", "remark"}};
  for (const StepPart& part : r.parts) {
    // Micro-batches of other sizes make parts of the same name.
    const bool unique = std::ranges::count_if(r.parts, [&](const StepPart& other) {
                          return other.name == part.name && other.phase == part.phase;
                        }) == 1;
    table.push_back({unique ? part.name : fmt::format("{} {}", part.name, part.shape.text()),
                     part.phase, part.technique, fmt::format("{}", part.launches),
                     seconds(part.time_s), interval(part.ci_low_s, part.ci_high_s),
                     share(part.time_s, r.time_s), seconds(part.roof_s),
                     share(part.roof_s, part.time_s), part.served_by_cache ? kServedByCache : ""});
  }
  return padded_table(table);
}

std::string times_text(const StepRecord& r) {
  const double chain_s = r.time_s.value_or(0);
  std::vector<std::pair<const char*, std::optional<double>>> bars{
      {"data sheet", r.sheet_s},
      {"measured roofs", r.sum_of_roofs_s},
      {"sum of the parts", r.sum_of_operations_s},
      {"step", r.time_s},
      {"step, launch by launch", chain_s + r.launch_gap_s.value_or(0)}};
  std::vector<Texts> table{{"time of a step", "", "of the step"}};
  for (const auto& [name, value] : bars) {
    table.push_back({name, seconds(value), share(value, r.time_s)});
  }
  table.push_back(
      {"unexplained by the parts", seconds(r.unexplained_s), share(r.unexplained_s, r.time_s)});
  std::string text = padded_table(table);
  text += fmt::format("95 % interval of the step: {}, a median of {} samples\n",
                      interval(r.ci_low_s, r.ci_high_s), r.samples_s.size());
  if (std::ranges::find(r.flags, kAboveRoof) != r.flags.end()) {
    text += fmt::format(
        "{}: the products are faster than their measured roofs: caches served them, or another "
        "process slowed a ceiling\n",
        kAboveRoof);
  }
  return text;
}

// The rates of a decode step, and what follows from them for the whole model.
std::string rates_text(const StepRecord& r) {
  if (!r.tokens_per_s) return "";
  const std::int64_t all = r.model_layers.value_or(r.layers);
  std::string text = fmt::format(
      "attention: {} of the sum of the parts\n"
      "{} of {} layers: {:.4g} tokens/s\n",
      share(r.attention_share, 1), r.layers, all, *r.tokens_per_s);
  if (!r.model_time_s) {
    return text + fmt::format(
                      "all {} layers: not scaled, because caches can keep the weights, keys and "
                      "values of {} from step to step; allowed: more --layers\n",
                      all, r.layers);
  }
  text += fmt::format(
      "all {} layers{}: {} and {:.4g} tokens/s; embedding, last norm and lm_head are left out\n",
      all, r.layers < all ? fmt::format(", scaled by {}/{} and not measured", all, r.layers) : "",
      with_unit(*r.model_time_s, "s"), *r.model_tokens_per_s);
  return text;
}

}  // namespace

std::string step_text(const StepRecord& r, std::optional<double> free_bytes) {
  std::string text = fmt::format("{}\n{}", printable(r.id), memory_text(r, free_bytes));
  if (r.reason) text += fmt::format("{}: {}\n", name(r.status), printable(*r.reason));
  if (!r.time_s) return text;
  text += fmt::format("\n{}\n{}", parts_text(r), times_text(r));
  if (r.mfu) {
    text += fmt::format("MFU {:.1f} % ({}), HFU {:.1f} % (executed)\n", 100 * *r.mfu,
                        r.step == StepKind::train ? "6BP" : "of the model", 100 * *r.hfu);
  }
  text += rates_text(r);
  if (r.verify) {
    text += fmt::format("verified: {} outputs, largest error {:.3g} of the tolerance\n",
                        r.verify->tensors, r.verify->error);
  }
  return text;
}

}  // namespace ridgebench
