// setmaxnreg: how many registers the warps of a block have. Source: PTX ISA, "setmaxnreg": warps
// take from what the block was launched with, and wait for ever where there is not enough.
#pragma once

#include <cstdint>
#include <vector>

namespace ridgebench::emulator {

class Registers {
 public:
  explicit Registers(std::size_t threads);

  // All lanes of a warp, once.
  void set(unsigned warp, std::int64_t count, bool increase);
  // The block has ended: faults where an increase would have waited for ever.
  void finish() const;

 private:
  unsigned at_entry_;              // of a thread
  std::vector<unsigned> of_warp_;  // a thread's; 0: unchanged
};

}  // namespace ridgebench::emulator
