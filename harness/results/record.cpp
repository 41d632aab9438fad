#include "harness/results/record.hpp"

#include <cmath>
#include <limits>

#include "harness/base/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

template <NamedEnum E>
ordered_json name_or_null(const std::optional<E>& value) {
  return value ? ordered_json(name(*value)) : ordered_json(nullptr);
}

ordered_json to_json(const Shape& shape) {
  ordered_json json = ordered_json::object();
  for (const auto& [dimension, size] : shape.dimensions()) json[dimension] = size;
  if (shape.has_layout()) json["layout"] = name(shape.layout());
  return json;
}

std::optional<double> rate(double amount, const std::optional<Summary>& time) {
  if (!time || amount <= 0) return std::nullopt;
  return amount / time->median;
}

ordered_json identity_json(const Record& row) {
  return {{"schema", kRecordSchema},
          {"id", row.id},
          {"op", row.op},
          {"technique", row.technique},
          {"backend", name(row.backend)},
          {"device", row.device},
          {"origin", name(row.origin)},
          {"role", name(row.role)},
          {"saturates", name_or_null(row.saturates)},
          {"level", nullable(row.level)},
          {"engine", name(row.engine)},
          {"format", row.format.name()},
          {"arithmetic", row.arithmetic.name()},
          {"accumulator", info(row.accumulator).name},
          {"accumulator_bits", nullable(row.accumulator_bits)},
          {"isa", name_or_null(row.isa)},
          {"shape", to_json(row.shape)},
          {"regime", name(row.regime)},
          {"flops", row.flops},
          {"bytes", row.bytes},
          {"intensity_flop_per_byte",
           row.bytes > 0 ? ordered_json(row.flops / row.bytes) : ordered_json(nullptr)},
          {"written_fraction", row.written_fraction}};
}

ordered_json to_json(const std::optional<RecordedRoof>& roof) {
  if (!roof) return nullptr;
  return {{"flops_per_s", nullable(roof->flops_per_s)},
          {"bytes_per_s", nullable(roof->bytes_per_s)},
          {"compute_ceiling", nullable(roof->compute_ceiling)},
          {"memory_ceiling", nullable(roof->memory_ceiling)}};
}

// JSON has no infinity.
ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json to_json(const std::optional<Witness>& witness) {
  if (!witness) return nullptr;
  return {{"technique", witness->technique}, {"error", finite(witness->error)}};
}

ordered_json to_json(const std::optional<Verification>& v) {
  if (!v) return nullptr;
  return {{"error", finite(v->error)},
          {"tolerance", v->tolerance},
          {"elements", v->elements},
          {"exact", v->exact},
          {"witness", to_json(v->witness)}};
}

// The six keys of the samples' summary, null unless the row is ok.
void add_times(ordered_json& json, const std::optional<Summary>& time) {
  const auto add = [&](const char* key, double Summary::* member) {
    json[key] = time ? ordered_json((*time).*member) : ordered_json(nullptr);
  };
  add("time_median_s", &Summary::median);
  add("time_ci_low_s", &Summary::ci_low);
  add("time_ci_high_s", &Summary::ci_high);
  add("time_min_s", &Summary::min);
  add("time_p10_s", &Summary::p10);
  add("time_p90_s", &Summary::p90);
}

}  // namespace

std::optional<Roof> Record::limiting_roof() const {
  const bool memory_only = engine == Engine::memory;
  if (!roof || !roof->bytes_per_s || !(roof->flops_per_s || memory_only)) return std::nullopt;
  return Roof{roof->flops_per_s.value_or(std::numeric_limits<double>::max()), *roof->bytes_per_s};
}

std::optional<double> Record::flops_per_s() const { return rate(flops, time); }
std::optional<double> Record::bytes_per_s() const { return rate(bytes, time); }

ordered_json to_json(const Record& record) {
  ordered_json json = identity_json(record);
  json["status"] = name(record.status);
  json["reason"] = nullable(record.reason);
  json["seed"] = nullable(record.seed);
  json["fill"] = nullable(record.fill);
  json["sets"] = record.sets;
  json["samples_s"] = record.samples_s;
  json["samples_per_batch"] = record.samples_per_batch;
  json["launches_per_sample"] = record.launches_per_sample;
  add_times(json, record.time);
  json["flops_per_s"] = nullable(record.flops_per_s());
  json["bytes_per_s"] = nullable(record.bytes_per_s());
  json["clock_hz"] = nullable(record.clock_hz);
  json["bound"] = name_or_null(record.bound);
  json["mfu"] = nullable(record.mfu);
  json["fraction_of_roof_at_clock"] = nullable(record.fraction_of_roof_at_clock);
  json["fraction_of_measured_roof"] = nullable(record.fraction_of_measured_roof);
  json["roof"] = to_json(record.roof);
  json["verify"] = to_json(record.verify);
  json["telemetry"] = record.telemetry;
  json["flags"] = record.flags;
  return json;
}

}  // namespace ridgebench
