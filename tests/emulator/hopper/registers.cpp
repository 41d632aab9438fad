#include "tests/emulator/hopper/registers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tests/emulator/core/thread.hpp"
#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {
namespace {

constexpr std::size_t kRegisters = 65536;  // of a streaming multiprocessor
constexpr std::size_t kMostPerThread = 255;
constexpr unsigned kWarps = kWarpgroup / kWarp;

// Registers per thread of a kernel compiled for one block per multiprocessor: ptxas rounds the
// block up to whole warpgroups and the registers down to a multiple of 8.
unsigned registers_at_entry(std::size_t threads) {
  const std::size_t whole = (threads + kWarpgroup - 1) / kWarpgroup * kWarpgroup;
  return static_cast<unsigned>(std::min(kRegisters / whole / 8 * 8, kMostPerThread));
}

}  // namespace

Registers::Registers(std::size_t threads)
    : at_entry_(registers_at_entry(threads)), of_warp_((threads + kWarp - 1) / kWarp) {}

void Registers::set(unsigned warp, std::int64_t count, bool increase) {
  if (count < 24 || count > 256 || count % 8 != 0) {
    fault(fmt::format("setmaxnreg of {} registers", count));
  }
  if (of_warp_[warp] != 0) fault("setmaxnreg a second time");
  if (increase ? count < at_entry_ : count > at_entry_) {
    fault(fmt::format("setmaxnreg from {} to {} registers: the wrong way", at_entry_, count));
  }
  of_warp_[warp] = static_cast<unsigned>(count);
}

void Registers::finish() const {
  unsigned sum = 0;
  unsigned groups = 0;
  for (std::size_t first = 0; first < of_warp_.size(); first += kWarps, ++groups) {
    const std::size_t end = std::min(first + kWarps, of_warp_.size());
    for (std::size_t warp = first; warp < end; ++warp) {
      if (of_warp_[warp] != of_warp_[first]) fault("setmaxnreg by a part of a warpgroup");
    }
    sum += of_warp_[first] == 0 ? at_entry_ : of_warp_[first];
  }
  if (sum > groups * at_entry_) {
    fault(
        fmt::format("setmaxnreg waits for ever: {} registers per thread of each warpgroup where "
                    "{} were launched",
                    sum, groups * at_entry_));
  }
}

}  // namespace ridgebench::emulator
