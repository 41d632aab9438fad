// A matrix product cut for blocked_product.hpp: bands of rows of C, as high as a block; blocks of a
// band; and how a finished tile of C is written.
//
// A part of blocked_product.hpp, which includes it where both must stand.
#pragma once

namespace ridgebench {
namespace {

using cpu::ceil_div;
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

// A block is as wide as a panel, or as pack fills at once.
template <class Kernel>
constexpr std::int64_t kBlockColumns = std::max<std::int64_t>(Kernel::columns, cpu::kBlock);

// Words that a thread needs for so many rows of a band: those of packed A, `width` to a row, and
// the sums of a block.
constexpr std::int64_t words_of_band(std::int64_t rows, std::int64_t width) {
  return round_up(rows, cpu::kBlock) * width;
}
template <class Kernel>
constexpr std::int64_t words_of_sums(std::int64_t rows) {
  return rows * kBlockColumns<Kernel>;
}

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

  // Words of the reduction that a kernel reads: those beyond k are packed as zeros.
  [[nodiscard]] std::int64_t padded_k() const { return round_up(k, Kernel::step); }

  // Blocks of C, band by band. A band has as many tiles as another, or one more.
  [[nodiscard]] std::int64_t blocks_in_band() const { return ceil_div(n, kBlockColumns<Kernel>); }
  [[nodiscard]] std::int64_t blocks() const { return bands * blocks_in_band(); }
  [[nodiscard]] cpu::Range rows_of(std::int64_t block) const {
    const std::int64_t band = block / blocks_in_band();
    const std::int64_t tiles_in_all = ceil_div(m, Kernel::rows);
    return {tiles_in_all * band / bands * Kernel::rows,
            std::min(m, tiles_in_all * (band + 1) / bands * Kernel::rows)};
  }
  // To the end of its last panel.
  [[nodiscard]] cpu::Range columns_of(std::int64_t block) const {
    const std::int64_t begin = block % blocks_in_band() * kBlockColumns<Kernel>;
    return {begin, std::min(round_up(n, Kernel::columns), begin + kBlockColumns<Kernel>)};
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

}  // namespace
}  // namespace ridgebench
