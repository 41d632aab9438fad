#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/commands.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/device/device.hpp"
#include "harness/device/open_devices.hpp"
#include "kernels/common/error.hpp"
#include "roofline/device_spec.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

ordered_json formats_json() {
  ordered_json formats = ordered_json::array();
  for (const FormatInfo& f : kFormats) {
    formats.push_back({{"format", f.name},
                       {"bits", f.bits()},
                       {"exponent_bits", f.exponent_bits},
                       {"mantissa_bits", f.mantissa_bits},
                       {"storage_bytes", f.storage_bytes},
                       {"max_finite", f.max_finite()},
                       {"min_normal", f.min_normal()},
                       {"min_subnormal", f.min_subnormal()},
                       {"epsilon", f.epsilon()},
                       {"has_infinity", f.has_infinity},
                       {"overflow", f.saturates ? "saturates" : "infinity"},
                       {"supported", true}});
  }
  // For comparison. The format has no infinity and no NaN, and FormatInfo cannot describe that.
  formats.push_back({{"format", "fp4_e2m1"},
                     {"bits", 4},
                     {"exponent_bits", 2},
                     {"mantissa_bits", 1},
                     {"storage_bytes", 0.5},
                     {"max_finite", 6.0},
                     {"min_normal", 1.0},
                     {"min_subnormal", 0.5},
                     {"epsilon", 0.5},
                     {"has_infinity", false},
                     {"overflow", "saturates"},
                     {"supported", false},
                     {"reason", "unsupported: Blackwell only; no technique computes in it"}});
  return formats;
}

// A GPU that cannot be used becomes the `problem`; the rest is shown.
ordered_json collect(std::optional<DeviceError>& problem) {
  std::vector<std::unique_ptr<Device>> opened;
  try {
    opened = open_devices("all");
  } catch (const DeviceError& error) {
    problem = error;
    opened = open_devices("cpu");
  }
  ordered_json devices = ordered_json::array();
  for (const auto& device : opened) {
    ordered_json json = device->identity();
    const std::string sheet = device->data_sheet();
    json["data_sheet"] = sheet.empty() ? ordered_json(nullptr) : ordered_json(sheet);
    devices.push_back(std::move(json));
  }
  ordered_json sheets = ordered_json::array();
  for (const DeviceSpec& sheet : data_sheets()) sheets.push_back(sheet.name);
  return {{"devices", devices}, {"data_sheets", sheets}, {"formats", formats_json()}};
}

void print_device(const ordered_json& device) {
  fmt::print("{}: {}", device["name"].get<std::string>(), device["model"].get<std::string>());
  if (device.contains("threads")) {
    fmt::print(", threads: {} on {} cores, {}", device["threads"].get<int>(),
               device["cores"].get<int>(), device["isa"].get<std::string>());
  }
  if (device.contains("cpu_quota")) {
    fmt::print(", CPU quota {:g}", device["cpu_quota"].get<double>());
  }
  fmt::print(", {:.1f} GiB", device["memory_bytes"].get<double>() / 0x1p30);
  for (const auto& cache : device.value("caches", ordered_json::array())) {
    fmt::print(", L{} {} KiB", cache["level"].get<int>(), cache["bytes"].get<long>() >> 10U);
  }
  fmt::print("; data sheet: {}\n",
             device["data_sheet"].is_null() ? "none" : device["data_sheet"].get<std::string>());
}

void print(const ordered_json& info) {
  for (const auto& device : info["devices"]) print_device(device);
  fmt::print("\ndata sheets:");
  for (const auto& sheet : info["data_sheets"]) fmt::print(" {}", sheet.get<std::string>());
  fmt::print("\n\n{:<9} {:>4} {:>6} {:>5} {:>10} {:>10} {:>13} {:>9}  {}\n", "format", "bits",
             "s/e/m", "bytes", "max", "min normal", "min subnormal", "epsilon", "overflow");
  for (const auto& f : info["formats"]) {
    const char* remark = f["supported"].get<bool>() ? "overflow" : "reason";
    const std::string layout =
        fmt::format("1/{}/{}", f["exponent_bits"].get<int>(), f["mantissa_bits"].get<int>());
    fmt::print("{:<9} {:>4} {:>6} {:>5} {:>10.4g} {:>10.4g} {:>13.4g} {:>9.3g}  {}\n",
               f["format"].get<std::string>(), f["bits"].get<int>(), layout,
               f["storage_bytes"].get<double>(), f["max_finite"].get<double>(),
               f["min_normal"].get<double>(), f["min_subnormal"].get<double>(),
               f["epsilon"].get<double>(), f[remark].get<std::string>());
  }
}

}  // namespace

void add_info_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Show devices, data sheets and formats");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print strict JSON");
  command->callback([json] {
    std::optional<DeviceError> problem;
    const ordered_json info = collect(problem);
    if (*json)
      print_json(info);
    else
      print(info);
    if (problem) throw DeviceError(*problem);
  });
}

}  // namespace ridgebench
