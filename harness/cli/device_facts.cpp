#include "harness/cli/device_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/results/measured_roofs.hpp"
#include "roofline/nullable.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

ordered_json peak_json(const Peak& peak) {
  return {{"format", info(peak.format).name},
          {"engine", name(peak.engine)},
          {"accumulator", info(peak.accumulator).name},
          {"flops_per_s", peak.flops_per_s},
          {"clock_hz", nullable(peak.clock_hz)},
          {"flops_per_clock_per_sm", nullable(peak.flops_per_clock_per_sm)},
          {"source", peak.source},
          {"doubt", nullable(peak.doubt)}};
}

ordered_json rate_json(const Rate& rate) {
  const bool memory = rate.resource == Resource::memory;
  ordered_json format = memory ? ordered_json(nullptr) : ordered_json(info(rate.format).name);
  ordered_json written = memory ? ordered_json(rate.written_fraction) : ordered_json(nullptr);
  const char* unit = memory ? "byte/s" : rate.resource == Resource::sfu ? "results/s" : "FLOP/s";
  return {{"resource", name(rate.resource)},
          {"format", format},
          {"written_fraction", written},
          {"rate", rate.per_s},
          {"unit", unit},
          {"measured_by", rate.origin}};
}

ordered_json measured_json(const Roofs& roofs) {
  ordered_json rates = ordered_json::array();
  for (const Rate& rate : roofs.rates()) rates.push_back(rate_json(rate));
  const std::string& sheet = roofs.data_sheet();
  return {{"device", roofs.name()},
          {"data_sheet", sheet.empty() ? ordered_json(nullptr) : ordered_json(sheet)},
          {"memory_bytes", nullable(roofs.memory_bytes())},
          {"launch_floor_s", nullable(roofs.launch_floor_s())},
          {"roofs", rates}};
}

std::string text_of(const ordered_json& value) {
  return value.is_null() ? "unknown" : printable(value.get<std::string>());
}

std::string quantity(const ordered_json& value, std::string_view unit) {
  return value.is_null() ? "unknown" : with_unit(value.get<double>(), unit);
}

void print_source(const ordered_json& fact) {
  fmt::print("      source: {}\n", text_of(fact["source"]));
  if (!fact["doubt"].is_null()) fmt::print("      doubt: {}\n", text_of(fact["doubt"]));
}

void print_list(const char* title, const ordered_json& texts) {
  if (!texts.empty()) fmt::print("{}\n", title);
  for (const auto& text : texts) fmt::print("  {}\n", text_of(text));
}

// Only NVIDIA's devices have a compute capability and SMs.
const char* unit_of(const ordered_json& sheet) {
  return sheet["compute_capability"].is_null() ? "compute unit" : "SM";
}

void print_head(const ordered_json& sheet) {
  fmt::print("{}: {}\n{} {}", text_of(sheet["device"]), text_of(sheet["title"]),
             text_of(sheet["vendor"]), text_of(sheet["architecture"]));
  if (!sheet["compute_capability"].is_null()) {
    fmt::print(", compute capability {}", text_of(sheet["compute_capability"]));
  }
  const int units = sheet["sms"].get<int>();
  fmt::print(", {} {}{}, power {}\n", units, unit_of(sheet), units == 1 ? "" : "s",
             quantity(sheet["tdp_w"], "W"));
  if (sheet["aliases"].empty()) return;
  const auto aliases = sheet["aliases"].get<std::vector<std::string>>();
  fmt::print("also called: {}\n", printable(fmt::format("{}", fmt::join(aliases, ", "))));
}

void print_peak(const ordered_json& peak, const char* unit) {
  fmt::print("  {:<9} {:<6} {} with {} sums", text_of(peak["format"]), text_of(peak["engine"]),
             quantity(peak["flops_per_s"], "FLOP/s"), text_of(peak["accumulator"]));
  if (!peak["clock_hz"].is_null()) fmt::print(", at {} MHz", peak["clock_hz"].get<double>() / 1e6);
  if (!peak["flops_per_clock_per_sm"].is_null()) {
    fmt::print(", {:g} FLOP per clock and {}", peak["flops_per_clock_per_sm"].get<double>(), unit);
  }
  fmt::print("\n");
  print_source(peak);
}

void print_memory(const ordered_json& memory) {
  fmt::print("memory\n  {} {}, {}", quantity(memory["bytes"], "B"), text_of(memory["kind"]),
             quantity(memory["bandwidth_bytes_per_s"], "B/s"));
  if (!memory["pins_bytes_per_s"].is_null()) {
    fmt::print("; its pins carry {}", quantity(memory["pins_bytes_per_s"], "B/s"));
  }
  fmt::print("\n");
  print_source(memory);
  if (memory["usable_bytes"].is_null()) return;
  fmt::print("  {} usable\n      source: {}\n", quantity(memory["usable_bytes"], "B"),
             text_of(memory["usable_source"]));
}

void print_sheet(const ordered_json& sheet) {
  print_head(sheet);
  fmt::print("dense peaks\n");
  for (const auto& peak : sheet["peaks"]) print_peak(peak, unit_of(sheet));
  print_memory(sheet["memory"]);
  fmt::print("L2 cache\n  {}\n", quantity(sheet["l2"]["bytes"], "B"));
  print_source(sheet["l2"]);
  print_list("sources", sheet["sources"]);
  print_list("other doubts", sheet["doubts"]);
}

std::string kind_of(const ordered_json& rate) {
  if (!rate["written_fraction"].is_null()) {
    return fmt::format("memory, {:.0f} % written", 100 * rate["written_fraction"].get<double>());
  }
  return fmt::format("{} {}", text_of(rate["format"]), text_of(rate["resource"]));
}

void print_measured(const ordered_json& facts) {
  fmt::print("{}\ndata sheet: {}\nmemory: {}\nlaunch floor: {}\nroofs\n", text_of(facts["device"]),
             facts["data_sheet"].is_null() ? "none" : text_of(facts["data_sheet"]),
             quantity(facts["memory_bytes"], "B"), quantity(facts["launch_floor_s"], "s"));
  for (const auto& rate : facts["roofs"]) {
    const auto unit = rate["unit"].get<std::string>();
    fmt::print("  {:<22} {}\n      measured by: {}\n", kind_of(rate),
               quantity(rate["rate"], unit == "byte/s" ? "B/s" : unit),
               text_of(rate["measured_by"]));
  }
}

}  // namespace

ordered_json data_sheet_json(const DeviceSpec& sheet) {
  ordered_json peaks = ordered_json::array();
  for (const Peak& peak : sheet.peaks) peaks.push_back(peak_json(peak));
  const auto& memory = sheet.memory;
  ordered_json pins = nullptr;
  if (memory.pins) pins = memory.pins->bandwidth_bytes_per_s();
  ordered_json usable = nullptr;
  ordered_json usable_source = nullptr;
  if (memory.usable) {
    usable = memory.usable->bytes;
    usable_source = memory.usable->source;
  }
  return {{"device", sheet.name},
          {"aliases", sheet.aliases},
          {"title", sheet.title},
          {"vendor", sheet.vendor},
          {"architecture", sheet.architecture},
          {"compute_capability", nullable(sheet.compute_capability)},
          {"names", sheet.match_names},
          {"pci_ids", sheet.pci_ids},
          {"sms", sheet.sms},
          {"tdp_w", nullable(sheet.tdp_w)},
          {"peaks", peaks},
          {"memory",
           {{"kind", memory.kind},
            {"bytes", memory.bytes},
            {"usable_bytes", usable},
            {"usable_source", usable_source},
            {"bandwidth_bytes_per_s", memory.bandwidth_bytes_per_s},
            {"pins_bytes_per_s", pins},
            {"source", memory.source},
            {"doubt", nullable(memory.doubt)}}},
          {"l2",
           {{"bytes", nullable(sheet.l2.bytes)},
            {"source", sheet.l2.source},
            {"doubt", nullable(sheet.l2.doubt)}}},
          {"sources", sheet.sources},
          {"doubts", sheet.doubts}};
}

ordered_json device_facts(const std::string& device) {
  std::error_code ignored;  // a path without access counts as unknown
  if (find_data_sheet(device) != nullptr || std::filesystem::is_regular_file(device, ignored)) {
    return data_sheet_json(open_data_sheet(device));
  }
  return measured_json(open_roofs(device));
}

void print_device_facts(const ordered_json& facts) {
  if (facts.contains("roofs")) {
    print_measured(facts);
  } else {
    print_sheet(facts);
  }
}

}  // namespace ridgebench
