#include "harness/step/measure_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/failure.hpp"
#include "harness/measure/judging/least_time.hpp"
#include "harness/measure/measurer.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/measure/verifying/output_check.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/step/reference_step.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr double kCeiling_s = 0.5;  // of samples of a ceiling

// The most memory that the process had in use so far, or that the GPU has in use, in bytes.
std::optional<double> memory_in_use(const Device& device) {
  if (device.backend() == Backend::cuda) return -device.free_bytes();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  }
  return std::nullopt;
}

// A launch of a chain as a case, which the rules of rows judge.
Case case_of(const Chain& chain, std::size_t launch, Device& device) {
  const Implementation& implementation = chain.implementation(launch);
  const Problem& problem = chain.problem(launch);
  return {.operation = problem.operation,
          .technique = implementation.technique,
          .implementation = &implementation,
          .device = &device,
          .format = problem.format,
          .shape = problem.shape};
}

// A part of a step before it is measured: the numbers of its launches, which do the same.
using Parts = std::vector<std::vector<std::size_t>>;

Parts parts_of(const Chain& chain) {
  Parts parts;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < chain.launches().size(); ++i) {
    const StepLaunch& launch = chain.program().launches()[i];
    const auto [at, is_new] =
        known.try_emplace({launch.name, launch.phase, launch.shape.text()}, parts.size());
    if (is_new) parts.emplace_back();
    parts[at->second].push_back(i);
  }
  return parts;
}

class StepMeasurer {
 public:
  StepMeasurer(const StepRequest& request, const PlannedStep& planned, Device& device,
               const std::function<bool()>& stop)
      : request_(request), planned_(planned), device_(device), stop_(stop) {}

  void measure(StepRecord& record) {
    const std::optional<double> before = memory_in_use(device_);
    Chain chain(device_, planned_.program, planned_.placement, request_.techniques, request_.seed);
    for (std::size_t i = 0; i < chain.launches().size(); ++i) {
      const StepLaunch& launch = chain.program().launches()[i];
      record.techniques[fmt::format("{}/{}", launch.operation, launch.shape.text())] =
          chain.implementation(i).technique.name;
    }
    static_cast<void>(device_.time_once(chain.launches()));
    if (const auto after = memory_in_use(device_); before && after) {
      record.memory_growth_bytes = static_cast<std::int64_t>(*after - *before);
    }
    const ChainCheck found = chain.check(draw_check_seed());
    record.verify = StepCheck{found.tensors, found.elements, found.error, std::nullopt};
    if (!found.passed()) return fail(record, Status::wrong, found.wrong);
    const std::vector<std::uint64_t> bits = results_of(chain);
    if (const auto wrong = end_to_end(record, chain)) return fail(record, Status::wrong, *wrong);
    const Roofs roofs = measured_roofs(record, chain);
    sample_step(record, chain);
    sample_parts(record, chain, roofs);
    if (const auto wrong = repeated(record, chain, bits)) {
      record.time_s.reset();
      return fail(record, Status::wrong, *wrong);
    }
    record.status = Status::ok;
    judge_time(record);
  }

 private:
  [[nodiscard]] std::vector<std::uint64_t> results_of(const Chain& chain) const {
    std::vector<std::uint64_t> sums;
    for (const std::string& kind : kinds_of_results(request_.plan)) {
      sums.push_back(chain.checksum(kind));
    }
    return sums;
  }

  // Compares the loss and the gradients of training with a step in fp64.
  std::optional<std::string> end_to_end(StepRecord& record, Chain& chain) {
    const auto* const step = std::get_if<TrainingStep>(&request_.plan.step);
    if (step == nullptr) return std::nullopt;
    const auto found = compare_end_to_end(chain, *step, device_);
    if (!found) return std::nullopt;
    record.verify->loss_error = found->loss_error;
    record.verify->gradients_error = found->gradients_error;
    if (found->passed()) return std::nullopt;
    return fmt::format(
        "the loss differs from a step in fp64 by {:.3g} of {:.3g} allowed, the "
        "gradients by {:.3g} of {:.3g}",
        found->loss_error, found->loss_tolerance, found->gradients_error,
        found->gradients_tolerance);
  }

  // Runs the chain as it was timed, and compares its results with those of the checked launches.
  std::optional<std::string> repeated(StepRecord& record, Chain& chain,
                                      const std::vector<std::uint64_t>& bits) {
    for (std::size_t i = 0; i < chain.launches().size(); ++i) {
      if (chain.implementation(i).technique.order_dependent) return std::nullopt;
    }
    chain.fill();
    static_cast<void>(device_.time_once(chain.launches()));
    record.verify->repeated = results_of(chain) == bits;
    if (*record.verify->repeated) return std::nullopt;
    return "launched back to back, the step leaves other bits than launch by launch";
  }

  // Takes the ceilings that judge the launches from the earlier run, and measures the others.
  Roofs measured_roofs(StepRecord& record, const Chain& chain) {
    const std::vector<Case> cases =
        enumerate_cases(Registry::instance(), device_, Profile::quick, {Regime::steady});
    std::vector<Case> ceilings;
    std::ranges::copy_if(cases, std::back_inserter(ceilings), [&](const Case& c) {
      return c.is_ceiling() && !unsupported_reason(c) && !left_out_of_quick(c, cases);
    });
    std::vector<Case> judged;
    std::set<std::string> known;
    for (std::size_t i = 0; i < chain.launches().size(); ++i) {
      Case c = case_of(chain, i, device_);
      if (known.insert(c.id()).second) judged.push_back(std::move(c));
    }
    Roofs roofs(device_.name());
    Measurer measurer(device_, Fill::normal, request_.seed);
    for (const Case& ceiling : ceilings) {
      const bool needed = std::ranges::any_of(
          judged, [&](const Case& c) { return needs_ceiling(c, ceiling, ceilings); });
      if (!needed) continue;
      const auto earlier = std::ranges::find(request_.ceilings, ceiling.id(), &Record::id);
      const auto rate = ceiling_rate(earlier != request_.ceilings.end()
                                         ? *earlier
                                         : measurer.measure(ceiling, kCeiling_s, stop_));
      if (rate) {
        roofs.add(*rate);
        record.ceilings.push_back(
            {rate->origin, rate->resource, rate->format, rate->written_fraction, rate->per_s});
      }
    }
    return roofs;
  }

  // Seconds of a whole rotation over the launches.
  Samples samples_of(std::span<const Launch> launches, double seconds) {
    const SamplingLimits limits{.seconds = seconds, .stop = stop_};
    Samples samples = take_samples(device_, launches, Regime::steady, limits);
    for (double& sample : samples.seconds) sample *= static_cast<double>(launches.size());
    return samples;
  }

  // Summarizes samples whose rotations have so many launches: the median and its interval.
  [[nodiscard]] Summary summary_of(const Samples& samples, std::size_t launches) const {
    const double rotations =
        static_cast<double>(samples.launches_per_sample) / static_cast<double>(launches);
    return summarize(samples.seconds, device_.tick_s() / std::max(rotations, 1.0));
  }

  void sample_step(StepRecord& record, const Chain& chain) {
    const Samples samples = samples_of(chain.launches(), request_.seconds);
    record.samples_s = samples.seconds;
    record.flags = samples.flags;
    const Summary time = summary_of(samples, chain.launches().size());
    record.time_s = time.median;
    record.ci_low_s = time.ci_low;
    record.ci_high_s = time.ci_high;
    record.launch_gap_s = device_.launch_floor_s() * static_cast<double>(chain.launches().size());
  }

  void sample_parts(StepRecord& record, const Chain& chain, const Roofs& roofs) {
    const DeviceSpec* const sheet = find_data_sheet(device_.data_sheet());
    const Parts parts = parts_of(chain);
    for (const std::vector<std::size_t>& numbers : parts) {
      StepPart part = described(chain, numbers);
      std::vector<Launch> launches;
      for (const std::size_t i : numbers) launches.push_back(chain.launches()[i]);
      const double seconds = request_.seconds / static_cast<double>(parts.size());
      const Summary time = summary_of(samples_of(launches, seconds), launches.size());
      part.time_s = time.median;
      part.ci_low_s = time.ci_low;
      part.ci_high_s = time.ci_high;
      part.roof_s = sum_of_least(chain, numbers, roofs);
      if (sheet != nullptr) part.sheet_s = sum_of_least(chain, numbers, Roofs(*sheet));
      record.parts.push_back(std::move(part));
    }
    const auto sum = [&](auto member) {
      std::optional<double> total = 0;
      for (const StepPart& part : record.parts) {
        const std::optional<double> value = part.*member;
        total = total && value ? std::optional(*total + *value) : std::nullopt;
      }
      return total;
    };
    double operations_s = 0;
    for (const StepPart& part : record.parts) operations_s += part.time_s;
    record.sum_of_operations_s = operations_s;
    record.sum_of_roofs_s = sum(&StepPart::roof_s);
    record.sheet_s = sum(&StepPart::sheet_s);
  }

  StepPart described(const Chain& chain, const std::vector<std::size_t>& numbers) const {
    const StepLaunch& first = chain.program().launches()[numbers.front()];
    StepPart part{.name = first.name,
                  .phase = first.phase,
                  .operation = first.operation,
                  .shape = first.shape,
                  .technique = chain.implementation(numbers.front()).technique.name,
                  .launches = std::ssize(numbers),
                  .served_by_cache = chain.touched_bytes(numbers) < evicting_bytes(device_)};
    for (const std::size_t i : numbers) {
      part.flops += chain.problem(i).work.flops;
      part.bytes += chain.problem(i).work.bytes;
    }
    return part;
  }

  std::optional<double> sum_of_least(const Chain& chain, const std::vector<std::size_t>& numbers,
                                     const Roofs& roofs) {
    double sum = 0;
    for (const std::size_t i : numbers) {
      const auto seconds = least_s(chain.implementation(i), chain.problem(i), roofs);
      if (!seconds) return std::nullopt;
      sum += *seconds;
    }
    return sum;
  }

  // Returns true if the caches may keep the weights, keys and values of a part of a model from one
  // step to the next. They cannot keep those of the whole model.
  [[nodiscard]] bool can_stay_in_cache(const StepRecord& record) const {
    if (record.step != StepKind::decode || record.model_layers == record.layers) return false;
    const nlohmann::ordered_json& live = record.timeline.front().live;
    return live.at("parameters").get<std::int64_t>() + live.at("cache").get<std::int64_t>() <
           evicting_bytes(device_);
  }

  void judge_time(StepRecord& record) const {
    record.unexplained_s = *record.time_s - *record.sum_of_operations_s;
    if (above_roofs(record)) record.flags.emplace_back(kAboveRoof);
    if (can_stay_in_cache(record)) record.flags.emplace_back(kServedByCache);
    derive_rates(record);
    const DeviceSpec* const sheet = find_data_sheet(device_.data_sheet());
    if (sheet == nullptr) return;
    const auto peak = Roofs(*sheet).best_engine_roof(record.format);
    if (!peak) return;
    record.mfu = record.flops_model / (*record.time_s * peak->per_s);
    record.hfu = record.flops_executed / (*record.time_s * peak->per_s);
  }

  const StepRequest& request_;
  const PlannedStep& planned_;
  Device& device_;
  const std::function<bool()>& stop_;
};

// Names the options that make the memory of a step smaller.
const char* smaller(StepKind kind) {
  return kind == StepKind::train
             ? "smaller --layers, --width or --batch, more --micro-batches, another --checkpoint"
             : "smaller --layers, --batch or --context";
}

// Adds what is allowed to the reason of a step that has too little memory.
void allow_smaller(StepRecord& record) {
  if (std::ranges::find(record.flags, kOutOfMemoryFlag) == record.flags.end()) return;
  *record.reason += fmt::format("; allowed: {}", smaller(record.step));
}

}  // namespace

PlannedStep plan_step(const StepRequest& request, const Device& device) {
  PlannedStep planned{.program = program_of(request.plan)};
  planned.placement = place(planned.program);
  StepRecord& record = planned.record;
  describe(request.plan, record);
  record.id += fmt::format("@{}", device.name());
  record.device = device.name();
  record.backend = device.backend();
  record.seed = request.seed;
  record.peak_bytes = planned.placement.peak_bytes;
  record.arena_bytes = planned.placement.extent_bytes;
  const std::vector<StepLaunch>& launches = planned.program.launches();
  const std::vector<std::int64_t> predicted = predicted_live_bytes(request.plan);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    StepMoment moment{.launch = static_cast<std::int64_t>(i),
                      .phase = launches[i].phase,
                      .predicted_bytes = predicted.at(i)};
    for (const auto& [kind, bytes] : planned.placement.at_launches[i]) moment.live[kind] = bytes;
    record.timeline.push_back(std::move(moment));
  }
  return planned;
}

StepRecord measure_step(const StepRequest& request, const PlannedStep& planned, Device& device,
                        const std::function<bool()>& stop) {
  StepRecord record = planned.record;
  measure_or_fail(record, "step",
                  [&] { StepMeasurer(request, planned, device, stop).measure(record); });
  allow_smaller(record);
  return record;
}

bool step_fits(const StepRecord& record, double free_bytes) {
  return static_cast<double>(record.arena_bytes) <= free_bytes;
}

StepRecord unmeasured_step(const PlannedStep& planned, double free_bytes) {
  StepRecord record = planned.record;
  if (step_fits(record, free_bytes)) return record;
  measure_or_fail(record, "step",
                  [&] { throw OutOfMemory(static_cast<double>(record.arena_bytes), free_bytes); });
  allow_smaller(record);
  return record;
}

}  // namespace ridgebench
