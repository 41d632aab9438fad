#include "harness/cli/peak_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/build_info.hpp"
#include "harness/cli/device_facts.hpp"
#include "roofline/device_spec.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kHeaderTypes = R"c(
typedef struct {
  const char* format;
  const char* engine;            /* fma or tensor */
  const char* accumulator;       /* the format of the sums */
  double flops_per_s;            /* dense, without 2:4 sparsity */
  double clock_hz;               /* the clock that the peak assumes; 0: the vendor prints none */
  double flops_per_clock_per_sm; /* 0: unknown */
  const char* source;            /* labels of the device's sources */
  const char* doubt;             /* null: none */
} ridgebench_peak;

typedef struct {
  const char* name;
  const char* title;
  const char* vendor;
  const char* architecture;
  const char* const* aliases; /* these four lists end with a null pointer */
  const char* const* names;   /* whole names as CUDA, lspci or JAX prints them */
  const char* const* pci_ids; /* "10de:2330" */
  const char* const* sources;
  int sms;                      /* multiprocessors; AMD's compute units; TensorCores of a TPU */
  double power_w;               /* 0: unknown */
  double memory_bytes;          /* of the name: 80e9 for 80 GB */
  double bandwidth_bytes_per_s; /* of the memory */
  const char* memory_source;
  const char* memory_doubt; /* null: none */
  const ridgebench_peak* peaks;
  int peak_count;
} ridgebench_device;
)c";

// A string literal. Bytes outside ASCII are octal escapes, which have three digits and no more.
std::string c_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      literal += {'\\', c};
    } else if (byte < 0x20 || byte > 0x7e) {
      literal += fmt::format("\\{:03o}", byte);
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

std::string c_literal(const std::optional<std::string>& text) {
  return text ? c_literal(std::string_view(*text)) : "0";
}

// A double with the fewest digits that read back as the same; 0 for an unknown one.
std::string c_double(std::optional<double> value) {
  const std::string number = fmt::format("{}", value.value_or(0));
  return number.find_first_of(".e") == std::string::npos ? number + ".0" : number;
}

std::string c_list(std::string_view name, const std::vector<std::string>& texts) {
  std::string list = fmt::format("static const char* const {}[] = {{", name);
  for (const std::string& text : texts) list += c_literal(std::string_view(text)) + ", ";
  return list + "0};\n";
}

std::string c_peaks(const DeviceSpec& sheet, std::size_t index) {
  std::string rows =
      fmt::format("static const ridgebench_peak ridgebench_peaks_{}[] = {{\n", index);
  for (const Peak& peak : sheet.peaks) {
    fmt::format_to(
        std::back_inserter(rows), "  {{{}, {}, {}, {}, {}, {}, {}, {}}},\n",
        c_literal(info(peak.format).name), c_literal(std::string_view(name(peak.engine))),
        c_literal(std::string_view(info(peak.accumulator).name)), c_double(peak.flops_per_s),
        c_double(peak.clock_hz), c_double(peak.flops_per_clock_per_sm),
        c_literal(std::string_view(peak.source)), c_literal(peak.doubt));
  }
  return rows + "};\n";
}

// The lists that the entry of a device points to.
std::string c_parts(const DeviceSpec& sheet, std::size_t index) {
  const auto list = [&](std::string_view key, const std::vector<std::string>& texts) {
    return c_list(fmt::format("ridgebench_{}_{}", key, index), texts);
  };
  return list("aliases", sheet.aliases) + list("names", sheet.match_names) +
         list("pci_ids", sheet.pci_ids) + list("sources", sheet.sources) + c_peaks(sheet, index);
}

std::string c_device(const DeviceSpec& sheet, std::size_t index) {
  const MemorySpec& memory = sheet.memory;
  return fmt::format(
      "  {{{0}, {1}, {2}, {3},\n   ridgebench_aliases_{4}, ridgebench_names_{4}, "
      "ridgebench_pci_ids_{4}, ridgebench_sources_{4},\n   {5}, {6}, {7}, {8}, {9}, {10},\n   "
      "ridgebench_peaks_{4}, {11}}},\n",
      c_literal(std::string_view(sheet.name)), c_literal(std::string_view(sheet.title)),
      c_literal(std::string_view(sheet.vendor)), c_literal(std::string_view(sheet.architecture)),
      index, sheet.sms, c_double(sheet.tdp_w), c_double(memory.bytes),
      c_double(memory.bandwidth_bytes_per_s), c_literal(std::string_view(memory.source)),
      c_literal(memory.doubt), sheet.peaks.size());
}

}  // namespace

nlohmann::ordered_json peak_table() {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const DeviceSpec& sheet : data_sheets()) devices.push_back(data_sheet_json(sheet));
  return {{"version", build_info::version}, {"devices", devices}};
}

std::string peak_header() {
  std::string parts;
  std::string devices = "\nstatic const ridgebench_device ridgebench_devices[] = {\n";
  std::size_t index = 0;
  for (const DeviceSpec& sheet : data_sheets()) {
    parts += "\n" + c_parts(sheet, index);
    devices += c_device(sheet, index);
    ++index;
  }
  return fmt::format(
      "/* Peaks and bandwidths that vendors promise, in SI base units, with their sources.\n"
      " * Written by `ridgebench info --peaks c`, version {}. */\n"
      "#ifndef RIDGEBENCH_PEAKS_H\n#define RIDGEBENCH_PEAKS_H\n{}{}{}}};\n\n"
      "#define RIDGEBENCH_DEVICE_COUNT {}\n\n#endif\n",
      build_info::version, kHeaderTypes, parts, devices, index);
}

}  // namespace ridgebench
