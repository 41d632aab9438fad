// The mbarriers in the shared memory of one block. Source: PTX ISA, "mbarrier": a phase completes
// when no arrival is pending and all expected bytes have arrived.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ridgebench::emulator {

class SharedMemory;
struct Thread;

struct MBarrier {
  std::uint32_t count;    // arrivals that complete a phase
  std::uint32_t pending;  // arrivals still missing
  std::int64_t bytes;     // expected and not arrived
  std::uint64_t phase;    // number of completed phases
  unsigned by;            // the thread that initialised it
  bool published;         // visible to TMA and other blocks

  // True if the latest phase of this parity has completed; true for parity 1 of a fresh barrier.
  [[nodiscard]] bool ended(unsigned parity) const { return (phase & 1U) != parity; }
};

// The arrival of another block's thread. It may be under way until this block has seen the phase
// complete, or that thread has released it to the cluster.
struct FarArrival {
  const Thread* by;
  std::uint32_t address;
  std::uint64_t phase;
};

class MBarriers {
 public:
  explicit MBarriers(const SharedMemory& shared) : shared_(shared) {}

  void init(std::uint32_t address, std::int64_t count, unsigned thread);
  // fence.mbarrier_init, or a proxy fence, by the thread that initialised them.
  void publish(unsigned thread);

  // Faults where no barrier exists or, `from_afar`, where TMA and other blocks may not see it yet.
  MBarrier& at(std::uint32_t address, bool from_afar = false);

  // Returns whether the phase completes. `from_afar`: the thread of another block, or null.
  bool arrive(std::uint32_t address, const Thread* from_afar);
  // A thread of the block has seen that the barrier's latest phase has completed.
  void seen(std::uint32_t address);
  // A thread has released to the cluster what it did before.
  void released(const Thread* thread);
  // Faults where an arrival of another block may come after the end of this one.
  void finish() const;
  void expect(std::uint32_t address, std::int64_t bytes);
  bool complete(std::uint32_t address, std::int64_t bytes);

  // A description of what a phase lacks.
  std::string text(std::uint32_t address, unsigned parity);

 private:
  void add_bytes(MBarrier& barrier, std::int64_t bytes);
  static bool end_phase(MBarrier& barrier);

  const SharedMemory& shared_;
  std::map<std::uint32_t, MBarrier> barriers_;
  std::vector<FarArrival> under_way_;
};

}  // namespace ridgebench::emulator
