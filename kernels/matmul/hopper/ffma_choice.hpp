// The choice of ffma_tma's tile by arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/tile_scheduler.hpp"

namespace ridgebench::cuda {

// The small tile keeps four times as many SMs busy.
inline constexpr std::array<TileShape, 2> kFfmaTiles{TileShape{128, 256}, TileShape{64, 128}};

// Clocks of a product on `sms` SMs: waves of one tile per SM. An SM can multiply 128 elements of C
// by one k in a clock. Its issue slots and conflicts of register banks, counted in the machine code
// of the warps that multiply and of those that transpose, take 1.19 and 1.26 times as long. Nothing
// overlaps the end of a tile: the clocks of wgmma_persistent's epilogue for the large one, and a
// quarter of those for the small one, whose warps also write and read 128 KB of sums in shared
// memory at 128 bytes per clock.
constexpr double ffma_clocks(TileShape tile, std::int64_t m, std::int64_t n, std::int64_t k,
                             int sms) {
  const bool large = tile.m == kFfmaTiles[0].m;
  const double overhead = large ? 1.19 : 1.26;
  constexpr double store = epilogue_clocks(sizeof(float), false);
  const double end = large ? store : store / 4 + 2048;
  const int waves = (schedule_tiles(tile, 1, m, n).count() + sms - 1) / sms;
  return waves * (tile.m * tile.n / 128.0 * static_cast<double>(k) * overhead + end);
}

// The choice of prepare, for the record.
struct FfmaChoice {
  TileShape shape;

  [[nodiscard]] std::string choice() const {
    return "tile " + std::to_string(shape.m) + "x" + std::to_string(shape.n);
  }
  [[nodiscard]] std::string name() const {
    return "tile=" + std::to_string(shape.m) + "x" + std::to_string(shape.n);
  }
  [[nodiscard]] ModelTraffic traffic(const Machine& machine, const Shape& s,
                                     FormatPair formats) const {
    const ProductBytes whole = bytes_of_matrices(s, formats);
    return {.l2_to_sm_bytes = bytes_of_own_loads(shape, s, whole),
            .dram_bytes =
                product_bytes_of_memory(schedule_tiles(shape, 1, s["m"], s["n"]), whole,
                                        static_cast<double>(machine.last_level_cache_bytes()))};
  }
};

inline std::array<FfmaChoice, kFfmaTiles.size()> ffma_choices() {
  return {FfmaChoice{kFfmaTiles[0]}, FfmaChoice{kFfmaTiles[1]}};
}

constexpr FfmaChoice choose_ffma_tile(std::int64_t m, std::int64_t n, std::int64_t k, int sms) {
  const auto clocks = [&](TileShape tile) { return ffma_clocks(tile, m, n, k, sms); };
  return {clocks(kFfmaTiles[1]) < clocks(kFfmaTiles[0]) ? kFfmaTiles[1] : kFfmaTiles[0]};
}

}  // namespace ridgebench::cuda
