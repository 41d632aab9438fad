// Measures one duel: both techniques are bound to the same inputs and verified, timed in turns, and
// verified again. They write to the same outputs, so that no difference of addresses looks like one
// of techniques.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/bound_case.hpp"
#include "harness/measure/duel/duel_case.hpp"
#include "harness/measure/duel/timing.hpp"
#include "harness/results/duel_record.hpp"

namespace ridgebench {

// State that the duels of one device share.
class DuelMeasurer {
 public:
  DuelMeasurer(Device& device, Fill fill, std::uint64_t seed);

  // A failure of the duel becomes the record's status and reason. Stops before the next block when
  // `stop` returns true. Throws Interrupted, and DeviceError if the device is lost.
  DuelRecord measure(const DuelCase& duel, const std::function<bool()>& stop);

 private:
  // The two techniques of the present duel, in its order.
  using BoundPair = std::array<BoundCase, 2>;

  void run_phases(DuelRecord& record, const DuelCase& duel, const std::function<bool()>& stop);
  BoundPair prepare(DuelRecord& record, const DuelCase& duel, const Problem& problem);
  // Checks the first launch of a technique and adds what the device says of it. Returns why its
  // outputs are wrong.
  std::optional<std::string> check_first(BoundCase& bound, DuelSide& side);
  // Makes the duel suspect if a process of own kernels claims too little time.
  static void doubt_claims(DuelRecord& record, const BoundPair& pair);
  DuelTimes timed(const BoundPair& pair, const DuelCase& duel, const std::function<bool()>& stop);
  double slowest_launch_s(const BoundPair& pair);

  Device* device_;
  Fill fill_;
  std::uint64_t seed_;
  Buffers buffers_;
  std::array<OutputCheck, 2> checks_;
};

}  // namespace ridgebench
