// The wgmmas that a warp has started: its 16 rows of each. The hardware may read shared memory and
// write accumulators at any time until the wait for the group, so accumulators are NaN from the
// issue on, and the emulator does the work at the wait. In the opposite order, it reads operands as
// soon as the warp reaches the instruction. Source: PTX ISA, "Asynchronous wgmma".
#pragma once

#include <cstddef>
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
  std::vector<float> value;  // of 16 rows
  unsigned under_way = 0;    // wgmmas in flight
};

// 16 rows of A and all columns of B.
struct Operands {
  std::vector<double> a, b;
};

class WarpProducts {
 public:
  void fence() { fenced_ = true; }
  // Called when a lane reaches the next wgmma: the first lane reads the operands.
  void read_now(const Wgmma& product, unsigned rank_in_warpgroup, const SharedMemory& shared);
  void issue(const Wgmma& product, const Lanes& sums, unsigned rank_in_warpgroup);
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
  };
  using Group = std::vector<Started>;

  std::shared_ptr<Accumulator> accumulator(const Wgmma& product, const Lanes& sums);
  void end(const Started& started, const SharedMemory& shared);

  bool fenced_ = false;
  std::optional<Operands> next_operands_;
  Group open_;
  std::vector<Group> groups_;  // oldest first
  std::vector<std::shared_ptr<Accumulator>> accumulators_;
};

}  // namespace ridgebench::emulator
