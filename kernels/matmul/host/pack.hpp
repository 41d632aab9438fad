// Packs a matrix of any format and orientation into panels of 32-bit words, the order in which the
// micro-kernel reads them. A word is one step of the reduction for one row of A or column of B: a
// float, or two bf16 (the lower half is the earlier) for instructions that multiply pairs.
//
// Include it inside a region of target_begin.hpp: the compiler lowers vector types for the
// instruction set of the function that names them, before it inlines. Every function here is
// inlined or local, so that no symbol is left that another file could link to.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

#include "kernels/matmul/host/prefetch.hpp"

namespace ridgebench::cpu {

using Vector [[gnu::vector_size(kLanes * sizeof(float))]] = float;

// Unaligned load and store.
[[gnu::always_inline]] inline Vector load(const void* from) {
  Vector x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
[[gnu::always_inline]] inline void store(void* to, Vector x) { std::memcpy(to, &x, sizeof x); }

// Exchanges the off-diagonal Step x Step squares between two rows that are Step apart.
template <int Step, int... Lane>
[[gnu::always_inline]] inline void exchange(Vector& low, Vector& high,
                                            std::integer_sequence<int, Lane...> /*lanes*/) {
  const Vector first = low;
#if defined(__clang__)
  low = __builtin_shufflevector(first, high, ((Lane & Step) ? kLanes + Lane - Step : Lane)...);
  high = __builtin_shufflevector(first, high, ((Lane & Step) ? kLanes + Lane : Lane + Step)...);
#else  // GCC 11 has only this one
  using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = int;
  low = __builtin_shuffle(first, high, Lanes{((Lane & Step) ? kLanes + Lane - Step : Lane)...});
  high = __builtin_shuffle(first, high, Lanes{((Lane & Step) ? kLanes + Lane : Lane + Step)...});
#endif
}

// Transposes a square by exchanging squares of 1, 2, 4, ... elements.
template <int Step = 1>
[[gnu::always_inline]] inline void transpose(Vector (&rows)[kLanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if ((i & Step) == 0) {
      exchange<Step>(rows[i], rows[i + Step], std::make_integer_sequence<int, kLanes>());
    }
  }
  if constexpr (2 * Step < kLanes) transpose<2 * Step>(rows);
}

// The indices begin <= i < end.
struct Range {
  std::int64_t begin;
  std::int64_t end;

  [[nodiscard, gnu::always_inline]] constexpr std::int64_t count() const { return end - begin; }
};

// A matrix as it is stored: `lines` rows or columns, each `length` contiguous numbers, from
// multiples of `stride` on. An element of `data` holds kPer numbers, of which a line has whole
// elements. The reduction (k) runs along the lines where `k_contiguous`, else
// across them.
template <class T>
struct StoredMatrix {
  static constexpr std::int64_t kPer = info(FormatOf<T>::value).numbers();

  const T* data;
  std::int64_t lines;
  std::int64_t length;
  std::int64_t stride;
  bool k_contiguous;

  // The memory that pack reads for these rows of A or columns of B.
  template <class Word>
  [[nodiscard, gnu::always_inline]] PrefetchLines memory(Range outer, Range words) const {
    const Range steps{words.begin * Word::steps, words.end * Word::steps};
    const Range across = k_contiguous ? outer : steps;
    const Range part = k_contiguous ? steps : outer;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    return {data + (across.begin * stride + part.begin) / kPer,
            std::min(across.end, lines) - across.begin,
            (std::min(part.end, length) - part.begin) * kBytes / kPer, stride * kBytes / kPer};
  }
};

// A matrix stored along k whose numbers count scale(line, k) times: kBlockOfScale of them along k
// share one (block_scales.hpp).
template <class T, std::int64_t kBlockOfScale, class Scale>
struct BlockScaledMatrix : StoredMatrix<T> {
  Scale scale;
};

// N numbers of a line from number `first`, each converted by `convert`; zeros beyond the matrix.
template <std::int64_t N, class T, class Number, class Convert>
[[gnu::always_inline]] inline void read_line(const StoredMatrix<T>& from, std::int64_t line,
                                             std::int64_t first, Number* to, Convert convert) {
  constexpr std::int64_t kPer = StoredMatrix<T>::kPer;
  const T* source = from.data + (line * from.stride + first) / kPer;
  const std::int64_t valid = line < from.lines ? from.length - first : 0;
  if (valid >= N) {
    for (std::int64_t j = 0; j < N; j += kBlock) convert(source + j / kPer, to + j);
  } else {
    T padded[N / kPer] = {};
    for (std::int64_t j = 0; j < valid / kPer; ++j) padded[j] = source[j];
    for (std::int64_t j = 0; j < N; j += kBlock) convert(padded + j / kPer, to + j);
  }
}

// A word that is a float: every format widens to it.
struct FloatWord {
  using Number = float;
  static constexpr std::int64_t steps = 1;  // of the reduction, in a word

  // Writes kBlock words of one line.
  template <class T>
  [[gnu::always_inline]] static void read(const StoredMatrix<T>& from, std::int64_t line,
                                          std::int64_t first, float* words) {
    read_line<kBlock>(from, line, first, words,
                      [](const T* in, float* out) { widen_block(in, out); });
  }
  template <class T, std::int64_t kBlockOfScale, class Scale>
  [[gnu::always_inline]] static void read(const BlockScaledMatrix<T, kBlockOfScale, Scale>& from,
                                          std::int64_t line, std::int64_t first, float* words) {
    constexpr std::int64_t kOfOneScale = std::min<std::int64_t>(kBlock, kBlockOfScale);
    static_assert(kBlock % kOfOneScale == 0 && kBlockOfScale % kOfOneScale == 0);
    const StoredMatrix<T>& numbers = from;
    read(numbers, line, first, words);
    if (line >= from.lines) return;  // zeros
    for (std::int64_t i = 0; i < kBlock && first + i < from.length; i += kOfOneScale) {
      const float scale = from.scale(line, first + i);
      for (std::int64_t j = i; j < i + kOfOneScale; ++j) words[j] *= scale;
    }
  }
};

// A word that is two bf16. fp8 widens to bf16 exactly.
struct Bf16Pair {
  using Number = std::uint16_t;
  static constexpr std::int64_t steps = 2;

  template <class T>
  [[gnu::always_inline]] static void widen_to_bf16(const T* in, std::uint16_t* out) {
    if constexpr (FormatOf<T>::value == Format::bf16) {
      std::memcpy(out, in, kBlock * sizeof(T));
    } else {
      float x[kBlock];
      widen_block(in, x);
      for (int i = 0; i < kBlock; ++i) {
        out[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x[i]) >> 16U);
      }
    }
  }

  template <class T>
  [[gnu::always_inline]] static void read(const StoredMatrix<T>& from, std::int64_t line,
                                          std::int64_t first, std::uint16_t* words) {
    const auto convert = [](const T* in, std::uint16_t* out) { widen_to_bf16(in, out); };
    if (from.k_contiguous) {
      read_line<2 * kBlock>(from, line, 2 * first, words, convert);
    } else {
      std::uint16_t earlier[kBlock];
      std::uint16_t later[kBlock];
      read_line<kBlock>(from, 2 * line, first, earlier, convert);
      read_line<kBlock>(from, 2 * line + 1, first, later, convert);
      for (std::int64_t i = 0; i < kBlock; ++i) {
        words[2 * i] = earlier[i];
        words[2 * i + 1] = later[i];
      }
    }
  }
};

// A packed matrix: panels of kLines rows of A or columns of B. In a panel, kRun words of its first
// line are followed by kRun words of each other line, then by the next kRun words of the first.
// kRun is 1; or 0, which means all words of a line; or kRun and kLines are multiples of kLanes.
template <std::int64_t kLines, std::int64_t kRun>
struct PackedPanels {
  static constexpr bool lines_adjacent = kRun == 1;

  std::uint32_t* data;
  std::int64_t words;  // in a line, rounded up to whole blocks
  std::int64_t begin;  // index of the first line that `data` holds

  [[nodiscard, gnu::always_inline]] std::uint32_t* at(std::int64_t line, std::int64_t word) const {
    line -= begin;
    if constexpr (kRun == 0) {
      return data + line * words + word;
    } else {
      return data + line / kLines * kLines * words + word / kRun * kRun * kLines +
             line % kLines * kRun + word % kRun;
    }
  }
  // The memory of these words of these lines, which are whole panels.
  [[nodiscard, gnu::always_inline]] PrefetchLines memory(Range lines, Range of_line) const {
    constexpr std::int64_t kTogether = kRun == 0 ? 1 : kLines;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(*data)) * kTogether;
    return {at(lines.begin, of_line.begin), ceil_div(lines.count(), kTogether),
            of_line.count() * kBytes, words * kBytes};
  }
  // Words from a line to the next line of its panel.
  [[nodiscard, gnu::always_inline]] std::int64_t line_stride() const {
    return kRun == 0 ? words : kRun;
  }
  // Words between the vectors that pack_strip stores: from line to line, or from word to word where
  // the words of different lines are adjacent.
  [[nodiscard, gnu::always_inline]] std::int64_t vector_stride() const {
    return lines_adjacent ? kLines : line_stride();
  }
};

// Packs `words`, whole blocks of them, of the kLanes lines of `from` that begin at `line`. Where k
// runs across the lines, two lines make a line of pairs.
template <class Word, class Matrix, class Panels>
[[gnu::always_inline]] inline void pack_strip(const Matrix& from, const Panels& to,
                                              std::int64_t line, Range words) {
  for (std::int64_t first = words.begin; first < words.end; first += kBlock) {
    alignas(64) typename Word::Number strip[kLanes][kBlock * Word::steps];
    for (int i = 0; i < kLanes; ++i) Word::read(from, line + i, first, strip[i]);
    for (std::int64_t j = 0; j < kBlock; j += kLanes) {
      Vector square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) square[i] = load(&strip[i][j * Word::steps]);
      if (from.k_contiguous == Panels::lines_adjacent) transpose(square);
      std::uint32_t* out = from.k_contiguous ? to.at(line, first + j) : to.at(first + j, line);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(out + i * to.vector_stride(), square[i]);
    }
  }
}

namespace {

// Packs these words of these rows of A or columns of B, each range rounded up to kBlock. Not
// inlined: all products of a format share one copy.
template <class Word, class Matrix, class Panels>
[[gnu::noinline]] void pack(const Matrix& from, const Panels& to, Range outer, Range words) {
  const Range across = from.k_contiguous ? outer : words;
  const Range part = from.k_contiguous ? words : outer;
  for (std::int64_t line = across.begin; line < across.end; line += kLanes) {
    pack_strip<Word>(from, to, line, part);
  }
}

}  // namespace
}  // namespace ridgebench::cpu
