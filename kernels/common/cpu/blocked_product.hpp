// The matrix product around a register-tile kernel: packs both inputs once, which hides their
// layout and format, then multiplies blocks of C that fit the caches, in parallel. After Goto and
// van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.
//
// A Kernel has: Word (FloatWord or Bf16Pair); rows and columns of its tile of C; step, the words of
// the reduction that it multiplies at once, and depth, those that it should before it turns to the
// next tile; block_rows and block_columns, the part of C that a thread works on at once; and static
// functions begin() and end() around a thread's work, and
//   multiply_tile(depth, a, lda, b, c):  c[rows][columns] += a b
// with `depth` words, rounded up to `step`, of each row of a (lda words apart) and each column of b
// (rows of `columns` words).
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

  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  cpu::Lines<A> a;
  cpu::Lines<B> b;
  cpu::Panels packed_a;
  cpu::Panels packed_b;
  float* tiles;  // block_rows x block_columns per thread
  Out* c;
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
      cpu::pack<Word>(a, !a.along, packed_a, strip * cpu::kLanes,
                      a.along ? k : round_up(m, Kernel::rows));
      return;
    }
    cpu::pack<Word>(b, b.along, packed_b, (strip - strips_a()) * cpu::kLanes,
                    b.along ? k : round_up(n, Kernel::columns));
  }

  // Blocks of C, row by row.
  [[nodiscard]] std::int64_t blocks_in_row() const { return ceil_div(n, Kernel::block_columns); }
  [[nodiscard]] std::int64_t blocks() const {
    return ceil_div(m, Kernel::block_rows) * blocks_in_row();
  }
  void multiply_block(std::int64_t block) const {
    const std::int64_t i_begin = block / blocks_in_row() * Kernel::block_rows;
    const std::int64_t i_end = std::min(m, i_begin + Kernel::block_rows);
    const std::int64_t j_begin = block % blocks_in_row() * Kernel::block_columns;
    const std::int64_t j_end = std::min(n, j_begin + Kernel::block_columns);
    for (std::int64_t p = 0; p < k; p += Kernel::depth) {
      float* tile = tiles + omp_get_thread_num() * Kernel::block_rows * Kernel::block_columns;
      for (std::int64_t j = j_begin; j < j_end; j += Kernel::columns) {
        for (std::int64_t i = i_begin; i < i_end; i += Kernel::rows, tile += tile_elements) {
          if (p == 0) std::fill_n(tile, tile_elements, 0.0F);
          Kernel::multiply_tile(std::min(Kernel::depth, k - p), packed_a.at(i, p), packed_a.width,
                                packed_b.at(p, j), tile);
          if (p + Kernel::depth >= k) write_tile(tile, i, j);
        }
      }
    }
  }

  void write_tile(const float* sums, std::int64_t i, std::int64_t j) const {
    const std::int64_t columns = std::min(Kernel::columns, n - j);
    for (std::int64_t r = i; r < std::min(i + Kernel::rows, m); ++r, sums += Kernel::columns) {
      Out* row = c + r * n + j;
      const auto write = [&](std::int64_t x) {
        row[x] = cpu::narrow<Out>(epilogue(sums[x], j + x));
      };
      if (columns == Kernel::columns) {  // a length that the compiler knows
        for (std::int64_t x = 0; x < Kernel::columns; ++x) write(x);
      } else {
        for (std::int64_t x = 0; x < columns; ++x) write(x);
      }
    }
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
  return {words(rows * row_words<Kernel>(s)), words(columns * row_words<Kernel>(s)),
          words(queue.threads() * Kernel::block_rows * Kernel::block_columns)};
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
  const auto packed = [](const std::shared_ptr<void>& memory, std::int64_t rows, std::int64_t w) {
    return cpu::Panels{static_cast<std::uint32_t*>(memory.get()), rows, w};
  };
  const BlockedProduct<Kernel, A, B, Out, Epilogue> product{
      .m = m,
      .n = n,
      .k = ceil_div(k, Kernel::Word::steps),
      .a = {a, a_along ? m : k, a_along ? k : m, a_along},
      .b = {b, b_along ? n : k, b_along ? k : n, b_along},
      .packed_a = packed(workspace.a, m, width),  // a single panel: rows of A
      .packed_b = packed(workspace.b, width, Kernel::columns),
      .tiles = static_cast<float*>(workspace.tiles.get()),
      .c = c,
      .epilogue = epilogue};
  return [product, workspace, threads = queue.threads()] {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
      for (std::int64_t i = 0; i < product.strips(); ++i) product.pack(i);
      Kernel::begin();
#pragma omp for schedule(dynamic)
      for (std::int64_t i = 0; i < product.blocks(); ++i) product.multiply_block(i);
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
