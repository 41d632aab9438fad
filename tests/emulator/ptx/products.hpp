// The products of wgmma that a warp has started: its 16 rows of each. Shared memory may be read,
// and sums may be written, at any time until the group is waited for; so the sums are NaN from the
// issue on, and the work is done at the wait. Where the order of things is turned round, operands
// are read as soon as the warp comes to the instruction, whether or not the others have. Source:
// PTX ISA, "Asynchronous wgmma".
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tests/emulator/core/thread.hpp"
#include "tests/emulator/hopper/wgmma.hpp"

namespace ridgebench::emulator {

class SharedMemory;

// Sums of a warp that products are under way to: out of sight of the kernel.
struct Accumulator {
  Lanes sums;  // the lanes' arrays
  unsigned columns;
  std::vector<float> value;  // of 16 rows
  unsigned under_way = 0;    // products
};

// 16 rows of A and all columns of B.
struct Operands {
  std::vector<double> a, b;
};

class WarpProducts {
 public:
  void fence() { fenced_ = true; }
  // A lane comes to the next product: its operands are read, unless another lane came first.
  void read_now(const Wgmma& product, unsigned rank_in_warpgroup, const SharedMemory& shared);
  void issue(const Wgmma& product, const Lanes& sums, unsigned rank_in_warpgroup);
  void commit();
  // Waits for all groups but the newest `pending`.
  void wait(std::size_t pending, const SharedMemory& shared);
  [[nodiscard]] bool idle() const { return groups_.empty() && open_.empty(); }

 private:
  struct Started {
    Wgmma product;
    unsigned rank_in_warpgroup;
    std::shared_ptr<Accumulator> accumulator;
    std::optional<Operands> operands;  // nothing: not read yet
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
