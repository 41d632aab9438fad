#include "tests/support/awkward_shapes.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "kernels/common/ceil_div.hpp"

namespace ridgebench {
namespace {

using Dimensions = std::vector<std::string>;

std::vector<Shape> vectors(const Operation& operation) {
  std::vector<Shape> shapes;
  for (const std::int64_t n :
       {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 255, 256, 257, 1000, 4096, 4099, 20011, 70001}) {
    shapes.push_back(Shape({{"n", n}}).with(operation.attributes));
  }
  return shapes;
}

std::vector<Shape> matrices_and_vectors(const Operation& operation) {
  constexpr std::array<std::array<std::int64_t, 2>, 15> sizes{{{1, 1},
                                                               {1, 33},
                                                               {33, 1},
                                                               {2, 7},
                                                               {3, 16},
                                                               {5, 64},
                                                               {7, 255},
                                                               {17, 257},
                                                               {31, 256},
                                                               {64, 64},
                                                               {4, 4099},
                                                               {3, 4096},
                                                               {257, 48},
                                                               {389, 17},
                                                               {391, 80}}};
  std::vector<Shape> shapes;
  for (const auto [m, n] : sizes) {
    shapes.push_back(Shape({{"m", m}, {"n", n}}).with(operation.attributes));
  }
  return shapes;
}

// `together` numbers along k share an element of memory.
std::vector<Shape> products(bool all_layouts, std::int64_t together) {
  // Multiples of 8 and 16 are what narrow formats need to be loaded 16 bytes at a time.
  constexpr std::array<std::array<std::int64_t, 3>, 14> sizes{{{1, 1, 1},
                                                               {1, 17, 5},
                                                               {19, 1, 33},
                                                               {7, 13, 1},
                                                               {8, 8, 8},
                                                               {16, 16, 16},
                                                               {16, 8, 64},
                                                               {31, 37, 41},
                                                               {33, 65, 129},
                                                               {48, 80, 112},
                                                               {64, 32, 256},
                                                               {128, 128, 32},
                                                               {144, 160, 80},
                                                               {131, 133, 61}}};
  std::vector<Shape> shapes;
  for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
    if (layout != Layout::nt && !all_layouts) continue;
    for (const auto [m, n, k] : sizes) {
      shapes.push_back(Shape({{"m", m}, {"n", n}, {"k", round_up(k, together)}}, layout));
    }
  }
  return shapes;
}

// Batches and leading dimensions, in every layout. Where a leading dimension is odd, so is the
// distance of the matrices of a batch, or their first elements are not aligned for vectors.
std::vector<Shape> batches(const Operation& operation) {
  std::vector<Shape> shapes;
  for (const char* const layout : {"nt", "nn", "tn"}) {
    for (const char* const sizes :
         {"m:1/n:1/k:1/b:3", "m:16/n:16/k:32/b:5", "m:33/n:17/k:9/b:3", "m:7/n:3/k:65/b:4",
          "m:24/n:40/k:72/lda:73/ldb:75/ldc:41", "m:136/n:144/k:80/lda:160/ldb:176/ldc:152",
          "m:33/n:48/k:31/b:3/lda:35/ldb:49/ldc:51", "m:144/n:136/k:48/b:2/lda:144/ldb:144/ldc:144",
          "m:131/n:133/k:61/b:2/lda:133", "m:40/n:24/k:16/b:3/ldc:25"}) {
      shapes.push_back(parse_shape(std::string(sizes) + "/layout:" + layout, operation));
    }
  }
  return shapes;
}

// One group, fewer tokens than groups, groups without a token at either end, tiles that are full,
// and one group with nearly all tokens.
std::vector<Shape> groups_of_tokens(const Operation& operation) {
  std::vector<Shape> shapes;
  for (const char* const text :
       {"m:1/n:1/k:1/g:1", "m:3/n:17/k:5/g:8", "m:37/n:37/k:131/g:3", "m:40/n:24/k:16/g:5/empty:2",
        "m:133/n:65/k:33/g:4/skew:1", "m:300/n:40/k:24/g:7/skew:2/empty:3", "m:256/n:128/k:32/g:2",
        "m:129/n:136/k:72/g:16/skew:8/empty:15", "m:200/n:131/k:61/g:6/skew:0.5/empty:1"}) {
    shapes.push_back(parse_shape(text, operation));
  }
  return shapes;
}

// Appends shapes of every awkward size and number of times, between which stands a tile.
void add_repeated_work(std::vector<Shape::Dimension> dimensions, std::vector<Shape>& shapes) {
  constexpr std::int64_t kMostWork = 70000;
  constexpr std::int64_t kMostProducts = std::int64_t{1} << 26U;
  const bool tiles = dimensions.size() > 2;
  std::int64_t products = 1;  // of one tile
  for (std::size_t i = 1; i + 1 < dimensions.size(); ++i) products *= dimensions[i].second;
  for (const std::int64_t size : {1, 3, 9, 129, 257, 2049, 4099, 8193}) {
    if (tiles && size > 9) break;
    for (const std::int64_t times : {1, 2, 16, 17, 33, 65, 97}) {
      if (size * times > kMostWork || size * times * products > kMostProducts) continue;
      dimensions.front().second = size;
      dimensions.back().second = times;
      const Shape shape(dimensions);
      if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
    }
  }
}

// Sweeps of bytes in flight: every point reads arrays of awkward sizes.
std::vector<Shape> reads_in_flight(const Operation& operation) {
  Machine gpu;
  gpu.compute_capability = 89;
  std::vector<Shape> shapes;
  for (const Shape& point : operation.shapes(Profile::full, Pace::fast, gpu)) {
    for (const std::int64_t n : {1, 9, 4099, 20011}) {
      for (const std::int64_t passes : {1, 3}) {
        std::vector<Shape::Dimension> dimensions = point.dimensions();
        dimensions.front().second = n;
        dimensions.back().second = passes;
        shapes.emplace_back(dimensions);
      }
    }
  }
  return shapes;
}

// Ceilings do the work of their first dimension as often as the last one says; what stands between
// is the size of a tile, which techniques are written for.
std::vector<Shape> repeated_work(const Operation& operation) {
  Machine gpu;
  gpu.compute_capability = 89;
  std::vector<Shape> shapes;
  if (operation.dimensions.size() == 2) {
    add_repeated_work(unit_shape(operation).dimensions(), shapes);
  } else {
    for (const Shape& shape : operation.shapes(Profile::full, Pace::fast, gpu)) {
      add_repeated_work(shape.dimensions(), shapes);
    }
  }
  return shapes;
}

std::vector<Shape> chases() {
  std::vector<Shape> shapes;
  for (const std::int64_t lines : {1, 2, 3, 9, 255, 257, 4099}) {
    for (const std::int64_t stride : {1, 3}) {
      for (const std::int64_t accesses : {1, 2, 15, 17, 1000, 32749}) {
        shapes.push_back(Shape({{"lines", lines}, {"stride", stride}, {"accesses", accesses}}));
      }
    }
  }
  return shapes;
}

// Heads of sequences: a half of a head's elements is whole vectors of 16 bytes, some of them, or
// none.
std::vector<Shape> rotated_heads() {
  constexpr std::array<std::array<std::int64_t, 4>, 9> sizes{{{1, 1, 1, 2},
                                                              {2, 3, 1, 6},
                                                              {1, 5, 3, 34},
                                                              {3, 2, 5, 16},
                                                              {2, 7, 9, 32},
                                                              {1, 17, 33, 64},
                                                              {2, 3, 8, 128},
                                                              {1, 2, 17, 256},
                                                              {5, 1, 2, 1026}}};
  std::vector<Shape> shapes;
  for (const auto [b, s, h, d] : sizes) {
    shapes.push_back(Shape({{"b", b}, {"s", s}, {"h", h}, {"d", d}}));
  }
  return shapes;
}

// Groups of one to nine query heads share a key/value head; contexts of one position, of parts of a
// tile, and of several tiles and splits.
std::vector<Shape> caches() {
  constexpr std::array<std::array<std::int64_t, 5>, 12> sizes{{{1, 1, 1, 1, 1},
                                                               {1, 1, 1, 3, 3},
                                                               {2, 3, 1, 31, 16},
                                                               {1, 4, 2, 33, 64},
                                                               {3, 6, 6, 129, 40},
                                                               {1, 8, 1, 257, 32},
                                                               {1, 18, 2, 65, 80},
                                                               {2, 4, 1, 300, 128},
                                                               {1, 2, 1, 1023, 256},
                                                               {1, 5, 5, 2, 255},
                                                               {1, 9, 1, 700, 96},
                                                               {1, 2, 2, 40, 300}}};
  std::vector<Shape> shapes;
  for (const auto [b, h, kv, s, d] : sizes) {
    shapes.push_back(Shape({{"b", b}, {"h", h}, {"kv", kv}, {"s", s}, {"d", d}}));
  }
  return shapes;
}

}  // namespace

std::vector<Shape> awkward_shapes(const Operation& operation) {
  const Dimensions& names = operation.dimensions;
  if (operation.name == "launch") return {Shape({{"n", 1}}), Shape({{"n", 9}})};
  if (operation.name == "pointer_chase") return chases();
  if (names == Dimensions{"n"}) return vectors(operation);
  if (names == Dimensions{"m", "n"}) return matrices_and_vectors(operation);
  if (names == Dimensions{"m", "n", "k"}) {
    std::vector<Shape> shapes =
        products(operation.name == "matmul", info(operation.formats.front().a).numbers());
    if (!operation.optional_dimensions.empty()) {
      const std::vector<Shape> more = batches(operation);
      shapes.insert(shapes.end(), more.begin(), more.end());
    }
    return shapes;
  }
  if (names == Dimensions{"m", "n", "k", "g"}) return groups_of_tokens(operation);
  if (names == Dimensions{"n", "warps", "packs", "passes"}) return reads_in_flight(operation);
  if (names == Dimensions{"b", "s", "h", "d"}) return rotated_heads();
  if (names == Dimensions{"b", "h", "kv", "s", "d"}) return caches();
  if (names.size() > 1) return repeated_work(operation);
  throw std::logic_error("no shapes for " + std::string(operation.name));
}

std::vector<Shape> shapes_of_many_tiles(const Operation& operation) {
  if (operation.dimensions != Dimensions{"m", "n", "k"}) return {};
  constexpr std::array<std::array<std::int64_t, 3>, 6> sizes{{{136, 272, 520},
                                                              {400, 248, 144},
                                                              {200, 400, 528},
                                                              {24, 40, 2064},
                                                              {5, 136, 1040},
                                                              {56, 72, 32}}};
  std::vector<Shape> shapes;
  for (const auto [m, n, k] : sizes) {
    shapes.push_back(Shape({{"m", m}, {"n", n}, {"k", k}}, Layout::nt));
    const bool few_rows = m < 64;
    if (operation.name != "matmul" || few_rows) continue;
    for (const Layout layout : {Layout::nn, Layout::tn}) {
      shapes.push_back(Shape({{"m", m}, {"n", n}, {"k", k}}, layout));
    }
  }
  return shapes;
}

bool exact_on_integers(const Operation& operation) {
  const bool contracts = operation.name == "fma_peak" || operation.name == "fma_double_peak" ||
                         operation.name == "intensity" || operation.name == "sm_times" ||
                         operation.name == "fma_parallelism";
  // Optimizers multiply by rates that no format holds exactly.
  const std::vector<Operand> operands =
      operation.operands(unit_shape(operation), operation.formats.front());
  const bool updates =
      std::ranges::any_of(operands, [](const Operand& o) { return o.access == Access::updated; });
  // Scales are fractions, and a product with them is rounded.
  const bool fractions = std::ranges::any_of(
      operands, [](const Operand& o) { return o.values.kind == Values::Kind::uniform; });
  return !operation.special && !contracts && !updates && !fractions;
}

}  // namespace ridgebench
