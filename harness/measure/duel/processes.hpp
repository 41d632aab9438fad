// Measures a duel in several processes, one after the other. On a host the pages of buffers and of
// libraries differ from process to process, and with them the times of both techniques.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "harness/measure/duel/duel_case.hpp"
#include "harness/results/duel_record.hpp"
#include "kernels/common/random.hpp"

namespace ridgebench {

// Settings that all duels of a command share.
struct DuelSettings {
  Fill fill = Fill::normal;
  std::uint64_t seed = 1;
  bool early_launches = true;
  std::string device;  // as the user named it; empty: by the name of the case's device
};

// The hidden option of a process that measures one duel and prints its record.
inline constexpr const char* kOneProcess = "--one-process";

// Starts this program `duel.processes` times, each time with an equal share of the duel's seconds
// and with the next seed. A process that crashes, hangs or prints no record makes a failed duel.
// Throws Interrupted after `stop` returned true, and DeviceError if a process lost its device.
DuelRecord measure_in_processes(const DuelCase& duel, const DuelSettings& settings,
                                const std::function<bool()>& stop);

}  // namespace ridgebench
