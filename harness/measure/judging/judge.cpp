#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "harness/measure/judging/least_time.hpp"
#include "harness/measure/measurer.hpp"
#include "harness/results/judged/raised.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/suspect.hpp"
#include "kernels/common/cuda/tensor_instruction.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/utilisation.hpp"

namespace ridgebench {
namespace {

Limit limit_of(Resource resource) {
  switch (resource) {
    case Resource::memory:
    case Resource::cache:
    case Resource::latency:
    case Resource::link:
      return Limit::memory;
    case Resource::launch:
      return Limit::launch;
    case Resource::sfu:
    case Resource::narrow:
    case Resource::widen:
      return Limit::special;
    default:
      return Limit::compute;
  }
}

// The rate that a ceiling declares as the limit of its resource, at the clock held.
struct Declared {
  std::optional<double> bytes_per_s;
  std::optional<double> flops_per_s;
};

Declared declared_by(const Case& c, std::optional<double> clock_hz) {
  if (!c.is_ceiling() || c.operation->ceiling->most_per_clock == nullptr || !clock_hz) return {};
  const Machine& machine = c.device->machine();
  const Ceiling& ceiling = *c.operation->ceiling;
  const double rate = ceiling.most_per_clock(machine, c.format) * machine.units * *clock_hz;
  if (rate == 0) return {};
  const bool bytes = ceiling.resource == Resource::memory || ceiling.resource == Resource::cache;
  return bytes ? Declared{rate, std::nullopt} : Declared{std::nullopt, rate};
}

// Keeps the work that takes longer: `results` at a ceiling's rate, or what the roof has.
void add_special(RecordedRoof& roof, double results, const std::optional<Rate>& rate) {
  if (!rate || results == 0 || results / rate->per_s <= roof.special_s().value_or(0)) return;
  roof.special_results = results;
  roof.special_results_per_s = rate->per_s;
  roof.special_ceiling = rate->origin;
}

// A technique that calculates in another format than it stores widens every input once and narrows
// every output, at least.
void add_conversions(RecordedRoof& roof, const Case& c, const Problem& problem,
                     const Roofs& roofs) {
  const FormatPair arithmetic = c.implementation->arithmetic();
  if (arithmetic == c.format) return;
  std::map<std::pair<Resource, Format>, double> numbers;
  for (const Operand& operand : problem.operands) {
    if (operand.format == arithmetic.a) continue;
    const bool read = operand.access == Access::read;
    const auto kind = std::pair(read ? Resource::widen : Resource::narrow, operand.format);
    const std::int64_t count = operand.used_elements() * info(operand.format).numbers();
    numbers[kind] += static_cast<double>(count);
  }
  for (const auto& [kind, count] : numbers) {
    add_special(roof, count, roofs.conversion_roof(kind.first, kind.second));
  }
}

// Returns the roof of a technique's engine in its arithmetic; of a mixed pair, the lower one.
std::optional<Rate> technique_roof(const Case& c, const Roofs& roofs) {
  const FormatPair arithmetic = c.implementation->arithmetic();
  const Engine engine = c.technique.engine == Engine::tensor ? Engine::tensor : Engine::fma;
  const auto a = roofs.engine_roof(engine, arithmetic.a);
  const auto b = roofs.engine_roof(engine, arithmetic.b);
  if (!a || !b) return std::nullopt;
  return b->per_s < a->per_s ? b : a;
}

// Returns the measured roofs of a case. A product is judged by the engine of its technique, every
// other operation by the engine that may do its arithmetic, as `predict` does (roofs.hpp).
RecordedRoof roof_of(const Case& c, const Problem& problem, const Roofs& roofs) {
  RecordedRoof roof;
  const bool product = c.operation->engine == Engine::tensor;
  const auto arithmetic =
      product ? technique_roof(c, roofs) : roofs.arithmetic_roof(c.operation->engine, c.format);
  if (arithmetic) {
    roof.flops_per_s = arithmetic->per_s;
    roof.compute_ceiling = arithmetic->origin;
  }
  if (const auto rate = roofs.memory_roof(c.written_share())) {
    roof.bytes_per_s = rate->per_s;
    roof.memory_ceiling = rate->origin;
  }
  if (c.operation->special) add_special(roof, c.operation->special(c.shape), roofs.special_roof());
  add_conversions(roof, c, problem, roofs);
  return roof;
}

// A warm case runs back to back on one buffer set, so the caches serve it if it fits.
bool warm_in_cache(const Case& c) {
  const auto cache = static_cast<double>(c.device->machine().last_level_cache_bytes());
  return c.regime == Regime::warm && c.work().bytes < cache;
}

constexpr double kNoLimit = std::numeric_limits<double>::max();

Physics physics_of(const Case& c, const Declared& declared, const Record& record) {
  const std::optional<double> clock_hz = record.clock_hz;
  const DeviceSpec* sheet = find_data_sheet(c.device->data_sheet());
  Physics physics{.bandwidth_bytes_per_s = declared.bytes_per_s,
                  .issue_flops_per_s = peak_at_clock_flops_per_s(sheet, c.format.a, clock_hz)};
  // A device may do less per clock than others of its compute capability, as its data sheet states.
  if (declared.flops_per_s) {
    physics.issue_flops_per_s =
        std::min(*declared.flops_per_s, physics.issue_flops_per_s.value_or(kNoLimit));
  }
  if (sheet != nullptr && sheet->memory.pins && !record.flagged(kServedByCache) &&
      !c.operation->traffic) {
    physics.bandwidth_bytes_per_s = sheet->memory.pins->bandwidth_bytes_per_s();
  }
  return physics;
}

// True if a launch reads more than its operands. The harness has no buffer for that, and no probe
// varies it.
bool reads_more(const Case& c) {
  Operation without = *c.operation;
  without.traffic = nullptr;
  return bytes(*c.operation, c.shape, c.format) > bytes(without, c.shape, c.format);
}

// Records the limit of a kernel and the share of that limit that the kernel reaches.
void compare_with_roofs(Record& record, const Case& c, const Problem& problem, const Timed& timed,
                        const Roofs& roofs) {
  record.roof = roof_of(c, problem, roofs);
  if (c.operation->engine == Engine::tensor && c.technique.engine == Engine::tensor &&
      !record.roof->flops_per_s) {
    record.roof_unknown = no_tensor_roof(c.device->machine());
  }
  Limits limits = record.limits();
  limits.launch_floor_s = std::max(c.device->launch_floor_s(), c.implementation->launch_floor_s);
  record.fraction_of_measured_roof = fraction_of_measured_roof(timed, limits);
  record.bound = row_bound(timed, limits);
  if (above_roof(record)) record.flags.emplace_back(kAboveRoof);
  if (!record.fraction_of_measured_roof) record.flags.emplace_back(kUnbounded);
  // FLOPs that nobody stated are no FLOPs. The suite's operations without any are copies.
  if (c.implementation->of_user() && timed.work.flops == 0) record.flags.emplace_back("no_flops");
  if (c.implementation->of_user() && reads_more(c)) record.flags.emplace_back("fixed_inputs");
}

}  // namespace

std::optional<double> least_s(const Implementation& implementation, const Problem& problem,
                              const Roofs& roofs) {
  const Case c{.operation = problem.operation,
               .technique = implementation.technique,
               .implementation = &implementation,
               .device = nullptr,  // roofs need none
               .format = problem.format,
               .shape = problem.shape};
  Record record;
  record.engine = c.technique.engine;
  record.flops = problem.work.flops;
  record.bytes = problem.work.bytes;
  record.roof = roof_of(c, problem, roofs);
  return least_time_s(record);
}

void judge(Record& record, const Case& c, const Problem& problem, const Roofs& roofs) {
  const Timed timed{problem.work, record.time->median};
  if (warm_in_cache(c)) record.flags.emplace_back(kServedByCache);
  if (c.technique.arithmetic && c.format != FormatPair(*c.technique.arithmetic)) {
    record.flags.emplace_back("storage_format");
  }
  const Declared declared = declared_by(c, record.clock_hz);
  const Physics physics = physics_of(c, declared, record);
  if (const auto impossible = miscounted(timed, physics)) {
    record.status = Status::invalid;
    record.reason = *impossible;
    withhold_time(record);
    return;
  }
  record.mfu = mfu(timed, find_data_sheet(c.device->data_sheet()), c.format.a);
  record.fraction_of_roof_at_clock = fraction_of_roof_at_clock(timed, physics.issue_flops_per_s);
  if (declared.bytes_per_s) {
    record.fraction_of_roof_at_clock = timed.work.bytes / timed.time_s / *declared.bytes_per_s;
  }
  if (c.is_ceiling()) {
    record.bound = limit_of(c.operation->ceiling->resource);
    const auto full_rate = c.technique.full_rate;
    const bool partial = full_rate != nullptr && !full_rate(c.device->machine());
    if (partial || c.operation->ceiling->sweep) {
      record.flags.emplace_back(kPartialRate);
    }
  } else {
    compare_with_roofs(record, c, problem, timed, roofs);
  }
}

void Measurer::doubt_time(Record& record, std::optional<double> seen_s) {
  record.seen_s = seen_s;
  const double median_s = record.time->median;
  const Probed probed = record.verify->probes.value_or(Probed{});
  if (const auto doubt = doubted_claim(median_s, seen_s)) {
    suspect(record, *doubt);
  } else if (const auto slower =
                 slower_on_new_inputs(probed, median_s, slower_factor(record.bytes, record.sets))) {
    suspect(record,
            fmt::format("launches on new inputs take {:.3g} x as long as the samples", *slower));
  } else if (claim_is_unchecked(median_s, seen_s)) {
    record.flags.emplace_back(kClaimUnchecked);
  }
}

}  // namespace ridgebench
