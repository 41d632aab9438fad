// Addresses of the shared memory of a whole cluster, as mapa makes them: of PTX's window
// shared::cluster, in which the addresses of a block's own memory mean the same as ever.
#pragma once

#include <cstdint>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/hopper/cluster.hpp"

namespace ridgebench::emulator {

struct ClusterAddress {
  Block* block;
  std::uint32_t address;  // there
};

inline constexpr unsigned kRankShift = 24;  // above every address of shared memory

inline std::uint32_t map_address(std::uint32_t address, std::uint32_t rank) {
  return address | (rank + 1) << kRankShift;
}

// Faults where the block has ended.
inline ClusterAddress cluster_address(std::uint32_t address) {
  Block& own = Block::current();
  const std::uint32_t rank = address >> kRankShift;
  if (rank == 0) return {&own, address};
  return {&own.cluster().block(rank - 1), address & ((1U << kRankShift) - 1U)};
}

}  // namespace ridgebench::emulator
