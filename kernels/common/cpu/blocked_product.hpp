// The matrix product around a register-tile kernel: packs both inputs once, which hides their
// layout and format, then multiplies blocks of C that fit the caches, in parallel. After Goto and
// van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.
//
// A Kernel has: Word (FloatWord or Bf16Pair); rows and columns of its tile of C; step, the words of
// the reduction that it multiplies at once, and depth, those that it should before it turns to the
// next tile; block_rows(k) and block_columns, the part of C that a thread works on at once; and
// static functions begin() and end() around a thread's work, and
//   multiply_tile(count, a, lda, b, c, add):  c[rows][columns] = a b, or that added to c
// with `count` words, rounded up to `step`, of each row of a and each column of b. a has `run`
// words of each row together (0: all of them), rows lda words apart; b has rows of `columns` words.
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
template <class Kernel, class A, class B, class Out, class Epilogue>
struct BlockedProduct {
  static_assert(cpu::kBlock % Kernel::columns == 0 || Kernel::columns % cpu::kBlock == 0);
  static constexpr std::int64_t tile_elements = Kernel::rows * Kernel::columns;
  static constexpr bool rows_are_lines = Kernel::columns % cpu::kLineElements<Out> == 0;

  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  cpu::Lines<A> a;
  cpu::Lines<B> b;
  cpu::Panels packed_a;
  cpu::Panels packed_b;
  float* tiles;        // for each thread, a block's
  std::int64_t bands;  // of rows of C, each as high as a block
  Out* c;
  bool streaming;  // whole tiles of C past the caches
  Epilogue epilogue;

  // Strips of kLanes lines of words to pack: those of A, then those of B.
  [[nodiscard]] std::int64_t strips_a() const {
    return ceil_div(a.along ? round_up(m, Kernel::rows) : round_up(k, Kernel::step), cpu::kLanes);
  }
  [[nodiscard]] std::int64_t strips() const {
    return strips_a() + ceil_div(b.along ? round_up(n, Kernel::columns) : round_up(k, Kernel::step),
                                 cpu::kLanes);
  }
  void pack(std::int64_t strip) const {
    using Word = typename Kernel::Word;
    if (strip < strips_a()) {
      cpu::pack<Word>(a, packed_a, strip * cpu::kLanes, a.along ? k : round_up(m, Kernel::rows));
      return;
    }
    cpu::pack<Word>(b, packed_b, (strip - strips_a()) * cpu::kLanes,
                    b.along ? k : round_up(n, Kernel::columns));
  }

  // Blocks of C, band by band. A band has as many tiles as another, or one more.
  [[nodiscard]] std::int64_t blocks_in_row() const { return ceil_div(n, Kernel::block_columns); }
  [[nodiscard]] std::int64_t blocks() const { return bands * blocks_in_row(); }
  [[nodiscard]] std::int64_t begin_of_band(std::int64_t band) const {
    return std::min(m, ceil_div(m, Kernel::rows) * band / bands * Kernel::rows);
  }
  void multiply_block(std::int64_t block) const {
    const std::int64_t i_begin = begin_of_band(block / blocks_in_row());
    const std::int64_t i_end = begin_of_band(block / blocks_in_row() + 1);
    const std::int64_t j_begin = block % blocks_in_row() * Kernel::block_columns;
    const std::int64_t j_end = std::min(n, j_begin + Kernel::block_columns);
    float* sums =
        tiles + omp_get_thread_num() * rows_of_band<Kernel>(m, bands) * Kernel::block_columns;
    for (std::int64_t p = 0; p < k; p += Kernel::depth) {
      const std::int64_t count = std::min(Kernel::depth, k - p);
      // Of the words of a panel of B, for each tile.
      const std::int64_t share = ceil_div(count * tile_elements, i_end - i_begin);
      float* tile = sums;
      for (std::int64_t j = j_begin; j < j_end; j += Kernel::columns) {
        const bool last = j + Kernel::columns >= j_end;
        const std::uint32_t* next =
            last ? packed_b.at(j_begin, p + count) : packed_b.at(j + Kernel::columns, p);
        for (std::int64_t i = i_begin; i < i_end; i += Kernel::rows, tile += tile_elements) {
          ask_for(next, share);
          next += share;
          Kernel::multiply_tile(count, packed_a.at(i, p), packed_a.run, packed_b.at(j, p), tile,
                                p > 0);
          if (p + count == k) write_tile(tile, i, j);
        }
      }
    }
  }

  // Brings words of the panel of B that comes next into the second cache.
  [[gnu::always_inline]] static void ask_for(const std::uint32_t* words, std::int64_t count) {
    constexpr std::int64_t kLine = cpu::kLineElements<std::uint32_t>;
    for (std::int64_t w = 0; w < count; w += kLine) __builtin_prefetch(words + w, 0, 2);
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
  const std::int64_t rows = round_up(round_up(s["m"], Kernel::rows), cpu::kBlock);
  const std::int64_t columns = round_up(round_up(s["n"], Kernel::columns), cpu::kBlock);
  return {
      words(rows * row_words<Kernel>(s)), words(columns * row_words<Kernel>(s)),
      words(queue.threads() * rows_of_band<Kernel>(s["m"], bands_of<Kernel>(s, queue.threads())) *
            Kernel::block_columns)};
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
  const Product product{
      .m = m,
      .n = n,
      .k = ceil_div(k, Kernel::Word::steps),
      .a = {a, a_along ? m : k, a_along ? k : m, a_along},
      .b = {b, b_along ? n : k, b_along ? k : n, b_along},
      .packed_a = {words_of(workspace.a), width, Kernel::run > 0 ? Kernel::rows : 1,
                   Kernel::run > 0 ? Kernel::run : width},
      .packed_b = {words_of(workspace.b), width, Kernel::columns, 1},
      .tiles = static_cast<float*>(workspace.tiles.get()),
      .bands = bands_of<Kernel>(s, queue.threads()),
      .c = c,
      .streaming = Product::streaming_pays(c, m, n),
      .epilogue = epilogue};
  return [product, workspace, threads = queue.threads()] {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for nowait
      for (std::int64_t i = 0; i < product.strips_a(); ++i) product.pack(i);
#pragma omp for
      for (std::int64_t i = product.strips_a(); i < product.strips(); ++i) product.pack(i);
      Kernel::begin();
#pragma omp for schedule(static) nowait
      for (std::int64_t i = 0; i < product.blocks(); ++i) product.multiply_block(i);
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
