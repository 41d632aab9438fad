// Data sheets: what a vendor promises of a device. Dense peaks only; the number with 2:4 sparsity
// is twice as large and promises another operation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// One promised rate, with the clock that the promise assumes: a device that holds another clock has
// another peak, flops_per_clock_per_sm x SMs x clock.
struct Peak {
  Format format;
  Engine engine;  // fma or tensor
  Format accumulator;
  double flops_per_s;
  double clock_hz;
  double flops_per_clock_per_sm;
  std::string source;
  std::optional<std::string> doubt;
};

// The memory's pins, whose rate nothing can exceed.
struct Pins {
  double bus_bits;
  double memory_clock_hz;

  // Both edges of the clock carry data.
  [[nodiscard]] double bandwidth_bytes_per_s() const { return bus_bits / 8 * 2 * memory_clock_hz; }
};

struct MemorySpec {
  std::string kind;
  double bytes;
  double bandwidth_bytes_per_s;
  std::optional<Pins> pins;
  std::string source;
  std::optional<std::string> doubt;
};

struct CacheSpec {
  std::optional<double> bytes;
  std::string source;
  std::optional<std::string> doubt;
};

struct DeviceSpec {
  std::string name;  // lower case, as on the command line
  std::vector<std::string> aliases;
  std::string title;
  std::string vendor;
  std::string architecture;
  std::string compute_capability;
  std::vector<std::string> match_names;  // whole device names as CUDA reports them
  std::vector<std::string> pci_ids;      // "10de:2330"
  int sms;
  std::vector<Peak> peaks;
  MemorySpec memory;
  CacheSpec l2;
  double tdp_w;
  std::vector<std::string> sources;
  std::vector<std::string> doubts;  // on what has no doubt of its own: SM count, power

  // The fastest engine for a format with fp32 accumulation; null if the device has none.
  [[nodiscard]] const Peak* best_peak(Format format) const;
};

// Every sheet of roofline/devices, sorted by name; they are part of the binary.
const std::vector<DeviceSpec>& data_sheets();

// By name or alias, in any case; null if there is none.
const DeviceSpec* find_data_sheet(std::string_view name);

// The names of all sheets, as error messages list them: "a100-80-sxm, b200, ...".
std::string data_sheet_names();

// The sheet of a device found in this machine, by its whole name, else by PCI id; null if there is
// none. A slice of a device (MIG) matches none: it has only a part of the peaks.
const DeviceSpec* match_data_sheet(std::string_view device_name, std::string_view pci_id);

// Reads a sheet; `origin` (a file name) opens every message. Throws UsageError for a sheet that is
// malformed, has absurd values, or whose peaks disagree with their own clocks without a doubt.
DeviceSpec parse_data_sheet(std::string_view text, std::string_view origin);

}  // namespace ridgebench
