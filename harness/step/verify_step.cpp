#include "harness/step/verify_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/base/statistics.hpp"
#include "harness/measure/problem.hpp"
#include "harness/results/results_directory.hpp"
#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"
#include "harness/results/worn.hpp"
#include "harness/step/any_step.hpp"
#include "harness/step/chain.hpp"
#include "harness/step/step_record.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

// FLOPs and bytes of each part, from the shapes of its launches.
void check_parts(const StepRecord& r, const StepProgram& program, Checker& check) {
  for (const StepPart& part : r.parts) {
    std::int64_t launches = 0;
    Work work{};
    for (const StepLaunch& launch : program.launches()) {
      if (launch.name != part.name || launch.phase != part.phase) continue;
      check.require(launch.operation == part.operation && launch.shape.text() == part.shape.text(),
                    fmt::format("{} of the step is {} of {}", part.name, launch.operation,
                                launch.shape.text()));
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

void check_sizes(const StepRecord& r, Checker& check) {
  const StepPlan plan = stated_plan(r);
  check_plan(plan);
  const StepProgram program = program_of(plan);
  const Placement placement = place(program);
  check_parts(r, program, check);
  StepRecord computed;
  describe(plan, computed);
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
  check.require(live == nlohmann::ordered_json(placement.at_launches),
                "the timeline has other live bytes than the step");
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

void check_times(const StepRecord& r, Checker& check) {
  const bool ok = r.status == Status::ok;
  check.require(ok == r.time_s.has_value(), "only an ok step has a time");
  check.require(ok != r.reason.has_value(), "a step that is not ok needs a reason");
  if (!ok) return;
  check.require(r.verify.has_value() && r.verify->error <= 1 && r.verify->tensors > 0,
                "an ok step needs a verification that it passed");
  check.require(!r.samples_s.empty() && !r.parts.empty(), "an ok step needs samples and parts");
  if (r.samples_s.empty() || r.parts.empty()) return;
  check.equal("time_s", *r.time_s, summarize(r.samples_s, 0).median);
  double sum_s = 0;
  for (const StepPart& part : r.parts) sum_s += part.time_s;
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
  check_rates(r, check);
  check.require((std::ranges::find(r.flags, kAboveRoof) != r.flags.end()) == above_roofs(r),
                fmt::format("the flag {} belongs to a step whose products are faster than their "
                            "measured roofs",
                            kAboveRoof));
  if (r.mfu && r.hfu) check.equal("hfu", *r.hfu, *r.mfu * r.flops_executed / r.flops_model);
}

}  // namespace

std::vector<std::string> verify_step(const std::filesystem::path& directory) {
  const std::string facts = (directory / "environment.json").string();
  std::vector<std::string> problems;
  const nlohmann::json environment = parse_json(read_file(facts), facts);
  check_provenance(environment, problems);
  const std::vector<StepRecord> steps = read_steps(directory);
  for (const StepRecord& record : steps) {
    Checker check(record.id, problems);
    check_sizes(record, check);
    check_times(record, check);
  }
  if (steps.empty()) problems.push_back(fmt::format("{} holds no step", kStepFile));
  std::ranges::move(worn_problems(nlohmann::ordered_json(environment)),
                    std::back_inserter(problems));
  std::ranges::move(checksum_problems(directory), std::back_inserter(problems));
  return problems;
}

}  // namespace ridgebench
