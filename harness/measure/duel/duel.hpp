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

#include "harness/measure/buffers.hpp"
#include "harness/measure/duel/duel_case.hpp"
#include "harness/measure/duel/timing.hpp"
#include "harness/measure/verifying/output_check.hpp"
#include "harness/results/duel_record.hpp"

namespace ridgebench {

// State that the duels of one device share.
class Duelist {
 public:
  Duelist(Device& device, Fill fill, std::uint64_t seed);

  // A failure of the duel becomes the record's status and reason. Stops before the next block when
  // `stop` returns true. Throws Interrupted, and DeviceError if the device is lost.
  DuelRecord measure(const DuelCase& duel, const std::function<bool()>& stop);

 private:
  // A technique of the present duel.
  struct Contender {
    const Case* c;
    Plan plan;
    DuelSide* side;
    OutputCheck* check;
    std::vector<Launch> rotation = {};
  };

  void run_phases(DuelRecord& record, const DuelCase& duel, const std::function<bool()>& stop);
  std::array<Contender, 2> prepare(DuelRecord& record, const DuelCase& duel);
  // Binds both techniques to `sets` buffer sets. The arenas reserve memory for `later` sets.
  std::vector<BufferSet> bind(std::array<Contender, 2>& contenders, std::int64_t sets,
                              std::int64_t later);
  // These return why an output is wrong.
  std::optional<std::string> check_before(Contender& contender, const BufferSet& set);
  std::optional<std::string> check_after(Contender& contender, std::span<const BufferSet> sets);
  std::optional<std::string> stray_write(const Contender& contender);
  DuelTimes timed(const std::array<Contender, 2>& contenders, const DuelCase& duel,
                  const std::function<bool()>& stop);
  std::int64_t affordable_sets(const std::array<Contender, 2>& contenders, double seconds);

  Device* device_;
  Fill fill_;
  std::uint64_t seed_;
  Buffers buffers_;
  std::array<OutputCheck, 2> checks_;
};

}  // namespace ridgebench
