// setmaxnreg: the registers of the warps of a block. Source: PTX ISA, "setmaxnreg": warps take from
// the block's registers at launch, and wait for ever where those do not suffice.
#pragma once

#include <cstdint>
#include <vector>

namespace ridgebench::emulator {

class Registers {
 public:
  explicit Registers(std::size_t threads);

  // Called once by all lanes of a warp.
  void set(unsigned warp, std::int64_t count, bool increase);
  // Called when the block ends: faults where an increase would have waited for ever.
  void finish() const;

 private:
  unsigned at_entry_;              // of a thread
  std::vector<unsigned> of_warp_;  // a thread's; 0: unchanged
};

}  // namespace ridgebench::emulator
