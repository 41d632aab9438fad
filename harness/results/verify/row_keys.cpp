#include "harness/results/verify/row_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/results/doubts.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/number.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {
namespace {

std::map<std::string, StatedDevice> devices_of(const JsonObject& environment) {
  std::map<std::string, StatedDevice> devices;
  for (const JsonObject& device : environment.objects("devices")) {
    const auto sheet = device.optional_text("data_sheet");
    const DeviceSpec* const found = sheet ? find_data_sheet(*sheet) : nullptr;
    devices[device.text("name")] = {
        .backend = device.holds("backend") ? device.optional_text("backend") : std::nullopt,
        .tick_s = device.optional_number("event_tick_s", {0, 1}).value_or(0),
        .launch_floor_s = device.holds("launch_floor_s")
                              ? device.optional_number("launch_floor_s", {0, 1e3})
                              : std::nullopt,
        .sheet = found,
        .sheet_is_known = !sheet || found != nullptr};
  }
  return devices;
}

// The rate of a row's ceiling in the arithmetic of the row: some formats take several products of
// another one.
double rate_for(const Record& row, const Rate& ceiling) {
  Roofs roofs;
  roofs.add(ceiling);
  const Engine engine = ceiling.resource == Resource::tensor ? Engine::tensor : Engine::fma;
  for (const Format format : {row.arithmetic.a, row.arithmetic.b}) {
    if (const auto rate = roofs.engine_roof(engine, format)) return rate->per_s;
  }
  return ceiling.per_s;
}

// The keys of a rate of the roof and of its ceiling.
struct NamedRate {
  const char* rate_key;
  const char* ceiling_key;
  std::optional<double> per_s;
  const std::optional<std::string>& ceiling;
};

void check_rate(const Record& row, const NamedRate& stated,
                const std::map<std::string, const Record*>& rows, bool other_ceilings,
                Checker& check) {
  check.require(
      stated.per_s.has_value() == stated.ceiling.has_value(),
      fmt::format("roof.{} and roof.{} belong together", stated.rate_key, stated.ceiling_key));
  if (!stated.per_s || !stated.ceiling) return;
  if (other_ceilings) return;  // a row of the same id may have another rate
  const auto found = rows.find(*stated.ceiling);
  const auto rate = found == rows.end() ? std::nullopt : ceiling_rate(*found->second);
  check.require(rate.has_value(),
                fmt::format("roof.{} is {}, which is not a verified ceiling of the run",
                            stated.ceiling_key, *stated.ceiling));
  if (!rate) return;
  check.equal(fmt::format("roof.{}", stated.rate_key), *stated.per_s, rate_for(row, *rate));
}

}  // namespace

StatedRun stated_run(const JsonObject& environment) {
  StatedRun facts{
      .devices = devices_of(environment),
      .own_operations = {},
      .seed = {},
      .fill = {},
      .imported = environment.holds("imported"),
      .has_other_ceilings = environment.holds("ceilings") || environment.holds("resumed")};
  if (environment.holds("seed")) {
    facts.seed = static_cast<std::uint64_t>(environment.number("seed", {0, kLargestCount}));
  }
  if (environment.holds("fill")) facts.fill = environment.text("fill");
  if (!environment.holds("own_kernels")) return facts;
  for (std::string& name : environment.object("own_kernels").texts("operations")) {
    facts.own_operations.insert(std::move(name));
  }
  return facts;
}

void check_identity(const Record& record, const StatedRun& run, Checker& check) {
  const bool external = record.origin == Origin::external;
  check.require(external == run.imported, "external is the origin of imported rows only");
  const auto device = run.devices.find(record.device);
  check.require(device != run.devices.end(), "environment.json does not list its device");
  if (external) return;
  const std::string id = id_of_row({.operation = record.op,
                                    .technique = record.technique,
                                    .format = record.format,
                                    .shape = record.shape,
                                    .regime = record.regime,
                                    .device = record.device});
  const std::string of_role = record.role == Role::control ? control_of(id) : id;
  check.require(record.id == of_role, fmt::format("its keys make the id {}", of_role));
  if (device != run.devices.end() && device->second.backend) {
    check.require(name(record.backend) == *device->second.backend,
                  fmt::format("backend is {}, but that of {} is {}", name(record.backend),
                              record.device, *device->second.backend));
  }
  check.require(!record.seed || record.seed == run.seed, "seed is not that of environment.json");
  check.require(!record.fill || record.fill == run.fill, "fill is not that of environment.json");
}

void check_samples(const Record& record, Checker& check) {
  check.require(record.flagged(kFewSamples) == (record.samples_s.size() < kEnoughSamples),
                fmt::format("{} is the flag of a row with fewer than {} samples, and of no other",
                            kFewSamples, kEnoughSamples));
  if (!record.clocks_hz.empty()) {
    std::vector<double> clocks_hz = record.clocks_hz;
    check.equal("clock_hz", record.clock_hz.value_or(0), middle(clocks_hz));
  }
  if (!record.time_mean_s) return;
  const auto busy_s = record.window_value("busy_s");
  const auto launches = record.window_value("launches");
  if (busy_s && launches) {
    check.equal("time_mean_s", *record.time_mean_s, *busy_s / *launches);
  }
  const auto [fastest, slowest] = std::ranges::minmax_element(record.samples_s);
  const double within = std::clamp(*record.time_mean_s, *fastest, *slowest);
  check.equal("time_mean_s", *record.time_mean_s, within);
}

void check_roofs(std::span<const Record> records, bool has_other_ceilings,
                 std::vector<std::string>& problems) {
  std::map<std::string, const Record*> rows;
  for (const Record& record : records) rows.emplace(record.id, &record);
  for (const Record& row : records) {
    if (row.role != Role::kernel || row.origin == Origin::external || !row.roof) continue;
    Checker check(row.id, problems);
    const RecordedRoof& roof = *row.roof;
    for (const NamedRate& stated :
         {NamedRate{"flops_per_s", "compute_ceiling", roof.flops_per_s, roof.compute_ceiling},
          NamedRate{"bytes_per_s", "memory_ceiling", roof.bytes_per_s, roof.memory_ceiling},
          NamedRate{"special_results_per_s", "special_ceiling", roof.special_results_per_s,
                    roof.special_ceiling}}) {
      check_rate(row, stated, rows, has_other_ceilings, check);
    }
  }
}

}  // namespace ridgebench
