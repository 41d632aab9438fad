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

namespace ridgepoint {
namespace {

constexpr std::int64_t ceil_div(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }
constexpr std::int64_t round_up(std::int64_t x, std::int64_t to) { return ceil_div(x, to) * to; }

// What becomes of a sum in column j before it is rounded to the output's format.
struct Identity {
  [[gnu::always_inline]] float operator()(float sum, std::int64_t /*j*/) const { return sum; }
};
template <class T>
struct BiasGelu {
  const T* bias;
  [[gnu::always_inline]] float operator()(float sum, std::int64_t j) const {
    return cpu::gelu(sum + cpu::widen(bias[j]));
  }
};

// Bands of rows of C, as high as a block: few, but as many for each thread.
template <class Kernel>
std::int64_t bands_of(const Shape& s, std::int64_t threads) {
  const std::int64_t tiles = ceil_div(s["m"], Kernel::rows);
  const std::int64_t most =
      Kernel::block_rows(ceil_div(s["k"], Kernel::Word::steps)) / Kernel::rows;
  const std::int64_t count = ceil_div(tiles, most);
  return std::min(tiles, round_up(count, threads));
}
// Of the highest band.
template <class Kernel>
std::int64_t rows_of_band(std::int64_t m, std::int64_t bands) {
  return ceil_div(ceil_div(m, Kernel::rows), bands) * Kernel::rows;
}

struct Workspace {
  std::shared_ptr<void> a;
  std::shared_ptr<void> b;
  std::shared_ptr<void> tiles;
};

// C[m,n] = epilogue(A B) with k words of reduction.
template <class KernelOf, class A, class B, class Out, class Epilogue>
struct BlockedProduct {
  using Kernel = KernelOf;
  using Word = typename Kernel::Word;
  static_assert(cpu::kBlock % Kernel::columns == 0 || Kernel::columns % cpu::kBlock == 0);
  static_assert(Kernel::depth % cpu::kBlock == 0);
  static constexpr bool rows_are_lines = Kernel::columns % cpu::kLineElements<Out> == 0;

  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  cpu::Lines<A> a;
  cpu::Lines<B> b;
  cpu::Panels<Kernel::rows, Kernel::run> packed_a;  // a band's, for each thread
  cpu::Panels<Kernel::columns, 1> packed_b;
  float* tiles;        // a block's, for each thread
  std::int64_t bands;  // of rows of C, each as high as a block
  Out* c;
  bool streaming;  // whole tiles of C past the caches
  Epilogue epilogue;

  // B is packed in strips of kLanes lines of words, each as long as they are: so memory is read in
  // few, long streams.
  [[nodiscard]] std::int64_t lines_of_b() const {
    return b.along ? round_up(n, Kernel::columns) : round_up(k, Kernel::step);
  }
  void pack_b(std::int64_t line) const {
    const std::int64_t end = b.along ? k : round_up(n, Kernel::columns);
    cpu::pack<Word>(b, packed_b, line, {0, end});
  }

  // Blocks of C, band by band. A band has as many tiles as another, or one more.
  [[nodiscard]] std::int64_t blocks_in_band() const { return ceil_div(n, Kernel::block_columns); }
  [[nodiscard]] std::int64_t blocks() const { return bands * blocks_in_band(); }
  [[nodiscard]] cpu::Range rows_of(std::int64_t block) const {
    const std::int64_t band = block / blocks_in_band();
    const std::int64_t tiles_in_all = ceil_div(m, Kernel::rows);
    return {tiles_in_all * band / bands * Kernel::rows,
            std::min(m, tiles_in_all * (band + 1) / bands * Kernel::rows)};
  }
  [[nodiscard]] cpu::Range columns_of(std::int64_t block) const {
    const std::int64_t begin = block % blocks_in_band() * Kernel::block_columns;
    return {begin, std::min(n, begin + Kernel::block_columns)};
  }

  void write_tile(const float* sums, std::int64_t i, std::int64_t j) const {
    const std::int64_t columns = std::min(Kernel::columns, n - j);
    for (std::int64_t r = i; r < std::min(i + Kernel::rows, m); ++r, sums += Kernel::columns) {
      if (columns == Kernel::columns) {
        write_row(sums, j, c + r * n + j);
      } else {
        for (std::int64_t x = 0; x < columns; ++x) c[r * n + j + x] = finished(sums, j, x);
      }
    }
  }
  void write_row(const float* sums, std::int64_t j, Out* to) const {
    alignas(cpu::kLineBytes) Out row[Kernel::columns];
    for (std::int64_t x = 0; x < Kernel::columns; ++x) row[x] = finished(sums, j, x);
    if constexpr (rows_are_lines) {
      if (streaming) {
        for (std::int64_t x = 0; x < Kernel::columns; x += cpu::kLineElements<Out>) {
          cpu::stream_line(to + x, row + x);
        }
        return;
      }
    }
    std::copy_n(row, Kernel::columns, to);
  }
  [[gnu::always_inline]] Out finished(const float* sums, std::int64_t j, std::int64_t x) const {
    return cpu::narrow<Out>(epilogue(sums[x], j + x));
  }

  // Whether C is written past the caches: where it would not stay in a core's own, an ordinary
  // store waits for the line that it changes.
  [[nodiscard]] static bool streaming_pays(const Out* c, std::int64_t m, std::int64_t n) {
    constexpr std::int64_t kLarge = std::int64_t{1} << 20U;  // bytes
    return n % cpu::kLineElements<Out> == 0 && cpu::StreamCut::until_line(c) == 0 &&
           m * n * static_cast<std::int64_t>(sizeof(Out)) > kLarge;
  }
};

// A thread's share of a product: it multiplies blocks of C, in their order.
template <class Product>
class Worker {
 public:
  using Kernel = typename Product::Kernel;

  explicit Worker(const Product& product) : product_(product), a_(product.packed_a) {
    const std::int64_t rows = rows_of_band<Kernel>(product.m, product.bands);
    a_.data += omp_get_thread_num() * round_up(rows, cpu::kBlock) * a_.words;
    sums_ = product.tiles + omp_get_thread_num() * rows * Kernel::block_columns;
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
      while (unpacked_ < (product_.a.along ? i + Kernel::rows : product_.k)) pack_strip(rows);
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

template <class Kernel>
Workspace prepare(Queue& queue, const Shape& s) {
  const auto words = [&queue](std::int64_t count) {
    return queue.allocate(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  };
  const std::int64_t rows = rows_of_band<Kernel>(s["m"], bands_of<Kernel>(s, queue.threads()));
  const std::int64_t columns = round_up(round_up(s["n"], Kernel::columns), cpu::kBlock);
  return {words(queue.threads() * round_up(rows, cpu::kBlock) * row_words<Kernel>(s)),
          words(columns * row_words<Kernel>(s)),
          words(queue.threads() * rows * Kernel::block_columns)};
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
