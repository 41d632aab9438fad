// The matrix product around a register-tile kernel: packs both inputs, which hides their layout and
// format, and multiplies blocks of C that fit the caches, in parallel. B is packed for all threads
// before they multiply; of A each packs its own rows, when it first needs them. After Goto and van
// de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.
//
// A Kernel has: Word (FloatWord or Bf16Pair); rows and columns of its tile of C; step, the words of
// the reduction that it multiplies at once, and depth, those that it should before it turns to the
// next tile; block_rows(k) and block_columns, the part of C that a thread works on at once; and
// static functions begin() and end() around a thread's work, and
//   multiply_tile(count, a, lda, b, c, add, next):  c[rows][columns] = a b, or that added to c
// with `count` words, rounded up to `step`, of each row of a and each column of b. a has `run`
// words of each row together (0: all of them), rows lda words apart; b has rows of `columns` words.
// `next` is the part of B that it should ask the caches for meanwhile.
//
// To be included inside a region of target_begin.hpp, after pack.hpp; see there.
#pragma once

#ifndef RIDGEPOINT_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

#include "kernels/common/cpu/product_blocks.hpp"

namespace ridgepoint {
namespace {

// A thread's share of a product: it multiplies blocks of C, in their order.
template <class Product>
class Worker {
 public:
  using Kernel = typename Product::Kernel;

  explicit Worker(const Product& product) : product_(product), a_(product.packed_a) {
    const std::int64_t rows = rows_of_band<Kernel>(product.m, product.bands);
    a_.data += omp_get_thread_num() * words_of_band(rows, a_.words);
    sums_ = product.tiles + omp_get_thread_num() * words_of_sums<Kernel>(rows);
  }

  void multiply(std::int64_t block) {
    const cpu::Range rows = product_.rows_of(block);
    const cpu::Range columns = product_.columns_of(block);
    if (rows.begin != a_.begin) {  // a new band
      a_.begin = rows.begin;
      unpacked_ = product_.a.along ? rows.begin : 0;
    }
    for (std::int64_t p = 0; p < product_.k; p += Kernel::depth) {
      const cpu::Range words{p, std::min(p + Kernel::depth, product_.k)};
      float* tile = sums_;
      for (std::int64_t j = columns.begin; j < columns.end; j += Kernel::columns) {
        const bool last = j + Kernel::columns >= columns.end;
        const std::uint32_t* next = last ? product_.packed_b.at(columns.begin, words.end)
                                         : product_.packed_b.at(j + Kernel::columns, p);
        tile = multiply_panel(rows, words, j, next, tile);
      }
    }
  }

 private:
  static constexpr std::int64_t tile_elements = Kernel::rows * Kernel::columns;

  // Tiles of C below each other, with the panel of B at column j; `next` is the next one of B.
  float* multiply_panel(cpu::Range rows, cpu::Range words, std::int64_t j,
                        const std::uint32_t* next, float* tile) {
    const std::int64_t count = words.end - words.begin;
    const std::int64_t share = ceil_div(count * tile_elements, rows.end - rows.begin);
    for (std::int64_t i = rows.begin; i < rows.end; i += Kernel::rows) {
      const std::int64_t needed = product_.a.along ? i + Kernel::rows : product_.padded_k();
      while (unpacked_ < needed) pack_strip(rows);
      Kernel::multiply_tile(count, a_.at(i, words.begin), a_.line_stride(),
                            product_.packed_b.at(j, words.begin), tile, words.begin > 0,
                            cpu::NextWords{next, share});
      if (words.end == product_.k) product_.write_tile(tile, i, j);
      next += share;
      tile += tile_elements;
    }
    return tile;
  }

  // Packs the next lines of A. Apart, for it would take registers from the tile's loop.
  [[gnu::noinline]] void pack_strip(cpu::Range rows) {
    using Word = typename Kernel::Word;
    const cpu::Range of_line = product_.a.along ? cpu::Range{0, product_.k} : rows;
    cpu::pack<Word>(product_.a, a_, unpacked_, of_line);
    unpacked_ += cpu::kLanes;
  }

  const Product& product_;
  cpu::Panels<Kernel::rows, Kernel::run> a_;  // of the band at hand
  float* sums_;                               // of a block, tile by tile
  std::int64_t unpacked_ = 0;                 // its first line of A that is
};

// Words per row of packed A: room for whole blocks and one vector more, so that rows do not all
// fall into the same sets of a cache.
template <class Kernel>
std::int64_t row_words(const Shape& s) {
  return round_up(ceil_div(s["k"], Kernel::Word::steps), cpu::kBlock) + cpu::kLanes;
}

struct Workspace {
  std::shared_ptr<void> a;
  std::shared_ptr<void> b;
  std::shared_ptr<void> tiles;
};

template <class Kernel>
Workspace prepare(Queue& queue, const Shape& s) {
  const auto words = [&queue](std::int64_t count) {
    return queue.allocate(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  };
  const std::int64_t rows = rows_of_band<Kernel>(s["m"], bands_of<Kernel>(s, queue.threads()));
  const std::int64_t columns = round_up(round_up(s["n"], Kernel::columns), cpu::kBlock);
  return {words(queue.threads() * words_of_band(rows, row_words<Kernel>(s))),
          words(columns * row_words<Kernel>(s)),
          words(queue.threads() * words_of_sums<Kernel>(rows))};
}

template <class Kernel, class A, class B, class Out, class Epilogue>
Launch blocked_product(Queue& queue, const Workspace& workspace, const Shape& s, const A* a,
                       const B* b, Out* c, Epilogue epilogue) {
  const bool a_along = s.layout() != Layout::tn;
  const bool b_along = s.layout() == Layout::nt;
  const std::int64_t m = s["m"];
  const std::int64_t n = s["n"];
  const std::int64_t k = s["k"];
  const std::int64_t width = row_words<Kernel>(s);
  const auto words_of = [](const std::shared_ptr<void>& memory) {
    return static_cast<std::uint32_t*>(memory.get());
  };
  using Product = BlockedProduct<Kernel, A, B, Out, Epilogue>;
  const Product product{.m = m,
                        .n = n,
                        .k = ceil_div(k, Kernel::Word::steps),
                        .a = {a, a_along ? m : k, a_along ? k : m, a_along},
                        .b = {b, b_along ? n : k, b_along ? k : n, b_along},
                        .packed_a = {words_of(workspace.a), width, -1},
                        .packed_b = {words_of(workspace.b), width, 0},
                        .tiles = static_cast<float*>(workspace.tiles.get()),
                        .bands = bands_of<Kernel>(s, queue.threads()),
                        .c = c,
                        .streaming = Product::streaming_pays(c, m, n),
                        .epilogue = epilogue};
  return [product, workspace, threads = queue.threads()] {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
      for (std::int64_t line = 0; line < product.lines_of_b(); line += cpu::kLanes) {
        product.pack_b(line);
      }
      Kernel::begin();
      Worker worker(product);
#pragma omp for schedule(static) nowait
      for (std::int64_t i = 0; i < product.blocks(); ++i) worker.multiply(i);
      cpu::streaming_fence();
      Kernel::end();
    }
  };
}

template <class Kernel, class A, class B, class Out>
Launch bind(Queue& queue, const Workspace& workspace, const Shape& shape, const A* a, const B* b,
            Out* c) {
  return blocked_product<Kernel>(queue, workspace, shape, a, b, c, Identity{});
}

template <class Kernel, class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Workspace& workspace, const Shape& shape, const A* a,
                 const B* b, const Out* bias, Out* c) {
  return blocked_product<Kernel>(queue, workspace, shape, a, b, c, BiasGelu<Out>{bias});
}

}  // namespace
}  // namespace ridgepoint
