// Wrong bits in the memory of a device, word by word, and the patterns that a memory test writes.
// Hosts and GPUs compute the same words, because the code is plain integers. Words have 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// The finaliser of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9U;
  x = (x ^ x >> 27U) * 0x94D049BB133111EBU;
  return x ^ x >> 31U;
}

// The part of a checksum that word number `index` has: mixing the index in makes the sum depend on
// where a word is.
constexpr std::uint64_t sum_of_word(std::uint64_t word, std::uint64_t index) {
  return mix(word + mix(index + 1));
}

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

// The last bytes of memory that do not fill a word, from byte `at` on.
constexpr std::uint64_t last_word(const std::byte* data, std::size_t at, std::size_t bytes) {
  std::uint64_t word = 0;
  for (std::size_t b = at; b < bytes; ++b) word = word << 8U | static_cast<std::uint64_t>(data[b]);
  return word;
}

// A word that does not hold what it should.
struct WrongWord {
  std::uint64_t index;  // of the word in its region
  std::uint64_t expected;
  std::uint64_t found;
};

struct WrongBits {
  std::int64_t words = 0;        // number of wrong words
  std::int64_t bits = 0;         // number of wrong bits in them
  std::vector<WrongWord> first;  // up to kMostReported of the words, in ascending order
};
// A comparison reports this number of wrong words and counts all.
inline constexpr std::size_t kMostReported = 16;

// The patterns that a memory test writes. Patterns of a fixed word find stuck cells, walking ones
// and zeros find bits that follow their neighbours, and addresses find address lines (van de Goor,
// "Testing Semiconductor Memories", 1991, chapters 2 and 4).
enum class PatternKind : std::uint8_t {
  zeros,
  ones,
  checkerboard,
  walking_one,
  walking_zero,
  address,
  inverse_address,
  random
};
constexpr auto names_of(PatternKind) {
  return enum_names("pattern", "zeros", "ones", "checkerboard", "walking_one", "walking_zero",
                    "address", "inverse_address", "random");
}

struct MemoryPattern {
  PatternKind kind = PatternKind::zeros;
  // Shifts the walking bits and the board, and is the seed of the random words.
  std::uint64_t seed = 0;

  // Word number `index` of the memory under test.
  [[nodiscard]] constexpr std::uint64_t word(std::uint64_t index) const {
    constexpr std::uint64_t kBoard = 0x5555555555555555U;
    constexpr std::uint64_t kBits = 64;
    const std::uint64_t shifted = index + seed;
    switch (kind) {
      case PatternKind::zeros:
        return 0;
      case PatternKind::ones:
        return ~std::uint64_t{0};
      case PatternKind::checkerboard:
        return shifted % 2 == 0 ? kBoard : ~kBoard;
      case PatternKind::walking_one:
        return std::uint64_t{1} << shifted % kBits;
      case PatternKind::walking_zero:
        return ~(std::uint64_t{1} << shifted % kBits);
      case PatternKind::address:
        return index * kWordBytes;
      case PatternKind::inverse_address:
        return ~(index * kWordBytes);
      default:
        return mix(index + mix(seed));
    }
  }
};

}  // namespace ridgebench
