#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/device_facts.hpp"
#include "harness/cli/peak_table.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/device/device.hpp"
#include "harness/device/open_devices.hpp"
#include "kernels/common/cuda/tensor_instruction.hpp"
#include "kernels/common/error.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/fp4.hpp"
#include "roofline/nullable.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

ordered_json format_json(const FormatInfo& f) {
  return {{"format", f.name},
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
          {"supported", true}};
}

ordered_json fp4_json() {
  ordered_json fp4 = format_json(kFp4E2m1);
  fp4["storage_bytes"] = Fp4::element_bytes;
  fp4["bytes_with_block_scale"] = kFp4Blocks.front().bytes_per_value();
  for (std::uint32_t code = 0; code < kFp4E2m1.first_nan(); ++code) {
    fp4["values"].push_back(decode_bits(kFp4E2m1, code));
  }
  return fp4;
}

ordered_json formats_json() {
  ordered_json formats = ordered_json::array();
  for (const FormatInfo& f : kFormats) {
    if (!f.whole()) formats.push_back(format_json(f));
  }
  formats.push_back(fp4_json());
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
    json["no_tensor_roof"] = nullable(no_tensor_roof(device->machine()));
    devices.push_back(std::move(json));
  }
  ordered_json sheets = ordered_json::array();
  for (const DeviceSpec& sheet : data_sheets()) sheets.push_back(sheet.name);
  return {{"devices", devices}, {"data_sheets", sheets}, {"formats", formats_json()}};
}

void print_device(const ordered_json& device) {
  fmt::print("{}: {}", device["name"].get<std::string>(),
             printable(device["model"].get<std::string>()));
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
  if (!device["no_tensor_roof"].is_null()) {
    fmt::print("  {}\n", device["no_tensor_roof"].get<std::string>());
  }
}

// Devices older than bf16 show the peak of fp16.
void print_data_sheet(const DeviceSpec& sheet) {
  const Peak* bf16 = sheet.best_peak(Format::bf16);
  const Peak* peak = bf16 != nullptr ? bf16 : sheet.best_peak(Format::fp16);
  const MemorySpec& memory = sheet.memory;
  std::string rate = "-";
  std::string ridge = "-";
  if (peak != nullptr) {
    rate = (bf16 == nullptr ? "fp16 " : "") + with_unit(peak->flops_per_s, "FLOP/s");
    ridge = fmt::format("{:.0f}", peak->flops_per_s / memory.bandwidth_bytes_per_s);
  }
  fmt::print("  {:<16}{:>15}{:>13}{:>7}{:>10}{:>11}\n", sheet.name, rate,
             with_unit(memory.bandwidth_bytes_per_s, "B/s"), ridge, with_unit(memory.bytes, "B"),
             memory.usable ? with_unit(memory.usable->bytes, "B") : "-");
}

// Prints what one compares devices by, a line each, by vendor and architecture.
void print_data_sheets() {
  std::vector<const DeviceSpec*> sheets;
  for (const DeviceSpec& sheet : data_sheets()) sheets.push_back(&sheet);
  const auto group = [](const DeviceSpec* sheet) {
    return fmt::format("{} {}", sheet->vendor, sheet->architecture);
  };
  std::ranges::stable_sort(sheets, {}, group);
  fmt::print("{:<18}{:>15}{:>13}{:>7}{:>10}{:>11}\n", "data sheets", "bf16 peak", "bandwidth",
             "ridge", "memory", "usable");
  std::string last;
  for (const DeviceSpec* sheet : sheets) {
    if (group(sheet) != last) fmt::print("{}\n", last = group(sheet));
    print_data_sheet(*sheet);
  }
  fmt::print(
      "bf16 peak: dense, sums in fp32. ridge: FLOP/byte. `ridgebench info --on DEVICE` shows "
      "all numbers with their sources.\n");
}

// Well-known numbers are printed with all their digits: 65504, 57344, 0.015625.
std::string exact_or_short(double value) {
  std::string text = fmt::format("{:.8g}", value);
  return std::strtod(text.c_str(), nullptr) == value ? text : fmt::format("{:.4g}", value);
}

void print(const ordered_json& info) {
  for (const auto& device : info["devices"]) print_device(device);
  fmt::print("\n");
  print_data_sheets();
  fmt::print("\n{:<9} {:>4} {:>6} {:>5} {:>10} {:>10} {:>13} {:>12}  {}\n", "format", "bits",
             "s/e/m", "bytes", "max", "min normal", "min subnormal", "epsilon", "overflow");
  for (const auto& f : info["formats"]) {
    const std::string layout =
        fmt::format("1/{}/{}", f["exponent_bits"].get<int>(), f["mantissa_bits"].get<int>());
    const auto number = [&](const char* key) { return exact_or_short(f[key].get<double>()); };
    fmt::print("{:<9} {:>4} {:>6} {:>5} {:>10} {:>10} {:>13} {:>12}  {}\n",
               f["format"].get<std::string>(), f["bits"].get<int>(), layout,
               f["storage_bytes"].get<double>(), number("max_finite"), number("min_normal"),
               number("min_subnormal"), number("epsilon"), f["overflow"].get<std::string>());
    if (f.contains("bytes_with_block_scale")) {
      fmt::print("          {:g} bytes with the scale of a block; its values: {}, and negative\n",
                 f["bytes_with_block_scale"].get<double>(),
                 fmt::join(f["values"].get<std::vector<double>>(), ", "));
    }
  }
}

}  // namespace

void add_info_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Show devices, data sheets and formats");
  struct State {
    bool json = false;
    std::string device;
    std::string peaks;
  };
  const auto state = std::make_shared<State>();
  command
      ->add_option("--on", state->device,
                   "Show one device: a data sheet by name or file, or a results directory")
      ->type_name("SHEET");
  CLI::Option* json = command->add_flag("--json", state->json, "Print strict JSON");
  command
      ->add_option("--peaks", state->peaks,
                   "Print the table of all data sheets: json, or c for a header in C")
      ->check(CLI::IsMember({"json", "c"}))
      ->excludes(command->get_option("--on"))
      ->excludes(json)
      ->type_name("FORM");
  command->callback([state, on = command->get_option("--on")] {
    if (!state->peaks.empty()) {
      if (state->peaks == "json") print_answer("peaks", peak_table());
      if (state->peaks == "c") fmt::print("{}", peak_header());
      return;
    }
    const bool one = on->count() > 0;
    std::optional<DeviceError> problem;
    const ordered_json info = one ? device_facts(state->device) : collect(problem);
    if (state->json)
      print_answer("info", info);
    else if (one)
      print_device_facts(info);
    else
      print(info);
    if (problem) throw DeviceError(*problem);
  });
}

}  // namespace ridgebench
