// The order in which a persistent grid takes the tiles of C. Tiles that are computed at the same
// time should need few different rows of A and columns of B, which then stay in the L2 cache: bands
// of some rows of tiles are taken column by column, so that neighbours in time form a square.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ridgebench::cuda {

struct TilePlace {
  int row, column;  // in tiles
};

struct Raster {
  int rows, columns;  // of tiles
  int band;           // rows of tiles that are taken together

  [[nodiscard]] constexpr int count() const { return rows * columns; }

  [[nodiscard]] constexpr TilePlace at(int index) const {
    const int first = index / (band * columns) * band;
    const int height = std::min(band, rows - first);
    const int within = index - first * columns;
    return {first + within % height, within / height};
  }
};

struct TileShape {
  int rows, columns;
  [[nodiscard]] constexpr bool shares_b() const { return columns >= rows; }
};

struct Choice {
  std::size_t tile;  // its place in the list
  int cluster;       // blocks
};

// Bands are as high as makes what some 128 blocks work on at a time about square.
inline constexpr int kBandRows = 2048;  // of C

// The order of a product's tiles, counted in those of whole clusters.
constexpr Raster raster_for(TileShape tile, int cluster, std::int64_t m, std::int64_t n) {
  const int rows = tile.rows * (tile.shares_b() ? cluster : 1);
  const int columns = tile.columns * (tile.shares_b() ? 1 : cluster);
  return {.rows = static_cast<int>((m + rows - 1) / rows),
          .columns = static_cast<int>((n + columns - 1) / columns),
          .band = std::max(1, kBandRows / rows)};
}

}  // namespace ridgebench::cuda
