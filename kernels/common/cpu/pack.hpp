// Copies a matrix of any format and orientation into panels of 32-bit words, the order in which a
// register-tile kernel reads it. A word is one step of the reduction for one row of A or column of
// B: a float, or two bf16 (the lower half is the earlier) for instructions that multiply pairs.
//
// To be included inside a region of target_begin.hpp: vector types are lowered for the instruction
// set of the function that names them, before inlining. All is inlined, so that no symbol is left
// that another file could link to.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

#include "kernels/common/cpu/lines_ahead.hpp"

namespace ridgebench::cpu {

// Words in a vector register of this instruction set.
constexpr int kLanes = RIDGEBENCH_ISA_LEVEL == 4 ? 16 : RIDGEBENCH_ISA_LEVEL == 3 ? 8 : 4;
using Vector [[gnu::vector_size(kLanes * sizeof(float))]] = float;

// From and to memory of any alignment.
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
  low = __builtin_shufflevector(first, high, ((Lane & Step) ? kLanes + Lane - Step : Lane)...);
  high = __builtin_shufflevector(first, high, ((Lane & Step) ? kLanes + Lane : Lane + Step)...);
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

// From `begin` on, before `end`.
struct Range {
  std::int64_t begin;
  std::int64_t end;

  [[nodiscard, gnu::always_inline]] constexpr std::int64_t count() const { return end - begin; }
};

// A matrix as it is stored: `lines` rows or columns, each `length` contiguous elements. The
// reduction runs along the lines, or across them.
template <class T>
struct Lines {
  const T* data;
  std::int64_t lines;
  std::int64_t length;
  bool along;

  // The memory that pack reads of these rows of A or columns of B.
  template <class Word>
  [[nodiscard, gnu::always_inline]] LinesAhead memory(Range outer, Range words) const {
    const Range steps{words.begin * Word::steps, words.end * Word::steps};
    const Range across = along ? outer : steps;
    const Range part = along ? steps : outer;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    return {data + across.begin * length + part.begin, std::min(across.end, lines) - across.begin,
            (std::min(part.end, length) - part.begin) * kBytes, length * kBytes};
  }
};

// N elements of a line from `first` on, each converted by `convert`; zeros beyond the matrix.
template <std::int64_t N, class T, class Number, class Convert>
[[gnu::always_inline]] inline void read_line(const Lines<T>& from, std::int64_t line,
                                             std::int64_t first, Number* to, Convert convert) {
  const T* source = from.data + line * from.length + first;
  const std::int64_t valid = line < from.lines ? from.length - first : 0;
  if (valid >= N) {
    for (std::int64_t j = 0; j < N; j += kBlock) convert(source + j, to + j);
  } else {
    T padded[N] = {};
    for (std::int64_t j = 0; j < valid; ++j) padded[j] = source[j];
    for (std::int64_t j = 0; j < N; j += kBlock) convert(padded + j, to + j);
  }
}

// A word that is a float: any format, widened.
struct FloatWord {
  using Number = float;
  static constexpr std::int64_t steps = 1;  // numbers, and of the reduction

  // kBlock words of one line of words.
  template <class T>
  [[gnu::always_inline]] static void read(const Lines<T>& from, std::int64_t line,
                                          std::int64_t first, float* words) {
    read_line<kBlock>(from, line, first, words,
                      [](const T* in, float* out) { widen_block(in, out); });
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
  [[gnu::always_inline]] static void read(const Lines<T>& from, std::int64_t line,
                                          std::int64_t first, std::uint16_t* words) {
    const auto convert = [](const T* in, std::uint16_t* out) { widen_to_bf16(in, out); };
    if (from.along) {
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

// A packed matrix: the words of each row of A or column of B, kLines of which are neighbours in a
// panel. There, kRun words of the first line are followed by as many of the next; after the last
// line come the next words of the first. Either kRun is 1, or it is 0, which means all words of a
// line, or it and kLines are multiples of kLanes.
template <std::int64_t kLines, std::int64_t kRun>
struct Panels {
  static constexpr bool lines_adjacent = kRun == 1;

  std::uint32_t* data;
  std::int64_t words;  // of a line, with room for whole blocks
  std::int64_t begin;  // the first line

  [[nodiscard, gnu::always_inline]] std::uint32_t* at(std::int64_t line, std::int64_t word) const {
    line -= begin;
    if constexpr (kRun == 0) {
      return data + line * words + word;
    } else {
      return data + line / kLines * kLines * words + word / kRun * kRun * kLines +
             line % kLines * kRun + word % kRun;
    }
  }
  // Their memory, where the lines are whole panels.
  [[nodiscard, gnu::always_inline]] LinesAhead memory(Range lines, Range of_line) const {
    constexpr std::int64_t kTogether = kRun == 0 ? 1 : kLines;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(*data)) * kTogether;
    return {at(lines.begin, of_line.begin), ceil_div(lines.count(), kTogether),
            of_line.count() * kBytes, words * kBytes};
  }
  // From a line to the next of its panel.
  [[nodiscard, gnu::always_inline]] std::int64_t line_stride() const {
    return kRun == 0 ? words : kRun;
  }
  // From one to the next of kLanes vectors of words: of lines, or of words where those of different
  // lines are adjacent.
  [[nodiscard, gnu::always_inline]] std::int64_t vector_stride() const {
    return lines_adjacent ? kLines : line_stride();
  }
};

// Packs words of the kLanes lines of `from` from `line` on, where lines of pairs are pairs of
// lines; whole blocks of words.
template <class Word, class T, class Panels>
[[gnu::always_inline]] inline void pack_strip(const Lines<T>& from, const Panels& to,
                                              std::int64_t line, Range words) {
  for (std::int64_t first = words.begin; first < words.end; first += kBlock) {
    alignas(64) typename Word::Number strip[kLanes][kBlock * Word::steps];
    for (int i = 0; i < kLanes; ++i) Word::read(from, line + i, first, strip[i]);
    for (std::int64_t j = 0; j < kBlock; j += kLanes) {
      Vector square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) square[i] = load(&strip[i][j * Word::steps]);
      if (from.along == Panels::lines_adjacent) transpose(square);
      std::uint32_t* out = from.along ? to.at(line, first + j) : to.at(first + j, line);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(out + i * to.vector_stride(), square[i]);
    }
  }
}

// Packs these words of these rows of A or columns of B, of both up to kBlock more.
template <class Word, class T, class Panels>
[[gnu::always_inline]] inline void pack(const Lines<T>& from, const Panels& to, Range outer,
                                        Range words) {
  const Range across = from.along ? outer : words;
  const Range part = from.along ? words : outer;
  for (std::int64_t line = across.begin; line < across.end; line += kLanes) {
    pack_strip<Word>(from, to, line, part);
  }
}

}  // namespace ridgebench::cpu
