// The tiles of a grouped product on a grid: blocks along y take one tile of one group each, from a
// table that the host makes once for a shape. Tiles never cross the border of a group.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/queue.hpp"
#include "kernels/matmul/tile/operands.cuh"
#include "kernels/matmul/token_groups.hpp"

namespace ridgebench::cuda {

// Rows first .. end - 1 of A and C are those of a group from the tile's first row on.
struct GroupTile {
  std::int64_t first, end;
  std::int64_t group;
};

inline std::vector<GroupTile> group_tiles(const Shape& shape, int tile_rows) {
  std::vector<GroupTile> tiles;
  for (const TokenGroup& group : busy_groups(shape)) {
    const std::int64_t end = group.first + group.tokens;
    for (std::int64_t row = group.first; row < end; row += tile_rows) {
      tiles.push_back({row, end, group.index});
    }
  }
  return tiles;
}

// For Technique::supports.
inline std::optional<std::string> group_grid_limit(const Shape& shape, int tile_rows,
                                                   int tile_columns) {
  std::int64_t tiles = 0;
  for (const TokenGroup& group : busy_groups(shape)) tiles += ceil_div(group.tokens, tile_rows);
  return tile_grid_limit(tiles, shape["n"], 1, tile_columns);
}

// The table on the device.
struct GroupTable {
  std::shared_ptr<void> memory;
  std::int64_t tiles;

  GroupTable(Queue& queue, const Shape& shape, int tile_rows) {
    const std::vector<GroupTile> all = group_tiles(shape, tile_rows);
    tiles = std::ssize(all);
    memory = queue.allocate(all.size() * sizeof(GroupTile));
    check(cudaMemcpyAsync(memory.get(), all.data(), all.size() * sizeof(GroupTile),
                          cudaMemcpyHostToDevice, stream_of(queue)));
    check(cudaStreamSynchronize(stream_of(queue)));
  }
  [[nodiscard]] const GroupTile* data() const {
    return static_cast<const GroupTile*>(memory.get());
  }
};

// Takes the place of ProductBatch.
template <class A, class B, class Out>
struct ProductGroups : Product<A, B, Out> {
  std::int64_t ldc;
  std::int64_t stride_b;  // elements from the matrix of a group to the next
  const GroupTile* tiles;

  ProductGroups(const Shape& shape, const A* a_data, const B* b_data, Out* c_data,
                const GroupTable& table)
      : Product<A, B, Out>(shape, a_data, b_data, c_data),
        ldc(shape["n"]),
        stride_b(shape["n"] * shape["k"]),
        tiles(table.data()) {}

  __device__ void start_block() {
    const GroupTile tile = tiles[blockIdx.y];
    this->a.mn = tile.end;
    this->m = tile.end;
    this->b.data += tile.group * stride_b;
  }
  [[nodiscard]] __device__ std::int64_t first_row(int /*tile_rows*/) const {
    return tiles[blockIdx.y].first;
  }
  [[nodiscard]] __device__ Out* c_of_block() const { return this->c; }
};

// The plan of a technique whose tiles have kTileRows rows.
template <int kTileRows>
GroupTable prepare_groups(Queue& queue, const Shape& shape) {
  return GroupTable(queue, shape, kTileRows);
}

// `launch(product, grid)` is a launch on blocks whose tiles have this many columns.
template <class A, class B, class Out, class LaunchOn>
Launch bind_group_tiles(const GroupTable& table, const Shape& shape, const A* a, const B* b, Out* c,
                        int tile_columns, const LaunchOn& launch) {
  const ProductGroups product(shape, a, b, c, table);
  const Launch multiply = launch(product, tiles_for(table.tiles, product.n, 1, tile_columns));
  return [multiply, memory = table.memory] { multiply(); };
}

}  // namespace ridgebench::cuda
