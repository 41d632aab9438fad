// How the work of a product is divided among blocks: the order of tiles for a persistent grid, the
// clocks that the product then takes, and the choice of tile and cluster that follows from them.
// docs/kernel_models.md compares these clocks with measurements.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

struct TileCoord {
  int m, n;  // in tiles
};

// The order in which a persistent grid takes the tiles of C. Tiles that run at the same time should
// need few different rows of A and columns of B, so that those stay in L2. Groups of `group_m` rows
// of tiles are taken column by column, so that neighbours in time form a square.
struct TileScheduler {
  int tiles_m, tiles_n;
  int group_m;

  [[nodiscard]] constexpr int count() const { return tiles_m * tiles_n; }

  [[nodiscard]] constexpr TileCoord at(int index) const {
    const int first_m = index / (group_m * tiles_n) * group_m;
    const int height = std::min(group_m, tiles_m - first_m);
    const int within = index - first_m * tiles_n;
    return {first_m + within % height, within / height};
  }
};

struct TileShape {
  int m, n;
  // The blocks of a cluster share the larger operand of a tile. Tiles of 128 x 112 also share B, as
  // cuBLAS's do: clusters then lie along m, of which more shapes have whole ones.
  [[nodiscard]] constexpr bool shares_b() const { return n + 16 >= m; }
};

// Columns of a K-major B in a box: the part of a block in a cluster of two, or all columns where
// the cluster shares A. A box is whole swizzle atoms of 8 columns, so that 200 columns are five.
constexpr int box_columns(TileShape tile) {
  if (!tile.shares_b()) return tile.n;
  return tile.n % 16 == 0 ? tile.n / 2 : tile.n / 5;
}

// Rows of C in a group: the 128 tiles that run at a time are then about square.
inline constexpr int kGroupRows = 2048;
// Others, which tuning tries: what they change is the traffic of L2 and main memory, and so joules.
inline constexpr std::array<int, 2> kOtherGroupRows{1024, 4096};

// The order of a product's tiles. One tile of the scheduler is that of a whole cluster.
constexpr TileScheduler schedule_tiles(TileShape tile, int cluster, std::int64_t m, std::int64_t n,
                                       int group_rows = kGroupRows) {
  const int cluster_m = tile.m * (tile.shares_b() ? cluster : 1);
  const int cluster_n = tile.n * (tile.shares_b() ? 1 : cluster);
  return {.tiles_m = static_cast<int>((m + cluster_m - 1) / cluster_m),
          .tiles_n = static_cast<int>((n + cluster_n - 1) / cluster_n),
          .group_m = std::max(1, group_rows / cluster_m)};
}

inline constexpr std::array<int, 3> kClusters{1, 2, 4};  // blocks

// The tiles that the persistent product is compiled for.
inline constexpr std::array<TileShape, 7> kFastTiles{
    {{128, 256}, {128, 224}, {128, 192}, {128, 160}, {128, 128}, {128, 64}, {256, 192}}};
// Those of the ping-pong product: a consumer holds a whole tile, so a thread has no registers for
// more than 200 columns.
inline constexpr std::array<TileShape, 7> kPingpongTiles{
    {{128, 200}, {128, 192}, {128, 176}, {128, 160}, {128, 144}, {128, 128}, {128, 112}}};
// 256 x 128: two sets of accumulators of 128 columns, and a third set that is promoted.
inline constexpr std::array<TileShape, 3> kPromotedTiles{{{256, 128}, {128, 128}, {128, 64}}};

// True if a kernel is compiled for a tile. `k_major`: the columns of B lie along k; MN-major, boxes
// have 64 columns. `common`: the formats are bf16, fp16, tf32, or fp8_e4m3 for both operands.
// Others take 64 columns or a multiple, because each kernel costs time of the compiler.
constexpr bool is_compiled(TileShape tile, bool k_major, bool common) {
  return (k_major && common) || tile.n % 64 == 0;
}

// Clusters of each of these sizes that the device runs at once; 0 if it holds none.
using ActiveClusters = std::array<int, kClusters.size()>;

// Bytes per clock and SM. A multiprocessor reads or writes a line of its shared memory per clock.
// The L2 cache gives a single SM 64 bytes, and all 132 SMs together at least 132 x 52.5, which
// cuBLAS's tile of 112 x 128 took in clusters of two on an H200 (docs/kernel_models.md).
inline constexpr double kSharedBytesPerClock = 128;
inline constexpr double kL2BytesPerClock = 64;
inline constexpr double kL2BytesPerClockOfAll = 132 * 52.5;

inline constexpr int kStageRowBytes = 128;  // of k, of each row of A and column of B

// Costs of a product besides its tiles: `stages` of 128 bytes of k, and clocks that no tensor
// core works in.
struct ProductWork {
  std::int64_t m, n;
  std::int64_t stages;
  double epilogue_clocks;       // of 128 x 256 elements of C: the consumers store them
  double promotion_clocks = 0;  // of a stage: the consumers add its sums in fp32 and then go on
};

// ProductWork::epilogue_clocks of a kernel that writes `bytes` for an element of C, fitted to 8192
// cubed: those without GeLU in the runs of 2026-11-22, with tiles of 128 x 256, and that with GeLU
// in 16 bits on the H200 of 2026-11-27, with tiles of 128 x 192. Biases in shared memory saved 225
// for each of four boxes; in fp32 there are eight, and 12700 before.
constexpr double epilogue_clocks(std::size_t bytes, bool gelu) {
  if (gelu) return bytes == 2 ? 6600 - 4 * 225 : 12700 - 8 * 225;
  return bytes == 2 ? 3000 : 5700;
}

// ProductWork::promotion_clocks of fp8 with tiles of 256 x 128. They were 148 in the runs of
// 2026-11-22. Since then the consumers' additions overlap with each other's products
// (docs/matmul_formats.md), which left 28 on the H200 of 2026-11-27.
inline constexpr double kPromotionClocks = 28;

// True if the registers of a consumer hold the sums of a tile and two sets of temporary ones, so
// that it adds those of one stage in fp32 while the tensor cores work on the next.
constexpr bool has_two_temporaries(TileShape tile) { return tile.m == 128 && tile.n <= 128; }

// Bytes that the L2 cache delivers for a stage of a block: its part of the operand that the cluster
// shares, and all of the other one.
constexpr double stage_bytes_from_l2(TileShape tile, int cluster) {
  const double shared = tile.shares_b() ? tile.n : tile.m;
  const double own = tile.shares_b() ? tile.m : tile.n;
  return kStageRowBytes * (own + shared / cluster);
}

// Clocks of a stage: of the slowest of tensor cores, reads of shared memory and L2 cache, if `sms`
// blocks work at once. A wgmma takes n / 2 clocks for 32 bytes of k and reads 64 + n rows of them.
// The copies that write a stage do not slow it: tiles for which reads and writes together would
// take longer than the products run at the products' rate (docs/kernel_models.md).
constexpr double stage_clocks(TileShape tile, int cluster, int sms, double promotion_clocks) {
  constexpr double wgmmas = 4;  // of a stage, for 64 rows
  const double tensor = tile.m / 64.0 * wgmmas * tile.n / 2;
  const double read = tile.m / 64.0 * (64 + tile.n) * kStageRowBytes;
  const double from_l2 = stage_bytes_from_l2(tile, cluster);
  const double promotion = has_two_temporaries(tile) ? 0 : promotion_clocks;
  return std::max({tensor + promotion, read / kSharedBytesPerClock,
                   from_l2 / std::min(kL2BytesPerClock, kL2BytesPerClockOfAll / sms)});
}

// Clocks of a product on `clusters` clusters: those of a block's tiles, one after the other.
constexpr double product_clocks(TileShape tile, int cluster, int clusters,
                                const ProductWork& work) {
  const int tiles = schedule_tiles(tile, cluster, work.m, work.n).count();
  const int busy = std::min(tiles, clusters);
  const int waves = (tiles + busy - 1) / busy;
  const double stage = stage_clocks(tile, cluster, busy * cluster, work.promotion_clocks);
  const double epilogue = work.epilogue_clocks * tile.m * tile.n / (128 * 256);
  return waves * (static_cast<double>(work.stages) * stage + epilogue);
}

struct TileChoice {
  std::size_t tile;             // its index in the list
  int cluster;                  // blocks
  int group_rows = kGroupRows;  // of C, in the order of tiles
};

// Returns the bytes that the L2 cache delivers to the SMs for all stages of all tiles. Rows and
// columns of a tile beyond C count too, although no memory holds them.
constexpr double product_bytes_from_l2(TileShape tile, int cluster, const ProductWork& work) {
  const double blocks = cluster * schedule_tiles(tile, cluster, work.m, work.n).count();
  return blocks * static_cast<double>(work.stages) * stage_bytes_from_l2(tile, cluster);
}

// The bytes of the whole matrices.
struct ProductBytes {
  double a, b, c;
};

inline ProductBytes bytes_of_matrices(const Shape& s, FormatPair formats) {
  const auto bytes = [&](const char* rows, const char* columns, Format format) {
    return static_cast<double>(s[rows] * s[columns] * info(format).storage_bytes);
  };
  return {bytes("m", "k", formats.a), bytes("n", "k", formats.b),
          bytes("m", "n", product_format(formats))};
}

// Bytes that the L2 cache delivers to the SMs if every tile of C loads its rows of A and its
// columns of B. What a box of TMA covers beyond a matrix is not in memory and does not count.
inline double bytes_of_own_loads(TileShape tile, const Shape& s, const ProductBytes& whole) {
  return whole.a * static_cast<double>(ceil_div(s["n"], tile.n)) +
         whole.b * static_cast<double>(ceil_div(s["m"], tile.m));
}

// Bytes that main memory delivers or takes at least: A and C once, and B once for each group of the
// raster, unless a cache of `l2_bytes` keeps B beside the rows of A in a group.
constexpr double product_bytes_of_memory(const TileScheduler& tiles, const ProductBytes& whole,
                                         double l2_bytes) {
  const int groups = (tiles.tiles_m + tiles.group_m - 1) / tiles.group_m;
  const double rows_of_a = whole.a * std::min(tiles.group_m, tiles.tiles_m) / tiles.tiles_m;
  const bool b_stays = whole.b + rows_of_a <= l2_bytes;
  return whole.a + whole.c + whole.b * (b_stays ? 1 : groups);
}

// The tile and the cluster of the fewest clocks. At equal clocks a cluster of two is better than
// single blocks, because it loads fewer bytes and so leaves more power; no run has shown yet that
// four are better than two. Where the device holds no cluster at all, the choice is a single block,
// which the launch will refuse.
constexpr TileChoice choose_tile(std::span<const TileShape> tiles, const ProductWork& work,
                                 const ActiveClusters& active) {
  TileChoice best{.tile = 0, .cluster = 1};
  double least = 0;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const auto blocks = [&](int cluster) {
      return cluster * schedule_tiles(tiles[t], cluster, work.m, work.n).count();
    };
    for (std::size_t c = 0; c < kClusters.size(); ++c) {
      if (active[c] == 0) continue;
      const double clocks = product_clocks(tiles[t], kClusters[c], active[c], work);
      const bool saves_power = best.tile == t && best.cluster == 1 && kClusters[c] == 2 &&
                               clocks == least && blocks(2) == blocks(1);
      if (least != 0 && clocks >= least && !saves_power) continue;
      least = clocks;
      best = {.tile = t, .cluster = kClusters[c]};
    }
  }
  return best;
}

}  // namespace ridgebench::cuda
