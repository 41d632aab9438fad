// NVIDIA's management library, loaded when a GPU is opened: clocks, power, temperature. Reads only;
// what it cannot read is empty.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ridgebench {

// Rows of memory that spare ones replaced, after errors that ECC corrected or could not.
struct RemappedRows {
  unsigned corrected;
  unsigned uncorrected;
  bool pending;  // until the next reset
  bool failed;
};

class Nvml {
 public:
  // The device with this UUID ("GPU-..." or "MIG-..."). Null, with the cause in `reason`, where the
  // library or the device is missing.
  static std::unique_ptr<Nvml> open(const std::string& uuid, std::string& reason,
                                    const std::string& library = "libnvidia-ml.so.1");
  Nvml(const Nvml&) = delete;  // owns the library
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  [[nodiscard]] std::optional<double> sm_clock_hz() const;
  [[nodiscard]] std::optional<double> memory_clock_hz() const;
  [[nodiscard]] std::optional<double> max_sm_clock_hz() const;
  [[nodiscard]] std::optional<double> max_memory_clock_hz() const;
  [[nodiscard]] std::optional<double> power_w() const;
  // The limit in force; what the board comes with; and what it may be set to.
  [[nodiscard]] std::optional<double> power_limit_w() const;
  [[nodiscard]] std::optional<double> default_power_limit_w() const;
  [[nodiscard]] std::optional<double> least_power_limit_w() const;
  [[nodiscard]] std::optional<double> most_power_limit_w() const;
  // Since the driver was loaded.
  [[nodiscard]] std::optional<double> energy_j() const;
  [[nodiscard]] std::optional<double> temperature_c() const;
  // Of the memory: some boards report it.
  [[nodiscard]] std::optional<double> memory_temperature_c() const;
  // P0, the fastest, to P15 (nvmlPstates_t).
  [[nodiscard]] std::optional<unsigned> performance_state() const;
  // Bits of kClockEvents.
  [[nodiscard]] std::optional<std::uint64_t> clock_events() const;
  // Processes that compute on the device, this one included.
  [[nodiscard]] std::optional<unsigned> processes() const;
  // In force now; what a reset will put in force.
  [[nodiscard]] std::optional<bool> ecc() const;
  [[nodiscard]] std::optional<bool> pending_ecc() const;
  [[nodiscard]] std::optional<bool> mig() const;
  [[nodiscard]] std::optional<bool> persistence() const;
  // What an administrator set; equal to the highest clock where nobody did.
  [[nodiscard]] std::optional<double> application_sm_clock_hz() const;
  // 0: any process may use the device, 2: none, 3: one at a time (nvmlComputeMode_t).
  [[nodiscard]] std::optional<unsigned> compute_mode() const;
  // The link to the host, now: an idle one may run slower than it could.
  [[nodiscard]] std::optional<unsigned> pcie_generation() const;
  [[nodiscard]] std::optional<unsigned> most_pcie_generation() const;
  [[nodiscard]] std::optional<unsigned> pcie_lanes() const;
  [[nodiscard]] std::optional<unsigned> most_pcie_lanes() const;
  [[nodiscard]] std::optional<std::string> vbios() const;
  [[nodiscard]] std::optional<std::string> board_part_number() const;
  [[nodiscard]] std::optional<std::string> inforom() const;
  [[nodiscard]] std::optional<std::string> gsp_firmware() const;
  [[nodiscard]] std::optional<std::string> driver() const;
  // Seconds for which the power limit, or heat, lowered the clock; errors of memory that ECC
  // corrected or could not: all since the driver was loaded.
  [[nodiscard]] std::optional<double> power_capped_s() const;
  [[nodiscard]] std::optional<double> heat_capped_s() const;
  [[nodiscard]] std::optional<double> corrected_errors() const;
  [[nodiscard]] std::optional<double> uncorrected_errors() const;
  [[nodiscard]] std::optional<RemappedRows> remapped_rows() const;
  // Links to other GPUs that are up; empty where the board has none.
  [[nodiscard]] std::optional<unsigned> nvlinks() const;

 private:
  struct Functions;
  Nvml(std::shared_ptr<void> library, std::unique_ptr<Functions> functions, void* device);

  std::shared_ptr<void> library_;
  std::unique_ptr<Functions> functions_;
  void* device_;
};

// Why the clock is not the highest. Source: NVML API reference, nvmlClocksEventReasons.
struct ClockEvent {
  std::uint64_t bit;
  const char* name;
};
std::vector<std::string> names_of_clock_events(std::uint64_t bits);

}  // namespace ridgebench
