// Chooses the duels of a request.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/duels/process_ratio.hpp"
#include "harness/measure/duel/duel.hpp"
#include "harness/results/environment.hpp"

namespace ridgebench {

// Seconds of a duel's process without --seconds: 1 to warm up, 5 at the short scale, 21 at the long
// one.
inline constexpr double kDuelSeconds = 27;

// Processes of a duel on a device whose processes differ: of a duel with two named techniques, and
// of the profile. A duel with few seconds has fewer, but each has kShortestProcess_s.
inline constexpr int kDuelProcesses = 40;
inline constexpr int kProfileProcesses = 20;
inline constexpr double kShortestProcess_s = 0.1;
// Processes of a duel with two named techniques on another device whose power settles slowly, and
// the fewest seconds of each: 1 to warm up, 5 at the short scale, and three long quads. A duel with
// less time has one process. The profile has one.
inline constexpr int kGpuProcesses = kFewestProcesses;
inline constexpr double kWholeProcess_s = 22;
inline constexpr int kMostProcesses = 1000;

// A user's request to `duel`.
struct DuelRequest {
  std::vector<std::string> techniques;  // two, or none for the profile
  CaseNames names;                // without techniques; operations and formats narrow a profile
  std::optional<double> seconds;  // of each duel
  std::optional<int> processes;   // of each duel
  bool against_itself = false;    // each first technique against itself
  std::optional<Regime> regime;   // steady or cold; of a profile, only its duels of this regime
};

// The duels of a request with two techniques, one for each device, operation, format and shape, or
// the duels of the quick profile. Throws UsageError, in one line that names what is allowed.
std::vector<DuelCase> choose_duels(const DuelRequest& request,
                                   const std::vector<std::unique_ptr<Device>>& devices);

// Estimated seconds of a duel with its checks.
double planned_s(const DuelCase& duel);

}  // namespace ridgebench
