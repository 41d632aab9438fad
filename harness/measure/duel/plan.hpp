// Chooses the duels of a request.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/duel/duel.hpp"

namespace ridgebench {

// Seconds of a duel without --seconds: 1 to warm up, 4 at the short scale, 21 at the long one.
inline constexpr double kDuelSeconds = 26;

// What a user asks of `duel`.
struct DuelRequest {
  std::vector<std::string> techniques;  // two, or none for the profile
  std::string operation;
  std::string format;
  std::string shape;
  std::optional<double> seconds;  // of each duel
  bool against_itself = false;    // each first technique against itself
};

// The one duel of a request with two techniques on each device, or the duels of the quick profile.
// Throws UsageError, in one line that names what is allowed.
std::vector<DuelCase> choose_duels(const DuelRequest& request,
                                   const std::vector<std::unique_ptr<Device>>& devices);

// Estimated seconds of a duel with its checks.
double planned_s(const DuelCase& duel);

}  // namespace ridgebench
