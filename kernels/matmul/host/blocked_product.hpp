// The matrix product around a micro-kernel: packs both inputs, which hides their layout and format,
// and multiplies blocks of C that fit the caches, in parallel. After Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008, with the names of BLIS
// (Van Zee and van de Geijn, ACM TOMS 41(3), 2015).
//
// A Kernel, the micro-kernel, has:
//   Word       FloatWord or Bf16Pair of pack.hpp
//   mr, nr     rows and columns of its tile of C
//   step       words of the reduction that it multiplies at once
//   kc         words of the reduction between two visits of a tile
//   mc(k)      rows of C in a thread's block, for k words of reduction
//   run        words of each row of A that are contiguous (0: all of them)
//   begin(), end()  around a thread's work
//   multiply(words, a, lda, b, c, add, prefetch)
// multiply computes c[mr][nr] = a b, or adds a b to it, with `words`, rounded up to `step`, of each
// row of a and each column of b. Rows of a lie lda words apart, rows of b have nr words. Meanwhile
// it issues the prefetches.
//
// Include it inside a region of target_begin.hpp, after pack.hpp.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgebench {
namespace {

// Applied to an accumulator in column j before it is rounded to the output's format.
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

// C is cut into bands of rows, each as high as a block: as few as mc allows, but a multiple of the
// threads.
template <class Kernel>
std::int64_t bands_of(const Shape& s, std::int64_t threads) {
  const std::int64_t tiles = ceil_div(s["m"], Kernel::mr);
  const std::int64_t most = Kernel::mc(ceil_div(s["k"], Kernel::Word::steps)) / Kernel::mr;
  const std::int64_t count = ceil_div(tiles, most);
  return std::min(tiles, round_up(count, threads));
}
// Rows of the highest band.
template <class Kernel>
std::int64_t rows_of_band(std::int64_t m, std::int64_t bands) {
  return ceil_div(ceil_div(m, Kernel::mr), bands) * Kernel::mr;
}

// Columns of a block: a panel's, or the number that pack writes at once.
template <class Kernel>
constexpr std::int64_t kBlockColumns = std::max<std::int64_t>(Kernel::nr, cpu::kBlock);

// Words of a thread's packed A, `width` words to a row, and of its accumulators of a block.
constexpr std::int64_t words_of_band(std::int64_t rows, std::int64_t width) {
  return round_up(rows, cpu::kBlock) * width;
}
template <class Kernel>
constexpr std::int64_t words_of_accumulators(std::int64_t rows) {
  return rows * kBlockColumns<Kernel>;
}

// C[m,n] = epilogue(A B) with k words of reduction. A and B are matrices of pack.hpp.
template <class KernelOf, class A, class B, class Out, class Epilogue>
struct BlockedProduct {
  using Kernel = KernelOf;
  using Word = typename Kernel::Word;
  static_assert(cpu::kBlock % Kernel::nr == 0 || Kernel::nr % cpu::kBlock == 0);
  static_assert(Kernel::kc % cpu::kBlock == 0);
  static constexpr bool rows_are_lines = Kernel::nr % cpu::kLineElements<Out> == 0;

  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  A a;
  B b;
  cpu::PackedPanels<Kernel::mr, Kernel::run> packed_a;  // one band for each thread
  cpu::PackedPanels<Kernel::nr, 1> packed_b;
  float* accumulators;  // of one block for each thread
  std::int64_t bands;
  Out* c;
  std::int64_t ldc;  // elements from a row of C to the next
  Epilogue epilogue;
  bool streaming = false;  // stores whole tiles of C past the caches

  // Words of the reduction that the micro-kernel reads; pack fills those beyond k with zeros.
  [[nodiscard]] std::int64_t padded_k() const { return round_up(k, Kernel::step); }

  // Blocks of C are numbered band by band. Bands differ by one tile at most.
  [[nodiscard]] std::int64_t blocks_in_band() const { return ceil_div(n, kBlockColumns<Kernel>); }
  [[nodiscard]] std::int64_t blocks() const { return bands * blocks_in_band(); }
  [[nodiscard]] cpu::Range rows_of(std::int64_t block) const {
    const std::int64_t band = block / blocks_in_band();
    const std::int64_t tiles = ceil_div(m, Kernel::mr);
    return {tiles * band / bands * Kernel::mr,
            std::min(m, tiles * (band + 1) / bands * Kernel::mr)};
  }
  // Rounded up to whole panels.
  [[nodiscard]] cpu::Range columns_of(std::int64_t block) const {
    const std::int64_t begin = block % blocks_in_band() * kBlockColumns<Kernel>;
    return {begin, std::min(round_up(n, Kernel::nr), begin + kBlockColumns<Kernel>)};
  }

  // Stores the finished tile at row i, column j.
  void write_tile(const float* tile, std::int64_t i, std::int64_t j) const {
    const std::int64_t columns = std::min(Kernel::nr, n - j);
    for (std::int64_t r = i; r < std::min(i + Kernel::mr, m); ++r, tile += Kernel::nr) {
      if (columns == Kernel::nr) {
        write_row(tile, j, c + r * ldc + j);
      } else {
        for (std::int64_t x = 0; x < columns; ++x) c[r * ldc + j + x] = finished(tile, j, x);
      }
    }
  }
  void write_row(const float* sums, std::int64_t j, Out* to) const {
    alignas(cpu::kLineBytes) Out row[Kernel::nr];
    for (std::int64_t x = 0; x < Kernel::nr; ++x) row[x] = finished(sums, j, x);
    if constexpr (rows_are_lines) {
      if (streaming) {
        for (std::int64_t x = 0; x < Kernel::nr; x += cpu::kLineElements<Out>) {
          cpu::stream_line(to + x, row + x);
        }
        return;
      }
    }
    std::copy_n(row, Kernel::nr, to);
  }
  [[gnu::always_inline]] Out finished(const float* sums, std::int64_t j, std::int64_t x) const {
    return cpu::narrow<Out>(epilogue(sums[x], j + x));
  }

  // True if C is stored past the caches: an ordinary store to a C that a core's own caches do not
  // hold first waits for the line that it changes.
  [[nodiscard]] bool streaming_pays() const {
    constexpr std::int64_t kLargeBytes = std::int64_t{1} << 20U;
    return ldc % cpu::kLineElements<Out> == 0 && cpu::StreamCut::until_line(c) == 0 &&
           m * n * static_cast<std::int64_t>(sizeof(Out)) > kLargeBytes;
  }
};

// The work of one thread of the macro-kernel. A thread multiplies its own blocks of C and packs A
// for itself. All threads pack B together: each packs a share of the columns while it multiplies
// its first rows by them; then all threads wait for each other, and multiply the rest. During each
// step a thread prefetches what its next step packs or reads.
template <class Product>
class MacroKernel {
 public:
  using Kernel = typename Product::Kernel;
  using Word = typename Kernel::Word;

  explicit MacroKernel(const Product& product)
      : product_(product),
        mine_(share_of(product.blocks())),
        sharing_(overlap(mine_, columns_to_pack())),
        packed_a_(product.packed_a) {
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t rows = rows_of_band<Kernel>(product.m, product.bands);
    packed_a_.data += thread * words_of_band(rows, packed_a_.words);
    accumulators_ = product.accumulators + thread * words_of_accumulators<Kernel>(rows);
  }

  // Packs this thread's columns of B.
  void pack_columns() {
    const cpu::Range columns = columns_to_pack();
    for (std::int64_t block = columns.begin; block < columns.end; ++block) {
      if (block >= sharing_.begin && block < sharing_.end) continue;
      cpu::pack<Word>(product_.b, product_.packed_b, product_.columns_of(block),
                      {0, product_.padded_k()});
    }
    for (std::int64_t turn = 0; turn < sharing_.count(); ++turn) multiply_block(turn);
  }
  // Multiplies the other blocks; all threads must have packed their columns.
  void multiply_rest() {
    for (std::int64_t turn = sharing_.count(); turn < mine_.count(); ++turn) multiply_block(turn);
  }

 private:
  using PackedA = decltype(Product::packed_a);

  // At most kc words of the reduction of a block.
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
  // The blocks of its first band for whose columns this thread packs B, whether it multiplies them
  // or not.
  [[nodiscard]] cpu::Range columns_to_pack() const {
    const std::int64_t in_band = product_.blocks_in_band();
    const cpu::Range columns = share_of(in_band);
    const std::int64_t band = mine_.begin / in_band * in_band;
    return {band + columns.begin, band + columns.end};
  }
  // A thread's blocks in order: first those for which it packs B, then the others.
  [[nodiscard]] std::int64_t block_of(std::int64_t turn) const {
    if (turn < sharing_.count()) return sharing_.begin + turn;
    const std::int64_t block = mine_.begin + turn - sharing_.count();
    return block < sharing_.begin ? block : block + sharing_.count();
  }

  [[nodiscard]] Step step(std::int64_t turn, std::int64_t first_word) const {
    const std::int64_t block = block_of(turn);
    const cpu::Range rows = product_.rows_of(block);
    const std::int64_t end = first_word + Kernel::kc;
    return {.rows = rows,
            .columns = product_.columns_of(block),
            .words = {first_word, end < product_.k ? end : product_.padded_k()},
            .packs_a = turn == 0 || product_.rows_of(block_of(turn - 1)).begin != rows.begin,
            .packs_b = turn < sharing_.count()};
  }
  [[nodiscard]] PackedA band_of_a(const Step& s) const {
    PackedA band = packed_a_;
    band.begin = s.rows.begin;
    return band;
  }

  void multiply_block(std::int64_t turn) {
    for (std::int64_t p = 0; p < product_.k; p += Kernel::kc) {
      const Step now = step(turn, p);
      if (now.packs_b) cpu::pack<Word>(product_.b, product_.packed_b, now.columns, now.words);
      if (now.packs_a) cpu::pack<Word>(product_.a, band_of_a(now), now.rows, now.words);
      cpu::Prefetcher prefetcher;
      if (now.words.end < product_.k) {
        add_memory_of(step(turn, now.words.end), prefetcher);
      } else if (turn + 1 < mine_.count()) {
        add_memory_of(step(turn + 1, 0), prefetcher);
      }
      multiply_step(now, prefetcher);
    }
  }

  // Adds the memory that the step packs or reads.
  void add_memory_of(const Step& s, cpu::Prefetcher& prefetcher) const {
    const cpu::PrefetchLines packed_b = product_.packed_b.memory(s.columns, s.words);
    if (s.packs_b) prefetcher.add(product_.b.template memory<Word>(s.columns, s.words));
    prefetcher.add(s.packs_b ? packed_b.for_writing() : packed_b);
    if (s.packs_a) {
      prefetcher.add(product_.a.template memory<Word>(s.rows, s.words));
      prefetcher.add(band_of_a(s).memory(s.rows, s.words).for_writing());
    }
  }

  // Adds the step's products to every tile of the block.
  void multiply_step(const Step& s, cpu::Prefetcher& prefetcher) {
    const PackedA a = band_of_a(s);
    const std::int64_t words = std::min(s.words.end, product_.k) - s.words.begin;
    prefetcher.divide(ceil_div(s.rows.count(), Kernel::mr) * (s.columns.count() / Kernel::nr));
    float* tile = accumulators_;
    for (std::int64_t j = s.columns.begin; j < s.columns.end; j += Kernel::nr) {
      for (std::int64_t i = s.rows.begin; i < s.rows.end; i += Kernel::mr) {
        Kernel::multiply(words, a.at(i, s.words.begin), a.line_stride(),
                         product_.packed_b.at(j, s.words.begin), tile, s.words.begin > 0,
                         prefetcher.next());
        if (s.words.end >= product_.k) product_.write_tile(tile, i, j);
        tile += Kernel::mr * Kernel::nr;
      }
    }
  }

  const Product& product_;
  cpu::Range mine_;      // blocks
  cpu::Range sharing_;   // those of them for which this thread packs B
  PackedA packed_a_;     // the current band
  float* accumulators_;  // of a block, tile by tile
};

// Words per row of packed A: whole blocks and one vector more, so that rows do not all map to the
// same sets of a cache.
template <class Kernel>
std::int64_t row_words(const Shape& s) {
  return round_up(ceil_div(s["k"], Kernel::Word::steps), cpu::kBlock) + cpu::kLanes;
}

// Packed A and the accumulators of all threads, and packed B.
struct Workspace {
  std::shared_ptr<void> a;
  std::shared_ptr<void> b;
  std::shared_ptr<void> accumulators;
};
struct WorkspaceBytes {
  std::size_t a;
  std::size_t b;
  std::size_t accumulators;
};

template <class Kernel>
WorkspaceBytes bytes_of_workspace(std::int64_t threads, const Shape& s) {
  const auto bytes = [](std::int64_t words) {
    return static_cast<std::size_t>(words) * sizeof(std::uint32_t);
  };
  const std::int64_t rows = rows_of_band<Kernel>(s["m"], bands_of<Kernel>(s, threads));
  const std::int64_t columns = round_up(round_up(s["n"], Kernel::nr), cpu::kBlock);
  const std::int64_t width = row_words<Kernel>(s);
  return {bytes(threads * words_of_band(rows, width)), bytes(columns * width),
          bytes(threads * words_of_accumulators<Kernel>(rows))};
}

// Technique::workspace_bytes.
template <class Kernel>
double workspace_bytes(const Machine& machine, const Shape& s) {
  const auto bytes = bytes_of_workspace<Kernel>(machine.units, s);
  return static_cast<double>(bytes.a + bytes.b + bytes.accumulators);
}

template <class Kernel>
Workspace prepare(Queue& queue, const Shape& s) {
  const auto bytes = bytes_of_workspace<Kernel>(queue.threads(), s);
  return {queue.allocate(bytes.a), queue.allocate(bytes.b), queue.allocate(bytes.accumulators)};
}

// The operands as they are stored in the shape's layout.
template <class T>
cpu::StoredMatrix<T> stored_a(const Shape& s, const T* a) {
  const StoredLines stored = lines_of_a(s);
  return {a, stored.lines, stored.length, stored.stride, s.layout() != Layout::tn};
}
template <class T>
cpu::StoredMatrix<T> stored_b(const Shape& s, const T* b) {
  const StoredLines stored = lines_of_b(s);
  return {b, stored.lines, stored.length, stored.stride, s.layout() == Layout::nt};
}

template <class Kernel, class A, class B, class Out, class Epilogue>
BlockedProduct<Kernel, A, B, Out, Epilogue> blocked_product(const Queue& queue,
                                                            const Workspace& workspace,
                                                            const Shape& s, const A& a, const B& b,
                                                            Out* c, Epilogue epilogue) {
  const std::int64_t width = row_words<Kernel>(s);
  const auto words_of = [](const std::shared_ptr<void>& memory) {
    return static_cast<std::uint32_t*>(memory.get());
  };
  BlockedProduct<Kernel, A, B, Out, Epilogue> product{
      .m = s["m"],
      .n = s["n"],
      .k = ceil_div(s["k"], Kernel::Word::steps),
      .a = a,
      .b = b,
      .packed_a = {words_of(workspace.a), width, 0},
      .packed_b = {words_of(workspace.b), width, 0},
      .accumulators = static_cast<float*>(workspace.accumulators.get()),
      .bands = bands_of<Kernel>(s, queue.threads()),
      .c = c,
      .ldc = lines_of_c(s).stride,
      .epilogue = epilogue};
  product.streaming = product.streaming_pays();
  return product;
}

template <class Product>
void multiply(const Product& product, int threads) {
#pragma omp parallel num_threads(threads)
  {
    Product::Kernel::begin();
    MacroKernel macro_kernel(product);
    macro_kernel.pack_columns();
#pragma omp barrier
    macro_kernel.multiply_rest();
    cpu::streaming_fence();
    Product::Kernel::end();
  }
}

template <class Product>
Launch launch(const Queue& queue, const Workspace& workspace, const Product& product) {
  return [product, workspace, threads = queue.threads()] { multiply(product, threads); };
}

// The products of a batch, one after the other: each on all threads.
template <class Kernel, class A, class B, class Out>
Launch bind(Queue& queue, const Workspace& workspace, const Shape& shape, const A* a, const B* b,
            Out* c) {
  const auto first = blocked_product<Kernel>(queue, workspace, shape, stored_a(shape, a),
                                             stored_b(shape, b), c, Identity{});
  if (batch_of(shape) == 1) return launch(queue, workspace, first);
  return [first, workspace, threads = queue.threads(), batch = batch_of(shape),
          of_a = lines_of_a(shape).elements(), of_b = lines_of_b(shape).elements(),
          of_c = lines_of_c(shape).elements()] {
    auto product = first;
    for (std::int64_t i = 0; i < batch; ++i) {
      multiply(product, threads);
      product.a.data += of_a;
      product.b.data += of_b;
      product.c += of_c;
      product.streaming = product.streaming_pays();
    }
  };
}

template <class Kernel, class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Workspace& workspace, const Shape& shape, const A* a,
                 const B* b, const Out* bias, Out* c) {
  return launch(queue, workspace,
                blocked_product<Kernel>(queue, workspace, shape, stored_a(shape, a),
                                        stored_b(shape, b), c, BiasGelu<Out>{bias}));
}

// Layout nt, with the scales of block_scales.hpp.
template <class Kernel, class Scales>
Launch bind_block_scaled(Queue& queue, const Workspace& workspace, const Shape& shape,
                         const typename Scales::Number* a, const typename Scales::Number* b,
                         const typename Scales::Scale* scale_a,
                         const typename Scales::Scale* scale_b, Bf16* c) {
  using Number = typename Scales::Number;
  const auto of_a = [=, m = shape["m"], depth = shape["k"]](std::int64_t line, std::int64_t k) {
    return decode(scale_a[Scales::index_a(line, k, m, depth)]);
  };
  const auto of_b = [=, n = shape["n"], depth = shape["k"]](std::int64_t line, std::int64_t k) {
    return decode(scale_b[Scales::index_b(line, k, n, depth)]);
  };
  const cpu::BlockScaledMatrix<Number, Scales::kBlock, decltype(of_a)> scaled_a{
      {stored_a(shape, a)}, of_a};
  const cpu::BlockScaledMatrix<Number, Scales::kBlock, decltype(of_b)> scaled_b{
      {stored_b(shape, b)}, of_b};
  return launch(
      queue, workspace,
      blocked_product<Kernel>(queue, workspace, shape, scaled_a, scaled_b, c, Identity{}));
}

}  // namespace
}  // namespace ridgebench
