#include "harness/results/measured_roofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>

#include "harness/results/doubts.hpp"
#include "harness/results/files/read_once.hpp"
#include "harness/results/judged/raised.hpp"
#include "harness/results/step_rows.hpp"
#include "harness/results/suspect.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

constexpr Range kMemoryBytes{1, 1e18};
constexpr Range kSeconds{0, 1e3};

// Adds the rows that are faster than their ceiling: a roof is the best that anything verified
// reached. All rows are compared with the ceilings, so that their order does not matter. The FLOPs
// of GeLU are a convention, so only products raise the roof of an engine.
void raise(Roofs& roofs, const std::vector<Record>& kernels) {
  const Roofs ceilings = roofs;
  const auto add_faster = [&](const Record& r, std::optional<double> per_s,
                              std::optional<Rate> roof) {
    if (!per_s || !roof || *per_s <= (1 + kRoofMargin) * roof->per_s) return;
    roof->per_s = *per_s;
    roof->origin = r.id;
    roofs.add(*roof);
  };
  for (const Record& r : kernels) {
    if (r.regime != Regime::steady || r.burst || r.flagged(kServedByCache)) continue;
    add_faster(r, r.bytes_per_s(), ceilings.memory_roof(r.written_fraction));
    if (!is_product(r) || r.arithmetic.mixed() || r.accumulator != Format::fp32) continue;
    auto roof = ceilings.engine_roof(r.engine, r.arithmetic.a);
    if (roof) roof->format = r.arithmetic.a;  // tf32x3 has a roof of its own from here on
    add_faster(r, r.flops_per_s(), roof);
  }
}

// Gives a storage format, which has no ceiling, the peak of the arithmetic that matrix products do
// in it. A product whose own engine has no ceiling leaves the peak unknown.
void add_storage_formats(Roofs& roofs, const std::vector<Record>& kernels) {
  const Roofs ceilings = roofs;
  std::set<Format> unknown;
  std::vector<Rate> found;
  for (const Record& r : kernels) {
    if (!is_product(r) || r.format.mixed() || ceilings.best_engine_roof(r.format.a)) continue;
    if (auto rate = ceilings.engine_roof(r.engine, r.arithmetic.a)) {
      rate->format = r.format.a;
      found.push_back(*rate);
    } else {
      unknown.insert(r.format.a);
    }
  }
  for (const Rate& rate : found) {
    if (!unknown.contains(rate.format)) roofs.add(rate);
  }
}

// Adds the ceilings of another run (`run --ceilings`), which only the rows have. A product names
// the roof of its engine in its arithmetic, every other operation that of fp32 (roofs.hpp).
void add_ceilings_of_another_run(Roofs& roofs, const std::vector<Record>& kernels,
                                 const std::set<std::string>& own) {
  const auto add = [&](Resource resource, Format format, const Record& r,
                       const std::optional<double>& per_s,
                       const std::optional<std::string>& ceiling) {
    if (!per_s || !ceiling || own.contains(*ceiling)) return;
    roofs.add({resource, format, r.written_fraction, *per_s, *ceiling});
  };
  for (const Record& r : kernels) {
    if (!r.roof) continue;
    add(Resource::memory, {}, r, r.roof->bytes_per_s, r.roof->memory_ceiling);
    const bool tensor = is_product(r) && r.engine == Engine::tensor;
    if (!r.arithmetic.mixed()) {
      add(tensor ? Resource::tensor : Resource::fma, is_product(r) ? r.arithmetic.a : Format::fp32,
          r, r.roof->flops_per_s, r.roof->compute_ceiling);
    }
    if (r.arithmetic == r.format) {  // others have the ceilings of conversions
      add(Resource::sfu, r.format.a, r, r.roof->special_results_per_s, r.roof->special_ceiling);
    }
  }
}

// `device` as in environment.json ("cpu"); empty: the only one that has ceilings.
Roofs judged_directory(const std::string& directory, std::string_view device) {
  const std::vector<MeasuredDevice> devices = read_devices(directory);
  const bool step = holds_step(directory);
  const std::vector<StepRows> steps = step ? read_step_rows(directory) : std::vector<StepRows>{};
  const std::vector<Record> records = step ? std::vector<Record>{} : read_records(directory);
  std::vector<Roofs> found;
  std::vector<std::string> names;
  for (const MeasuredDevice& d : devices) {
    if (!device.empty() && d.name != device) continue;
    Roofs roofs = step ? roofs_of(directory, d, steps) : roofs_of(directory, d, records);
    if (roofs.empty()) continue;
    found.push_back(std::move(roofs));
    names.push_back(directory + "@" + d.name);
  }
  if (found.empty()) {
    throw UsageError(fmt::format("{} holds no ceiling with status ok{}{}{}", directory,
                                 device.empty() ? "" : " of device ", device,
                                 step ? "; allowed: a step with status ok" : ""));
  }
  if (found.size() > 1) {
    throw UsageError(
        fmt::format("{} holds several devices; allowed: {}", directory, fmt::join(names, ", ")));
  }
  return std::move(found.front());
}

Roofs open_directory(const std::string& directory, const std::string& device) {
  return read_once(fmt::format("roofs {}@{}", directory, device),
                   [&] { return judged_directory(directory, device); });
}

// The notes that a plan prints on the row whose MFU it takes.
std::string remark_of(const Record& r, bool heads) {
  std::string remark;
  if (r.power_state) remark = fmt::format("power state {}", name(*r.power_state));
  if (heads) return remark;
  return remark + (remark.empty() ? "" : ", and ") + "the run could not finish the row";
}

}  // namespace

bool is_product(const Record& r) {
  const auto& operations = Registry::instance().operations();
  return std::ranges::any_of(operations, [&](const std::unique_ptr<Operation>& o) {
    return o->name == r.op && o->engine == Engine::tensor && !o->ceiling && o->loaded_from.empty();
  });
}

bool served_by_cache(const Record& r) {
  return r.flagged(kServedByCache) && r.bound != Limit::compute;
}

std::optional<Rate> ceiling_rate(const Record& r) {
  const bool counts = r.role == Role::ceiling && r.status == Status::ok &&
                      r.regime == Regime::steady && !r.burst && r.saturates && !r.format.mixed() &&
                      !r.flagged(kPartialRate) && !r.flagged(kServedByCache);
  if (!counts) return std::nullopt;
  std::optional<double> per_s = r.flops_per_s();
  switch (*r.saturates) {
    case Resource::memory:
      per_s = r.bytes_per_s();
      break;
    case Resource::fma:
    case Resource::tensor:
      if (r.accumulator != sum_format(r.format.a)) return std::nullopt;
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
                      r.fraction_of_measured_roof && !r.flagged(kServedByCache);
  return counts && over_ceilings(r, r.time->median).exceeds(kRoofMargin);
}

std::vector<MeasuredDevice> read_devices(const std::string& directory) {
  const std::string path = directory + "/environment.json";
  const nlohmann::json json = parse_json(read_file(path), path);
  std::vector<MeasuredDevice> devices;
  const JsonObject environment(json, path);
  const bool borrows = environment.holds("ceilings");
  for (const JsonObject& device : environment.objects("devices")) {
    MeasuredDevice& measured = devices.emplace_back(
        MeasuredDevice{.name = device.text("name"),
                       .model = device.optional_text("model").value_or("unknown model"),
                       .memory_bytes = device.optional_number("memory_bytes", kMemoryBytes)});
    measured.borrows_ceilings = borrows;
    if (device.holds("data_sheet")) measured.data_sheet = device.text("data_sheet");
    if (device.holds("launch_floor_s")) {
      measured.launch_floor_s = device.number("launch_floor_s", kSeconds);
    }
  }
  return devices;
}

Roofs unmeasured_roofs(const std::string& directory, const MeasuredDevice& device) {
  Roofs roofs(fmt::format("{} in {}", device.model, directory), device.memory_bytes,
              device.launch_floor_s);
  if (const DeviceSpec* sheet = find_data_sheet(device.data_sheet)) roofs.promise(*sheet);
  return roofs;
}

Roofs roofs_of(const std::string& directory, const MeasuredDevice& device,
               const std::vector<Record>& records) {
  Roofs roofs = unmeasured_roofs(directory, device);
  std::vector<Record> kernels;
  std::set<std::string> own;
  std::vector<Record> rows;
  std::ranges::copy_if(records, std::back_inserter(rows),
                       [&](const Record& r) { return r.device == device.name; });
  complete_older(rows);
  for (const Record& r : rows) {
    if (r.role == Role::ceiling) own.insert(r.id);
    if (const auto rate = ceiling_rate(r)) roofs.add(*rate);
    if (r.role == Role::kernel && r.status == Status::ok) kernels.push_back(r);
  }
  if (device.borrows_ceilings) add_ceilings_of_another_run(roofs, kernels, own);
  raise(roofs, kernels);
  add_storage_formats(roofs, kernels);
  return roofs;
}

std::optional<ResultsOfDevice> results_of(const std::string& device) {
  std::error_code ignored;  // a path without access counts as unknown
  if (find_data_sheet(device) != nullptr) return std::nullopt;
  if (fs::is_directory(device, ignored)) return ResultsOfDevice{device, ""};
  const std::size_t at = device.rfind('@');
  if (at == std::string::npos || !fs::is_directory(device.substr(0, at), ignored)) {
    return std::nullopt;
  }
  return ResultsOfDevice{device.substr(0, at), device.substr(at + 1)};
}

Roofs open_roofs(const std::string& device) {
  std::error_code ignored;
  if (find_data_sheet(device) != nullptr || fs::is_regular_file(device, ignored)) {
    return Roofs(open_data_sheet(device));
  }
  if (const auto results = results_of(device)) {
    return open_directory(results->directory, results->device);
  }
  throw UsageError(fmt::format(
      "unknown device '{}'; {}allowed: a data sheet ({}), a data sheet file or a results directory",
      device, nearest_data_sheet(device), data_sheet_names()));
}

MeasuredMfu best_matmul_mfu(const std::string& directory, FormatPair format) {
  const std::vector<MeasuredDevice> devices = read_devices(directory);
  const auto sheet_of = [&](const Record& r) {
    const auto found = std::ranges::find(devices, r.device, &MeasuredDevice::name);
    return found == devices.end() ? std::string() : found->data_sheet;
  };
  const std::vector<Record> records = read_records(directory);
  const Standing standing = read_standing(directory, records);
  std::optional<MeasuredMfu> best;
  bool best_heads = false;
  bool measured = false;
  for (const Record& r : records) {
    const bool matmul = r.op == "matmul" && r.role == Role::kernel && r.status == Status::ok &&
                        r.regime == Regime::steady && r.format == format;
    measured = measured || matmul;
    if (!matmul || !r.mfu) continue;
    const bool heads = standing.may_head(r);
    if (best && std::pair(heads, *r.mfu) <= std::pair(best_heads, best->mfu)) continue;
    best = {*r.mfu, r.id, sheet_of(r), remark_of(r, heads)};
    best_heads = heads;
  }
  if (best && best->data_sheet.empty()) {
    throw UsageError(fmt::format(
        "{}/environment.json names no data sheet for the device of {}, whose MFU is a share of its "
        "peak; give --mfu a number from 0 to 1",
        directory, best->id));
  }
  if (best) return *best;
  throw UsageError(
      fmt::format("{} has {}; give --mfu a number from 0 to 1", directory,
                  measured ? "no MFU: its device has no data sheet (a host), only measured roofs"
                           : fmt::format("no steady {} matmul with status ok", format.name())));
}

}  // namespace ridgebench
