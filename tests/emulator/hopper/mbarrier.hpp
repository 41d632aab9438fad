// The mbarriers in the shared memory of one block. Source: PTX ISA, "mbarrier": a phase ends when
// no arrival is pending and the bytes that came are those that were announced.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ridgebench::emulator {

class SharedMemory;

struct MBarrier {
  std::uint32_t count;    // arrivals that end a phase
  std::uint32_t pending;  // of which are still to come
  std::int64_t bytes;     // announced and not come
  std::uint64_t phase;    // how many have ended
  unsigned by;            // the thread that initialised it
  bool published;         // seen by TMA and other blocks

  // Whether the latest phase of this parity has ended. Of a fresh barrier that is parity 1.
  [[nodiscard]] bool ended(unsigned parity) const { return (phase & 1U) != parity; }
};

class MBarriers {
 public:
  explicit MBarriers(const SharedMemory& shared) : shared_(shared) {}

  void init(std::uint32_t address, std::int64_t count, unsigned thread);
  // fence.mbarrier_init, or a proxy fence, of the thread that initialised them.
  void publish(unsigned thread);

  // Faults where there is none, or, `from_afar`, where TMA or other blocks may not see it yet.
  MBarrier& at(std::uint32_t address, bool from_afar = false);

  // True where they end the phase.
  bool arrive(std::uint32_t address, bool from_afar);
  void expect(std::uint32_t address, std::int64_t bytes);
  bool complete(std::uint32_t address, std::int64_t bytes);

  // What keeps a phase from ending, for people.
  std::string text(std::uint32_t address, unsigned parity);

 private:
  void add_bytes(MBarrier& barrier, std::int64_t bytes);
  static bool end_phase(MBarrier& barrier);

  const SharedMemory& shared_;
  std::map<std::uint32_t, MBarrier> barriers_;
};

}  // namespace ridgebench::emulator
