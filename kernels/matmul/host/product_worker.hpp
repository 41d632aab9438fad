// What one thread does of a matrix product. It multiplies its own blocks of C and packs A for
// itself. B is packed by all for all: each thread packs a share of the columns while it multiplies
// its first rows by them; then all wait for each other, and multiply the rest. What a step packs or
// reads is asked for during the one before.
//
// A part of blocked_product.hpp, which includes it where both must stand.
#pragma once

namespace ridgebench {
namespace {

template <class Product>
class Worker {
 public:
  using Kernel = typename Product::Kernel;
  using Word = typename Kernel::Word;

  explicit Worker(const Product& product)
      : product_(product),
        mine_(share_of(product.blocks())),
        sharing_(overlap(mine_, columns_to_pack())),
        packed_a_(product.packed_a) {
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t rows = rows_of_band<Kernel>(product.m, product.bands);
    packed_a_.data += thread * words_of_band(rows, packed_a_.words);
    sums_ = product.tiles + thread * words_of_sums<Kernel>(rows);
  }

  // Packs this thread's columns of B.
  void pack_columns() {
    const cpu::Range columns = columns_to_pack();
    for (std::int64_t block = columns.begin; block < columns.end; ++block) {
      if (block >= sharing_.begin && block < sharing_.end) continue;
      cpu::pack<Word>(product_.b, product_.packed_b, product_.columns_of(block),
                      {0, product_.padded_k()});
    }
    for (std::int64_t turn = 0; turn < sharing_.count(); ++turn) multiply(turn);
  }
  // Once all have packed theirs.
  void multiply_rest() {
    for (std::int64_t turn = sharing_.count(); turn < mine_.count(); ++turn) multiply(turn);
  }

 private:
  using PanelsOfA = decltype(Product::packed_a);

  // Some words of the reduction of a block.
  struct Step {
    cpu::Range rows;
    cpu::Range columns;
    cpu::Range words;
    bool packs_a;
    bool packs_b;
  };

  static cpu::Range share_of(std::int64_t count) {
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t threads = omp_get_num_threads();
    return {count * thread / threads, count * (thread + 1) / threads};
  }
  static cpu::Range overlap(cpu::Range x, cpu::Range with) {
    return {std::clamp(with.begin, x.begin, x.end), std::clamp(with.end, x.begin, x.end)};
  }
  // The blocks of its first band for whose columns it packs B, whether it multiplies them or not.
  [[nodiscard]] cpu::Range columns_to_pack() const {
    const std::int64_t in_band = product_.blocks_in_band();
    const cpu::Range columns = share_of(in_band);
    const std::int64_t band = mine_.begin / in_band * in_band;
    return {band + columns.begin, band + columns.end};
  }
  // The order of its blocks: first those for which it packs B, then the others of that band.
  [[nodiscard]] std::int64_t block_of(std::int64_t turn) const {
    if (turn < sharing_.count()) return sharing_.begin + turn;
    const std::int64_t block = mine_.begin + turn - sharing_.count();
    return block < sharing_.begin ? block : block + sharing_.count();
  }

  [[nodiscard]] Step step(std::int64_t turn, std::int64_t first_word) const {
    const std::int64_t block = block_of(turn);
    const cpu::Range rows = product_.rows_of(block);
    const std::int64_t end = first_word + Kernel::depth;
    return {.rows = rows,
            .columns = product_.columns_of(block),
            .words = {first_word, end < product_.k ? end : product_.padded_k()},
            .packs_a = turn == 0 || product_.rows_of(block_of(turn - 1)).begin != rows.begin,
            .packs_b = turn < sharing_.count()};
  }
  [[nodiscard]] PanelsOfA band_of_a(const Step& s) const {
    PanelsOfA band = packed_a_;
    band.begin = s.rows.begin;
    return band;
  }

  void multiply(std::int64_t turn) {
    for (std::int64_t p = 0; p < product_.k; p += Kernel::depth) {
      const Step now = step(turn, p);
      if (now.packs_b) cpu::pack<Word>(product_.b, product_.packed_b, now.columns, now.words);
      if (now.packs_a) cpu::pack<Word>(product_.a, band_of_a(now), now.rows, now.words);
      cpu::PartsAhead ahead;
      if (now.words.end < product_.k) {
        look_ahead(step(turn, now.words.end), ahead);
      } else if (turn + 1 < mine_.count()) {
        look_ahead(step(turn + 1, 0), ahead);
      }
      multiply(now, ahead);
    }
  }

  // What the step will need.
  void look_ahead(const Step& s, cpu::PartsAhead& ahead) const {
    const cpu::LinesAhead packed_b = product_.packed_b.memory(s.columns, s.words);
    if (s.packs_b) ahead.add(product_.b.template memory<Word>(s.columns, s.words));
    ahead.add(s.packs_b ? packed_b.to_write() : packed_b);
    if (s.packs_a) {
      ahead.add(product_.a.template memory<Word>(s.rows, s.words));
      ahead.add(band_of_a(s).memory(s.rows, s.words).to_write());
    }
  }

  // Adds to every tile of the block.
  void multiply(const Step& s, cpu::PartsAhead& ahead) {
    const PanelsOfA a = band_of_a(s);
    const std::int64_t words = std::min(s.words.end, product_.k) - s.words.begin;
    ahead.divide(ceil_div(s.rows.count(), Kernel::rows) * (s.columns.count() / Kernel::columns));
    float* tile = sums_;
    for (std::int64_t j = s.columns.begin; j < s.columns.end; j += Kernel::columns) {
      for (std::int64_t i = s.rows.begin; i < s.rows.end; i += Kernel::rows) {
        Kernel::multiply_tile(words, a.at(i, s.words.begin), a.line_stride(),
                              product_.packed_b.at(j, s.words.begin), tile, s.words.begin > 0,
                              ahead.next());
        if (s.words.end >= product_.k) product_.write_tile(tile, i, j);
        tile += Kernel::rows * Kernel::columns;
      }
    }
  }

  const Product& product_;
  cpu::Range mine_;     // blocks
  cpu::Range sharing_;  // those of them for which it packs B
  PanelsOfA packed_a_;  // of the band at hand
  float* sums_;         // of a block, tile by tile
};

}  // namespace
}  // namespace ridgebench
