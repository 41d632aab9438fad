#include "harness/measure/judge.hpp"

#include <algorithm>
#include <limits>

#include "roofline/device_spec.hpp"
#include "roofline/utilisation.hpp"

namespace ridgebench {
namespace {

Limit limit_of(Resource resource) {
  switch (resource) {
    case Resource::memory:
    case Resource::cache:
      return Limit::memory;
    case Resource::launch:
      return Limit::launch;
    case Resource::sfu:
      return Limit::special;
    default:
      return Limit::compute;
  }
}

// What a ceiling declares that its resource does at most, at the clock held.
struct Declared {
  std::optional<double> bytes_per_s;
  std::optional<double> flops_per_s;
};

Declared declared_by(const Case& row, std::optional<double> clock_hz) {
  if (!row.is_ceiling() || row.operation->ceiling->most_per_clock == nullptr || !clock_hz)
    return {};
  const Machine& machine = row.device->machine();
  const Ceiling& ceiling = *row.operation->ceiling;
  const double rate = ceiling.most_per_clock(machine, row.format) * machine.units * *clock_hz;
  if (rate == 0) return {};
  const bool bytes = ceiling.resource == Resource::memory || ceiling.resource == Resource::cache;
  return bytes ? Declared{rate, std::nullopt} : Declared{std::nullopt, rate};
}

// The measured roofs that apply to a row. A mixed pair has the slower of its formats' engines.
RecordedRoof roof_of(const Case& row, const MeasuredRoofs& roofs) {
  RecordedRoof roof;
  const FormatPair arithmetic = row.implementation->arithmetic();
  const Engine engine = row.technique.engine == Engine::tensor ? Engine::tensor : Engine::fma;
  for (const Format format : {arithmetic.a, arithmetic.b}) {
    const auto rate = roofs.engine_roof(engine, format);
    if (rate && (!roof.flops_per_s || rate->per_s < *roof.flops_per_s)) {
      roof.flops_per_s = rate->per_s;
      roof.compute_ceiling = rate->id;
    }
  }
  const double written = written_fraction(*row.operation, row.shape, row.format);
  if (const auto rate = roofs.memory_roof(written)) {
    roof.bytes_per_s = rate->per_s;
    roof.memory_ceiling = rate->id;
  }
  return roof;
}

// Small enough for the caches, and back to back on one buffer set.
bool served_by_cache(const Case& row) {
  const auto cache = static_cast<double>(row.device->machine().last_level_cache_bytes());
  return row.regime == Regime::warm && row.work().bytes < cache;
}

constexpr double kNoLimit = std::numeric_limits<double>::max();

Physics physics_of(const Case& row, const Declared& declared, std::optional<double> clock_hz) {
  const DeviceSpec* sheet = find_data_sheet(row.device->data_sheet());
  Physics physics{.bandwidth_bytes_per_s = declared.bytes_per_s,
                  .issue_flops_per_s = peak_at_clock_flops_per_s(sheet, row.format.a, clock_hz)};
  // A model may do less per clock than others of its compute capability; its sheet knows.
  if (declared.flops_per_s) {
    physics.issue_flops_per_s =
        std::min(*declared.flops_per_s, physics.issue_flops_per_s.value_or(kNoLimit));
  }
  if (sheet != nullptr && sheet->memory.pins && !served_by_cache(row) && !row.operation->traffic) {
    physics.bandwidth_bytes_per_s = sheet->memory.pins->bandwidth_bytes_per_s();
  }
  return physics;
}

// What limits a kernel, and how near it comes.
void compare_with_roofs(Record& record, const Case& row, const Timed& timed,
                        const MeasuredRoofs& roofs) {
  record.roof = roof_of(row, roofs);
  Limits limits;
  limits.roof = record.limiting_roof();
  limits.launch_floor_s = row.device->launch_floor_s();
  if (row.operation->special) limits.special_results = row.operation->special(row.shape);
  if (const auto rate = roofs.special_roof()) limits.special_results_per_s = rate->per_s;
  record.fraction_of_measured_roof = fraction_of_measured_roof(timed, limits.roof);
  record.bound = row_bound(timed, limits);
}

}  // namespace

void judge(Record& record, const Case& row, const MeasuredRoofs& roofs) {
  const Timed timed{row.work(), record.time->median};
  if (served_by_cache(row)) record.flags.emplace_back("served_by_cache");
  if (row.technique.arithmetic && row.format != FormatPair(*row.technique.arithmetic)) {
    record.flags.emplace_back("storage_format");
  }
  const Declared declared = declared_by(row, record.clock_hz);
  const Physics physics = physics_of(row, declared, record.clock_hz);
  if (const auto impossible = miscounted(timed, physics)) {
    record.status = Status::invalid;
    record.reason = *impossible;
    record.time.reset();
    return;
  }
  record.mfu = mfu(timed, find_data_sheet(row.device->data_sheet()), row.format.a);
  record.fraction_of_roof_at_clock = fraction_of_roof_at_clock(timed, physics.issue_flops_per_s);
  if (declared.bytes_per_s) {
    record.fraction_of_roof_at_clock = timed.work.bytes / timed.time_s / *declared.bytes_per_s;
  }
  if (row.is_ceiling()) {
    record.bound = limit_of(row.operation->ceiling->resource);
  } else {
    compare_with_roofs(record, row, timed, roofs);
  }
}

}  // namespace ridgebench
