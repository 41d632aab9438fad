// Copies a matrix of any format and orientation into panels of 32-bit words, the order in which a
// register-tile kernel reads it. A word is one step of the reduction for one row of A or column of
// B: a float, or two bf16 (the lower half is the earlier) for instructions that multiply pairs.
//
// To be included inside a region of target_begin.hpp: vector types are lowered for the instruction
// set of the function that names them, before inlining. All is inlined, so that no symbol is left
// that another file could link to.
#pragma once

#ifndef RIDGEPOINT_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgepoint::cpu {

// Words in a vector register of this instruction set.
constexpr int kLanes = RIDGEPOINT_ISA_LEVEL == 4 ? 16 : RIDGEPOINT_ISA_LEVEL == 3 ? 8 : 4;
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

// A matrix as it is stored: `lines` rows or columns, each `length` contiguous elements. The
// reduction runs along the lines, or across them.
template <class T>
struct Lines {
  const T* data;
  std::int64_t lines;
  std::int64_t length;
  bool along;
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
  static constexpr std::int64_t steps = 1;  // of the reduction

  // kBlock words of one line of words.
  template <class T>
  [[gnu::always_inline]] static void read(const Lines<T>& from, std::int64_t line,
                                          std::int64_t first, std::uint32_t* words) {
    float x[kBlock];
    read_line<kBlock>(from, line, first, x, [](const T* in, float* out) { widen_block(in, out); });
    std::memcpy(words, x, sizeof x);
  }
};

// A word that is two bf16. fp8 widens to bf16 exactly.
struct Bf16Pair {
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
                                          std::int64_t first, std::uint32_t* words) {
    const auto convert = [](const T* in, std::uint16_t* out) { widen_to_bf16(in, out); };
    if (from.along) {
      std::uint16_t x[2 * kBlock];
      read_line<2 * kBlock>(from, line, 2 * first, x, convert);
      std::memcpy(words, x, sizeof x);
    } else {
      std::uint16_t earlier[kBlock];
      std::uint16_t later[kBlock];
      read_line<kBlock>(from, 2 * line, first, earlier, convert);
      read_line<kBlock>(from, 2 * line + 1, first, later, convert);
      for (int i = 0; i < kBlock; ++i) {
        words[i] = static_cast<std::uint32_t>(earlier[i] | later[i] << 16U);
      }
    }
  }
};

// Panels of `width` columns one after the other, each `rows` x `width` words; width is a multiple
// of kLanes.
struct Panels {
  std::uint32_t* data;
  std::int64_t rows;
  std::int64_t width;

  [[nodiscard, gnu::always_inline]] std::uint32_t* at(std::int64_t row, std::int64_t column) const {
    return data + column / width * rows * width + row * width + column % width;
  }
};

// Packs the kLanes lines of words from `line` on, up to word `length` rounded up to kBlock: as rows
// of the panels, or transposed as columns.
template <class Word, class T>
[[gnu::always_inline]] inline void pack(const Lines<T>& from, bool transposed, const Panels& to,
                                        std::int64_t line, std::int64_t length) {
  for (std::int64_t first = 0; first < length; first += kBlock) {
    alignas(64) std::uint32_t strip[kLanes][kBlock];
    for (int i = 0; i < kLanes; ++i) Word::read(from, line + i, first, strip[i]);
    for (std::int64_t j = 0; j < kBlock; j += kLanes) {
      Vector square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) square[i] = load(&strip[i][j]);
      if (transposed) transpose(square);
      std::uint32_t* out = transposed ? to.at(first + j, line) : to.at(line, first + j);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(out + i * to.width, square[i]);
    }
  }
}

}  // namespace ridgepoint::cpu
