#include "harness/results/step_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "harness/results/read_keyed.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {

bool holds_step(const std::filesystem::path& directory) {
  std::error_code unknown;
  return std::filesystem::exists(directory / kStepFile, unknown);
}

void for_each_step(const std::filesystem::path& directory, const StepReader& read) {
  const std::string path = (directory / kStepFile).string();
  std::istringstream lines(read_file(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string origin = fmt::format("{}:{}", path, ++number);
    const nlohmann::json checked = parse_json(line, origin);
    const JsonObject json(checked, origin);
    if (json.text("schema") != kStepSchema) json.reject("schema", kStepSchema);
    read(json, parse_ordered(line));
  }
}

std::vector<StepRows> read_step_rows(const std::filesystem::path& directory) {
  std::vector<StepRows> steps;
  for_each_step(directory, [&](const JsonObject& json, const nlohmann::ordered_json& raw) {
    read_object(json, raw, steps.emplace_back());
  });
  return steps;
}

MeasuredMfu best_step_mfu(const std::string& directory, FormatPair format) {
  const std::vector<MeasuredDevice> devices = read_devices(directory);
  std::optional<MeasuredMfu> best;
  std::set<std::string> others;  // formats of other steps that would do
  bool trained = false;
  for (const StepRows& step : read_step_rows(directory)) {
    if (step.step != StepKind::train || step.status != Status::ok) continue;
    trained = true;
    if (!step.mfu) continue;
    if (FormatPair(step.format) != format) others.insert(std::string(info(step.format).name));
    if (FormatPair(step.format) != format || (best && *step.mfu <= best->mfu)) continue;
    const auto device = std::ranges::find(devices, step.device, &MeasuredDevice::name);
    if (device == devices.end() || device->data_sheet.empty()) continue;
    best = {*step.mfu, step.id, device->data_sheet};
  }
  if (best) return *best;
  if (!others.empty()) {
    throw UsageError(fmt::format("{} has no step of training in {}; allowed: --format {}",
                                 directory, format.name(), fmt::join(others, ", ")));
  }
  throw UsageError(fmt::format(
      "{} has {}; allowed: --mfu as a number from 0 to 1, or a folder of `step train` on a device "
      "with a data sheet",
      directory,
      trained ? "no MFU: the device of its step has no data sheet"
              : "no step of training with status ok"));
}

Roofs roofs_of(const std::string& directory, const MeasuredDevice& device,
               const std::vector<StepRows>& steps) {
  Roofs roofs = unmeasured_roofs(directory, device);
  for (const StepRows& step : steps) {
    if (step.device != device.name || step.status != Status::ok) continue;
    for (const StepCeiling& c : step.ceilings) {
      roofs.add({c.resource, c.format, c.written_fraction, c.per_s, c.id});
    }
  }
  return roofs;
}

}  // namespace ridgebench
