#include "harness/results/measured_roofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

constexpr Range kMemoryBytes{1, 1e18};

bool has_flag(const Record& record, std::string_view flag) {
  return std::ranges::find(record.flags, flag) != record.flags.end();
}

Roofs roofs_of(const std::string& directory, const MeasuredDevice& device,
               const std::vector<Record>& records) {
  Roofs roofs(fmt::format("{} in {}", device.model, directory), device.memory_bytes);
  for (const Record& r : records) {
    const auto rate = ceiling_rate(r);
    if (rate && r.device == device.name) roofs.add(*rate);
  }
  std::vector<Rate> of_storage_formats;
  for (const Record& r : records) {
    const bool kernel = r.device == device.name && r.role == Role::kernel && r.status == Status::ok;
    if (!kernel || r.format.mixed() || roofs.best_engine_roof(r.format.a)) continue;
    if (auto rate = roofs.best_engine_roof(r.arithmetic.a)) {
      rate->format = r.format.a;
      of_storage_formats.push_back(*rate);
    }
  }
  for (const Rate& rate : of_storage_formats) roofs.add(rate);
  return roofs;
}

// `device` as in environment.json ("cpu"); empty: the only one that has ceilings.
Roofs open_directory(const std::string& directory, std::string_view device) {
  const std::vector<MeasuredDevice> devices = read_devices(directory);
  const std::vector<Record> records = read_records(directory);
  std::vector<Roofs> found;
  std::vector<std::string> names;
  for (const MeasuredDevice& d : devices) {
    if (!device.empty() && d.name != device) continue;
    Roofs roofs = roofs_of(directory, d, records);
    if (roofs.empty()) continue;
    found.push_back(std::move(roofs));
    names.push_back(directory + "@" + d.name);
  }
  if (found.empty()) {
    throw UsageError(fmt::format("{} holds no ceiling with status ok{}{}", directory,
                                 device.empty() ? "" : " of device ", device));
  }
  if (found.size() > 1) {
    throw UsageError(
        fmt::format("{} holds several devices; allowed: {}", directory, fmt::join(names, ", ")));
  }
  return std::move(found.front());
}

}  // namespace

std::optional<Rate> ceiling_rate(const Record& r) {
  const bool counts = r.role == Role::ceiling && r.status == Status::ok &&
                      r.regime == Regime::steady && !r.burst && r.saturates && !r.format.mixed();
  if (!counts) return std::nullopt;
  std::optional<double> per_s = r.flops_per_s();
  switch (*r.saturates) {
    case Resource::memory:
      per_s = r.bytes_per_s();
      break;
    case Resource::fma:
    case Resource::tensor:
      if (r.accumulator != Format::fp32 || has_flag(r, kPartialRate)) return std::nullopt;
      break;
    case Resource::sfu:
    case Resource::narrow:
    case Resource::widen:
      break;
    default:
      return std::nullopt;
  }
  if (!per_s) return std::nullopt;
  return Rate{*r.saturates, r.format.a, r.written_fraction, *per_s, r.id};
}

bool above_roof(const Record& r) {
  const bool counts = r.role == Role::kernel && r.status == Status::ok &&
                      r.regime == Regime::steady && r.fraction_of_measured_roof && r.roof;
  if (!counts) return false;
  const auto exceeds = [](std::optional<double> achieved, std::optional<double> roof) {
    return achieved && roof && *achieved > (1 + kRoofMargin) * *roof;
  };
  return exceeds(r.bytes_per_s(), r.roof->bytes_per_s) ||
         (r.engine != Engine::memory && exceeds(r.flops_per_s(), r.roof->flops_per_s));
}

std::vector<MeasuredDevice> read_devices(const std::string& directory) {
  const std::string path = directory + "/environment.json";
  const nlohmann::json json = parse_json(read_file(path), path);
  std::vector<MeasuredDevice> devices;
  for (const JsonObject& device : JsonObject(json, path).objects("devices")) {
    devices.push_back({.name = device.text("name"),
                       .model = device.optional_text("model").value_or("unknown model"),
                       .memory_bytes = device.optional_number("memory_bytes", kMemoryBytes)});
  }
  return devices;
}

Roofs open_roofs(const std::string& device) {
  if (const DeviceSpec* sheet = find_data_sheet(device)) return Roofs(*sheet);
  std::error_code ignored;  // a path without access counts as unknown
  if (fs::is_regular_file(device, ignored)) {
    return Roofs(parse_data_sheet(read_file(device), device));
  }
  if (fs::is_directory(device, ignored)) return open_directory(device, "");
  const std::size_t at = device.rfind('@');
  if (at != std::string::npos && fs::is_directory(device.substr(0, at), ignored)) {
    return open_directory(device.substr(0, at), device.substr(at + 1));
  }
  throw UsageError(fmt::format(
      "unknown device '{}'; allowed: a data sheet ({}), a data sheet file or a results directory",
      device, data_sheet_names()));
}

MeasuredMfu best_matmul_mfu(const std::string& directory, Format format) {
  static_cast<void>(read_devices(directory));  // refuses a damaged environment.json
  std::optional<MeasuredMfu> best;
  bool measured = false;
  for (const Record& r : read_records(directory)) {
    const bool matmul = r.op == "matmul" && r.role == Role::kernel && r.status == Status::ok &&
                        r.regime == Regime::steady && r.format == format;
    measured = measured || matmul;
    if (matmul && r.mfu && (!best || *r.mfu > best->mfu)) best = {*r.mfu, r.id};
  }
  if (best) return *best;
  throw UsageError(
      fmt::format("{} has {}; give --mfu a number from 0 to 1", directory,
                  measured ? "no MFU: its device has no data sheet (a host), only measured roofs"
                           : fmt::format("no steady {} matmul with status ok", info(format).name)));
}

}  // namespace ridgebench
