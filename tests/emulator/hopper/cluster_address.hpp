// Addresses of the shared memory of a cluster, as mapa returns them: of PTX's window
// shared::cluster, which contains the addresses of the block's own memory unchanged.
#pragma once

#include <cstdint>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/hopper/cluster.hpp"

namespace ridgebench::emulator {

struct ClusterAddress {
  Block* block;
  std::uint32_t address;  // in that block
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
