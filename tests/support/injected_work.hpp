// A host whose kernels do work that is added on purpose, so that scripts/prove_gate.sh can prove
// that a comparison finds it: `--device injected` of the tests' binary, with
// RIDGEBENCH_INJECT_WORK=K/N. Of every N launches that a kernel's batch counts, K run another
// launch of the rotation as well. It is real work, and costs K/N exactly where a launch costs the
// same each time. 0/N adds none but times batches of whole groups of N alike: what to compare with.
// Ceilings and cold launches stay as they are. The device is called "cpu", so that the ids of its
// cases are a host's, and the telemetry of a case that it slowed says `injected_work`. Its memory
// has the wrong bits of faulty_memory.hpp.
#pragma once

#include <string>
#include <vector>

#include "harness/device/cpu/device.hpp"
#include "tests/support/faulty_memory.hpp"

namespace ridgebench {

inline constexpr const char* kInjectedWorkVariable = "RIDGEBENCH_INJECT_WORK";
inline constexpr const char* kInjectedWorkKey = "injected_work";

struct InjectedWork {
  int extra = 0;    // launches added
  int counted = 1;  // per group of as many launches that are counted
};

// Adds nothing if the variable is not set. Throws UsageError for a value that is not a share.
InjectedWork injected_work();

// The rotation repeated until whole groups of `work.counted` launches fill it, `work.extra` of each
// group with a second launch, of the set half a rotation away.
std::vector<Launch> inject(std::span<const Launch> rotation, const InjectedWork& work);

class InjectedWorkDevice final : public CpuDevice {
 public:
  explicit InjectedWorkDevice(const InjectedWork& work);

  void begin_case(const std::string& id) override;
  nlohmann::ordered_json end_case() override;
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override;
  [[nodiscard]] DeviceMemory& memory() override { return faulty_ ? *faulty_ : CpuDevice::memory(); }

 private:
  InjectedWork work_;
  std::unique_ptr<FaultyMemory> faulty_;
  bool slows_ = false;  // the present case
};

}  // namespace ridgebench
