#include "harness/step/verify_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/base/statistics.hpp"
#include "harness/measure/judging/least_time.hpp"
#include "harness/measure/problem.hpp"
#include "harness/results/results_directory.hpp"
#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"
#include "harness/results/verify/row_keys.hpp"
#include "harness/results/worn.hpp"
#include "harness/step/any_step.hpp"
#include "harness/step/chain.hpp"
#include "harness/step/reference_step.hpp"
#include "harness/step/step_record.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/json_object.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {
namespace {

bool is_of(const StepLaunch& launch, const StepPart& part) {
  return launch.name == part.name && launch.phase == part.phase &&
         launch.operation == part.operation && launch.shape.text() == part.shape.text();
}

// FLOPs and bytes of each part, from the shapes of its launches.
void check_parts(const StepRecord& r, const StepProgram& program, Checker& check) {
  if (!r.parts.empty()) {
    const auto of_parts = [&](const StepLaunch& launch) {
      return std::ranges::any_of(r.parts,
                                 [&](const StepPart& part) { return is_of(launch, part); });
    };
    check.equal("launches in parts",
                static_cast<double>(std::ranges::count_if(program.launches(), of_parts)),
                static_cast<double>(program.launches().size()));
  }
  for (const StepPart& part : r.parts) {
    std::int64_t launches = 0;
    Work work{};
    for (const StepLaunch& launch : program.launches()) {
      if (!is_of(launch, part)) continue;
      const Operation& operation = Registry::instance().operation(launch.operation);
      const Problem problem(operation, launch.shape, launch.format);
      ++launches;
      work.flops += problem.work.flops;
      work.bytes += problem.work.bytes;
    }
    const auto key = [&](const char* name) { return fmt::format("{} of {}", name, part.name); };
    check.equal(key("launches"), static_cast<double>(part.launches), static_cast<double>(launches));
    check.equal(key("flops"), part.flops, work.flops);
    check.equal(key("bytes"), part.bytes, work.bytes);
  }
}

// The predicted bytes of each launch. Older records have none.
void check_prediction(const StepRecord& r, const std::vector<std::int64_t>& predicted,
                      Checker& check) {
  for (std::size_t i = 0; i < r.timeline.size(); ++i) {
    const std::int64_t stored = r.timeline[i].predicted_bytes.value_or(predicted.at(i));
    check.require(
        stored == predicted.at(i),
        fmt::format("predicted_bytes of launch {} is {}, computed {}", i, stored, predicted.at(i)));
  }
}

void check_sizes(const StepRecord& r, Checker& check) {
  const StepPlan plan = stated_plan(r);
  check_plan(plan);
  const StepProgram program = program_of(plan);
  const Placement placement = place(program);
  check_parts(r, program, check);
  StepRecord computed;
  describe(plan, computed);
  const std::string id = fmt::format("{}@{}", computed.id, r.device);
  check.require(r.id == id, fmt::format("its keys make the id {}", id));
  check.equal("flops_model", r.flops_model, computed.flops_model);
  check.equal("flops_executed", r.flops_executed, computed.flops_executed);
  const auto bytes = [&](const char* key, std::int64_t stored, std::int64_t counted) {
    check.equal(key, static_cast<double>(stored), static_cast<double>(counted));
  };
  bytes("peak_bytes", r.peak_bytes, placement.peak_bytes);
  bytes("peak_predicted_bytes", r.peak_predicted_bytes, computed.peak_predicted_bytes);
  bytes("arena_bytes", r.arena_bytes, placement.extent_bytes);
  nlohmann::ordered_json live = nlohmann::ordered_json::array();
  for (const StepMoment& moment : r.timeline) live.push_back(moment.live);
  const bool same = live == nlohmann::ordered_json(placement.at_launches);
  check.require(same, "the timeline has other live bytes than the step");
  if (same) check_prediction(r, predicted_live_bytes(plan), check);
}

// The implementation of a part's launches; null if this program lacks it.
const Implementation* implementation_of(const StepLaunch& launch, const StepPart& part,
                                        Backend backend) {
  for (const auto& one : Registry::instance().implementations()) {
    if (one->operation->name == launch.operation && one->technique.name == part.technique &&
        one->backend == backend && one->format == launch.format) {
      return one.get();
    }
  }
  return nullptr;
}

// Compares the least times of a part with what the stated ceilings and the data sheet give.
void check_least_times(const StepRecord& r, const StatedDevice& device, Checker& check) {
  Roofs measured;
  for (const StepCeiling& c : r.ceilings) {
    measured.add({c.resource, c.format, c.written_fraction, c.per_s, c.id});
  }
  const StepProgram program = program_of(stated_plan(r));
  for (const StepPart& part : r.parts) {
    for (const StepLaunch& launch : program.launches()) {
      if (!is_of(launch, part)) continue;
      const Implementation* const own = implementation_of(launch, part, r.backend);
      if (own == nullptr) break;
      const Problem problem(*own->operation, launch.shape, launch.format);
      const auto compare = [&](const char* name, const std::optional<double>& stored,
                               const Roofs& roofs) {
        const std::string key = fmt::format("{} of {}", name, part.name);
        const std::optional<double> least = least_s(*own, problem, roofs);
        check.require(stored.has_value() == least.has_value(),
                      fmt::format("{} is {}", key, stored ? "set without a roof" : "missing"));
        if (stored && least) check.equal(key, *stored, static_cast<double>(part.launches) * *least);
      };
      compare("roof_s", part.roof_s, measured);
      if (device.sheet != nullptr) compare("sheet_s", part.sheet_s, Roofs(*device.sheet));
      break;  // all launches of a part do the same
    }
  }
}

void check_rates(const StepRecord& r, Checker& check) {
  StepRecord computed = r;
  for (const auto rate : {&StepRecord::attention_share, &StepRecord::tokens_per_s,
                          &StepRecord::model_time_s, &StepRecord::model_tokens_per_s}) {
    (computed.*rate).reset();
  }
  derive_rates(computed);
  const auto equal = [&](const char* key, std::optional<double> StepRecord::* rate) {
    const bool there = (r.*rate).has_value() == (computed.*rate).has_value();
    check.require(there, fmt::format("{} belongs to an ok step of decoding only, and a time of the "
                                     "model to one that caches cannot serve",
                                     key));
    if (there && r.*rate) check.equal(key, *(r.*rate), *(computed.*rate));
  };
  equal("attention_share", &StepRecord::attention_share);
  equal("tokens_per_s", &StepRecord::tokens_per_s);
  equal("model_time_s", &StepRecord::model_time_s);
  equal("model_tokens_per_s", &StepRecord::model_tokens_per_s);
}

// The interval of the samples is widened by half a tick of the steps that a sample spans, which the
// record does not say: by up to half a tick of one step.
void check_interval(const StepRecord& r, double tick_s, Checker& check) {
  const Summary narrow = summarize(r.samples_s, 0);
  const Summary wide = summarize(r.samples_s, tick_s);
  const double low_s = r.ci_low_s.value_or(0);
  const double high_s = r.ci_high_s.value_or(0);
  check.equal("ci_low_s", low_s, std::clamp(low_s, wide.ci_low, narrow.ci_low));
  check.equal("ci_high_s", high_s, std::clamp(high_s, narrow.ci_high, wide.ci_high));
}

// The shares of the peak that a data sheet promises; null without one.
void check_utilisation(const StepRecord& r, const StatedDevice& device, Checker& check) {
  if (!device.sheet_is_known) return;
  const auto peak =
      device.sheet == nullptr ? std::nullopt : Roofs(*device.sheet).best_engine_roof(r.format);
  const auto share = [&](const char* key, const std::optional<double>& stored, double flops) {
    check.require(stored.has_value() == peak.has_value(),
                  fmt::format("{} is known if a data sheet promises a peak", key));
    if (stored && peak) check.equal(key, *stored, flops / (*r.time_s * peak->per_s));
  };
  share("mfu", r.mfu, r.flops_model);
  share("hfu", r.hfu, r.flops_executed);
}

// An ok step leaves the same bits again, and a training step agrees with a step in fp64.
void check_results(const StepRecord& r, Checker& check) {
  check.require(r.verify.has_value() && r.verify->error <= 1 && r.verify->tensors > 0,
                "an ok step needs a verification that it passed");
  if (!r.verify) return;
  check.require(r.verify->repeated.value_or(true), "an ok step leaves the same bits again");
  const StepPlan plan = stated_plan(r);
  const auto* const step = std::get_if<TrainingStep>(&plan.step);
  if (step == nullptr) return;
  EndToEnd found = end_to_end_tolerances(*step);
  found.loss_error = r.verify->loss_error.value_or(0);
  found.gradients_error = r.verify->gradients_error.value_or(0);
  check.require(found.passed(), "loss and gradients differ from a step in fp64");
}

void check_times(const StepRecord& r, const StatedDevice& device, Checker& check) {
  const bool ok = r.status == Status::ok;
  check.require(ok == r.time_s.has_value(), "only an ok step has a time");
  check.require(ok != r.reason.has_value(), "a step that is not ok needs a reason");
  if (!ok) return;
  check_results(r, check);
  check.require(!r.samples_s.empty() && !r.parts.empty(), "an ok step needs samples and parts");
  if (r.samples_s.empty() || r.parts.empty()) return;
  check.equal("time_s", *r.time_s, summarize(r.samples_s, 0).median);
  check_interval(r, device.tick_s, check);
  double sum_s = 0;
  for (const StepPart& part : r.parts) {
    sum_s += part.time_s;
    check.require(part.ci_low_s.value_or(part.time_s) <= part.time_s &&
                      part.time_s <= part.ci_high_s.value_or(part.time_s),
                  fmt::format("time_s of {} lies outside of its interval", part.name));
  }
  check.equal("sum_of_operations_s", r.sum_of_operations_s.value_or(0), sum_s);
  const auto check_sum = [&](const char* key, const std::optional<double>& stored, auto member) {
    double sum = 0;
    bool known = true;
    for (const StepPart& part : r.parts) {
      known = known && (part.*member).has_value();
      sum += (part.*member).value_or(0);
    }
    check.require(stored.has_value() == known,
                  fmt::format("{} is known if that of every part is", key));
    if (stored && known) check.equal(key, *stored, sum);
  };
  check_sum("sum_of_roofs_s", r.sum_of_roofs_s, &StepPart::roof_s);
  check_sum("sheet_s", r.sheet_s, &StepPart::sheet_s);
  check.equal("unexplained_s", r.unexplained_s.value_or(0), *r.time_s - sum_s);
  if (device.launch_floor_s) {
    double launches = 0;
    for (const StepPart& part : r.parts) launches += static_cast<double>(part.launches);
    check.equal("launch_gap_s", r.launch_gap_s.value_or(0), launches * *device.launch_floor_s);
  }
  check_least_times(r, device, check);
  check_rates(r, check);
  check.require((std::ranges::find(r.flags, kAboveRoof) != r.flags.end()) == above_roofs(r),
                fmt::format("the flag {} belongs to a step whose products are faster than their "
                            "measured roofs",
                            kAboveRoof));
  check_utilisation(r, device, check);
}

}  // namespace

std::vector<std::string> verify_step(const std::filesystem::path& directory) {
  const std::string facts = (directory / "environment.json").string();
  std::vector<std::string> problems;
  const nlohmann::json environment = parse_json(read_file(facts), facts);
  check_provenance(environment, problems);
  const std::vector<StepRecord> steps = read_steps(directory);
  const StatedRun run = stated_run(JsonObject(environment, facts));
  for (const StepRecord& record : steps) {
    Checker check(record.id, problems);
    check_sizes(record, check);
    check.require(record.seed == run.seed, "seed is not that of environment.json");
    const auto device = run.devices.find(record.device);
    check.require(device != run.devices.end(), "environment.json does not list its device");
    if (device != run.devices.end()) check_times(record, device->second, check);
  }
  if (steps.empty()) problems.push_back(fmt::format("{} holds no step", kStepFile));
  check_end(directory, environment, kStepFile, problems);
  std::ranges::move(worn_problems(nlohmann::ordered_json(environment)),
                    std::back_inserter(problems));
  std::ranges::move(checksum_problems(directory), std::back_inserter(problems));
  return problems;
}

}  // namespace ridgebench
