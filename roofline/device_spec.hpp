// A data sheet holds the rates that a vendor promises for a device. All peaks are dense: the number
// with 2:4 sparsity is twice as large and belongs to another operation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// The promised rate of an engine at clock_hz. The peak at another clock is
// flops_per_clock_per_sm x SMs x clock. What the vendor does not publish of the two is empty.
struct Peak {
  Format format;
  Engine engine;  // fma or tensor
  Format accumulator;
  double flops_per_s;
  std::optional<double> clock_hz;
  std::optional<double> flops_per_clock_per_sm;
  std::string source;
  std::optional<std::string> doubt;
};

// Memory traffic cannot exceed the rate of the memory's pins.
struct Pins {
  double bus_bits;
  double memory_clock_hz;

  // Both edges of the clock carry data.
  [[nodiscard]] double bandwidth_bytes_per_s() const { return bus_bits / 8 * 2 * memory_clock_hz; }
};

// Bytes that a program can use. The name of a device, such as 80 GB, mostly means GiB, of which the
// driver and ECC take a part.
struct UsableMemory {
  double bytes;
  std::string source;
};

struct MemorySpec {
  std::string kind;
  double bytes;  // the decimal number of the device's name: 80e9 for 80 GB
  std::optional<UsableMemory> usable;
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
  std::optional<std::string> compute_capability;  // of NVIDIA's devices
  // Whole names as CUDA, lspci (without its vendor) or JAX prints them.
  std::vector<std::string> match_names;
  std::vector<std::string> pci_ids;  // "10de:2330"
  int sms;  // streaming multiprocessors; AMD's compute units; TensorCores of a TPU
  std::vector<Peak> peaks;
  MemorySpec memory;
  CacheSpec l2;
  std::optional<double> tdp_w;
  std::vector<std::string> sources;
  std::vector<std::string> doubts;  // about values without a `doubt` of their own: SM count, power

  // Returns the highest peak of a format with sums in sum_format(); null if the device has none.
  [[nodiscard]] const Peak* best_peak(Format format) const;
};

// Returns all sheets of roofline/devices, sorted by name. The binary contains them.
const std::vector<DeviceSpec>& data_sheets();

// Finds a sheet by its name or alias, or by the name of a device as nvidia-smi prints it, with or
// without NVIDIA before it. Ignores case. Returns null if there is none.
const DeviceSpec* find_data_sheet(std::string_view name);

// Returns the names of all sheets for error messages: "a100-80-sxm, b200, ...".
std::string data_sheet_names();

// Returns "nearest: h200; " for the name or alias that is most like `name`; empty if none is.
std::string nearest_data_sheet(std::string_view name);

// Returns the sheet that such a name or the path of a sheet's file represents. Throws UsageError.
DeviceSpec open_data_sheet(const std::string& name);

// Finds the sheet of a device in this machine by the whole name, else by the PCI id. Returns null
// if there is none. A slice of a device (MIG) and a virtual GPU have a part of the peaks only and
// match no sheet.
const DeviceSpec* match_data_sheet(std::string_view device_name, std::string_view pci_id);

// Reads a sheet. Every message starts with `origin`, a file name. Throws UsageError if the sheet is
// malformed, if a value is out of range, or if a peak without a doubt contradicts its clock.
DeviceSpec parse_data_sheet(std::string_view text, std::string_view origin);

}  // namespace ridgebench
