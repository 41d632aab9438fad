// NVIDIA's management library, loaded when a GPU is opened: clocks, power, temperature, settings.
// The suite reads them and sets nothing. Source of functions, structs and constants: NVML API
// reference. The code declares them itself, because toolkits without cuda-nvml-dev have no nvml.h.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/shared_library.hpp"

namespace ridgebench {

// A reading is empty if the library, an older one, lacks the function, or the device refuses.
class Nvml {
 public:
  // The device with this UUID ("GPU-..." or "MIG-..."). Null, with the cause in `reason`, where the
  // library or the device is missing.
  static std::unique_ptr<Nvml> open(const std::string& uuid, std::string& reason,
                                    const std::string& library = "libnvidia-ml.so.1");
  // Every GPU that the library lists, in the order and with the numbers of nvidia-smi:
  // {library: its file or null, status: of nvmlInit or null, driver: version of the kernel's
  // module, gpus: [{index, status, ...}]}. A GPU has the keys of inventory() and state_of(), and
  // those of condition(); one that the library cannot open has its status only. Opening may hang
  // where a driver is broken.
  static nlohmann::ordered_json survey(const std::string& library = "libnvidia-ml.so.1");
  Nvml(const Nvml&) = delete;  // owns a use of the library
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  // Settings and identity of the device, which a run does not change, under their keys of
  // environment.json. Empty readings are left out.
  [[nodiscard]] nlohmann::ordered_json inventory() const;

  [[nodiscard]] std::optional<double> sm_clock_hz() const;
  [[nodiscard]] std::optional<double> memory_clock_hz() const;
  // At this moment; where the driver lacks that, the mean of the last second.
  [[nodiscard]] std::optional<double> power_w() const;
  // Joules since the driver was loaded.
  [[nodiscard]] std::optional<double> energy_j() const;
  [[nodiscard]] std::optional<double> temperature_c() const;
  // Temperature of the memory, which some boards report.
  [[nodiscard]] std::optional<double> memory_temperature_c() const;
  // P0, the fastest, to P15 (nvmlPstates_t).
  [[nodiscard]] std::optional<unsigned> performance_state() const;
  // Bits of nvmlClocksEventReasons: why the clock is not the highest.
  [[nodiscard]] std::optional<std::uint64_t> clock_events() const;
  // Processes that compute on the device, this one included.
  [[nodiscard]] std::optional<unsigned> processes() const;
  // Since the driver was loaded: seconds for which the power limit, or heat, lowered the clock, and
  // memory errors that ECC corrected or could not correct.
  [[nodiscard]] std::optional<double> power_capped_s() const;
  [[nodiscard]] std::optional<double> heat_capped_s() const;
  [[nodiscard]] std::optional<double> corrected_errors() const;
  [[nodiscard]] std::optional<double> uncorrected_errors() const;
  // Rows of memory that spare rows replaced after ECC errors: {corrected, uncorrected, pending,
  // failed}; null if unknown. pending: until the next reset.
  [[nodiscard]] nlohmann::ordered_json remapped_rows() const;
  // Counters of parts that wear out: {ecc_lifetime: {corrected, uncorrected}, retired_pages:
  // {single_bit, double_bit}, spare_rows: banks of memory by the spare rows that are left, {max,
  // high, partial, low, none}, pcie_replays, nvlink_errors: {replay, recovery, crc_flit, crc_data}
  // of all links}. Empty readings are left out.
  [[nodiscard]] nlohmann::ordered_json wear() const;
  // Critical errors of the driver (XID) since the first call, which begins to listen.
  [[nodiscard]] std::optional<unsigned> xids() const;

 private:
  using Pair = std::pair<unsigned, unsigned>;

  Nvml(SharedLibrary library, void* device) : library_(std::move(library)), device_(device) {}

  // Calls `function`, whose parameters have the types of these arguments. Returns its nvmlReturn_t.
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const;
  // Returns the value that the function writes for the device, and for `what` of it.
  template <class Number = unsigned, class... What>
  [[nodiscard]] std::optional<Number> read(const char* function, What... what) const;
  // The same in SI units.
  template <class Number = unsigned, class... What>
  [[nodiscard]] std::optional<double> scaled(double unit, const char* function, What... what) const;
  [[nodiscard]] std::optional<Pair> pair(const char* function) const;
  // A field of nvmlDeviceGetFieldValues, all of which are unsigned.
  [[nodiscard]] std::optional<unsigned> field(unsigned field) const;
  [[nodiscard]] std::optional<std::string> text(const char* function) const;
  [[nodiscard]] std::optional<double> violation_s(unsigned limit) const;
  [[nodiscard]] std::optional<double> ecc_errors(unsigned kind) const;
  // Power limits, the link to the host, and the highest clocks.
  void add_limits(nlohmann::ordered_json& json) const;
  // Facts for `doctor` beside the inventory and the state: {model, pci_address, pci_id, uuid_hash,
  // memory_bytes, free_bytes, used_bytes, running: [{pid, used_bytes}], slices, slowdown_c,
  // pages_pending, fabric: {state, status}}. Empty readings are left out.
  [[nodiscard]] nlohmann::ordered_json condition() const;
  [[nodiscard]] nlohmann::ordered_json running() const;
  [[nodiscard]] std::optional<unsigned> slices() const;
  [[nodiscard]] nlohmann::ordered_json nvlink_errors() const;
  // Links to other GPUs that are up, and rows of memory that spare rows replaced after ECC errors.
  void add_health(nlohmann::ordered_json& json) const;

  SharedLibrary library_;
  void* device_;
  mutable void* events_ = nullptr;  // nvmlEventSet_t of xids()
  mutable unsigned xids_ = 0;
};

// "sw_power_cap", ... for bits of Nvml::clock_events.
std::vector<std::string> names_of_clock_events(std::uint64_t bits);

}  // namespace ridgebench
