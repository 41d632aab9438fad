// The mbarriers in the shared memory of one block. Source: PTX ISA, "mbarrier": a phase completes
// when no arrival is pending and all expected bytes have arrived.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ridgebench::emulator {

class SharedMemory;

struct MBarrier {
  std::uint32_t count;    // arrivals that complete a phase
  std::uint32_t pending;  // arrivals still missing
  std::int64_t bytes;     // expected and not arrived
  std::uint64_t phase;    // number of completed phases
  unsigned by;            // the thread that initialised it
  bool published;         // visible to TMA and other blocks

  // Whether the latest phase of this parity has completed; true for parity 1 of a fresh barrier.
  [[nodiscard]] bool ended(unsigned parity) const { return (phase & 1U) != parity; }
};

class MBarriers {
 public:
  explicit MBarriers(const SharedMemory& shared) : shared_(shared) {}

  void init(std::uint32_t address, std::int64_t count, unsigned thread);
  // fence.mbarrier_init, or a proxy fence, by the thread that initialised them.
  void publish(unsigned thread);

  // Faults where no barrier exists or, `from_afar`, where TMA and other blocks may not see it yet.
  MBarrier& at(std::uint32_t address, bool from_afar = false);

  // Returns whether the phase completes.
  bool arrive(std::uint32_t address, bool from_afar);
  void expect(std::uint32_t address, std::int64_t bytes);
  bool complete(std::uint32_t address, std::int64_t bytes);

  // A description of what a phase lacks.
  std::string text(std::uint32_t address, unsigned parity);

 private:
  void add_bytes(MBarrier& barrier, std::int64_t bytes);
  static bool end_phase(MBarrier& barrier);

  const SharedMemory& shared_;
  std::map<std::uint32_t, MBarrier> barriers_;
};

}  // namespace ridgebench::emulator
