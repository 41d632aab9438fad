// The wgmmas that a warp has started: its 16 rows of each. The hardware may read shared memory and
// write accumulators at any time until the wait for the group, so accumulators are NaN from the
// issue on, and the emulator does the work at the wait. In the opposite order, it reads operands as
// soon as the warp reaches the instruction. A in registers must stay the same from wgmma.fence to
// the wait. Source: PTX ISA, "Asynchronous wgmma".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/emulator/core/thread.hpp"
#include "tests/emulator/hopper/wgmma.hpp"

namespace ridgebench::emulator {

class SharedMemory;

// Accumulators of a warp with wgmmas in flight, hidden from the kernel.
struct Accumulator {
  Lanes sums;  // the lanes' arrays
  unsigned columns;
  Format format;              // of the sums
  std::vector<double> value;  // of 16 rows
  unsigned under_way = 0;     // wgmmas in flight
};

using FragmentLanes = std::array<const std::uint32_t*, kWarp>;  // null: A is in shared memory

// 16 rows of A and all columns of B.
struct Operands {
  std::vector<double> a, b;
};

// Descriptors of 32 bytes of k each, which B consists of: two where A is sparse.
std::vector<std::uint64_t> parts_of_b(const Wgmma& product);

class WarpProducts {
 public:
  void fence();
  // The lane wrote A's registers, which the next wgmma.fence orders.
  void write_fragment(unsigned lane, const std::uint32_t* fragment);
  // Called when a lane reaches the next wgmma: the first lane reads the operands.
  void read_now(const Wgmma& product, unsigned rank_in_warpgroup, const SharedMemory& shared);
  void issue(const Wgmma& product, const Lanes& sums, const FragmentLanes& fragments,
             unsigned rank_in_warpgroup);
  void commit();
  // Waits for all but the newest `pending` groups.
  void wait(std::size_t pending, const SharedMemory& shared);
  [[nodiscard]] bool idle() const { return groups_.empty() && open_.empty(); }

 private:
  struct Started {
    Wgmma product;
    unsigned rank_in_warpgroup;
    std::shared_ptr<Accumulator> accumulator;
    std::optional<Operands> operands;  // empty: not read yet
    FragmentLanes fragments;
    std::array<FragmentA, kWarp> words;  // of the fragments, at the issue
  };
  using Group = std::vector<Started>;

  using Fragments = std::map<const std::uint32_t*, FragmentA>;

  std::shared_ptr<Accumulator> accumulator(const Wgmma& product, const Lanes& sums);
  // What the registers hold. Faults where no fence came after they were written.
  [[nodiscard]] FragmentA fenced(unsigned lane, const std::uint32_t* fragment) const;
  void end(const Started& started, const SharedMemory& shared);

  bool fenced_ = false;
  std::array<Fragments, kWarp> written_, ordered_;  // before and by the newest fence
  std::optional<Operands> next_operands_;
  Group open_;
  std::vector<Group> groups_;  // oldest first
  std::vector<std::shared_ptr<Accumulator>> accumulators_;
};

}  // namespace ridgebench::emulator
