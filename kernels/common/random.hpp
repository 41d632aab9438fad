// The data every run computes on: reproducible from (seed, stream), and the same bits on a host and
// on a GPU, because both look up the same table with the same integers.
//
// Element i of a stream takes 16 random bits k and becomes the quantile of the fill's distribution
// at (k + 1/2) / 65536, rounded to the format (fp64: to fp32). In int8, normal and uniform numbers
// are kInt8Scale times as large before that. An element of fp4_e2m1 is two numbers. Each takes 8 of
// the bits, j, and becomes the quantile near (j + 1/2) / 256: 1/131072 above it. Random access by
// index lets any thread make any part.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/format.hpp"

namespace ridgebench {

// Four 32-bit words: a counter, or the random block that belongs to it.
struct PhiloxBlock {
  std::uint32_t word[4];  // NOLINT(modernize-avoid-c-arrays): a GPU has no std::array
};

// Philox4x32-10. Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
// 3", SC11; constants as in Random123's philox.h. Plain integers, so that a GPU can run it as it
// is.
constexpr PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(product1 >> 32U) ^ counter.word[1] ^ key0,
                static_cast<std::uint32_t>(product1),
                static_cast<std::uint32_t>(product0 >> 32U) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9;  // golden ratio
    key1 += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

// One block serves eight elements, 16 bits each, low half first.
inline constexpr std::int64_t kElementsPerBlock = 8;

constexpr PhiloxBlock random_block(std::uint64_t seed, std::uint32_t stream, std::uint64_t block) {
  return philox4x32_10(
      {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U), stream, 0}},
      seed);
}

// The 16 bits of element `index` (0 to 7) of a block.
constexpr std::uint32_t random_bits(const PhiloxBlock& block, std::uint32_t index) {
  return block.word[index / 2] >> (16U * (index % 2)) & 0xFFFFU;
}

// normal: mean 0, variance 1. uniform: -1 to 1. integers: -2 to 2 in equal shares.
enum class Fill : std::uint8_t { normal, uniform, zeros, integers };

constexpr auto names_of(Fill) {
  return enum_names("fill", "normal", "uniform", "zeros", "integers");
}

// Normal numbers then reach the limits of int8 at four standard deviations.
inline constexpr double kInt8Scale = 32;

// Random values of an operand that do not follow the run's fill, such as indices.
struct Values {
  enum class Kind : std::uint8_t { of_the_run, uniform, below };
  Kind kind = Kind::of_the_run;
  double low = 0;
  double high = 0;
};
// low <= x < high before it is rounded to the operand's format.
constexpr Values uniform(double low, double high) { return {Values::Kind::uniform, low, high}; }
// Whole numbers 0 .. bound - 1 in equal shares; 1 <= bound <= 2^31.
constexpr Values integers_below(std::int64_t bound) {
  return {Values::Kind::below, 0, static_cast<double>(bound)};
}

// Where the values of an array come from: elements `first` on of a random stream. `values` take the
// place of the fill, unless they are those of the run.
struct RandomStream {
  Fill fill = Fill::normal;
  Values values = {};
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  std::int64_t first = 0;  // a multiple of kElementsPerBlock
};

// The value that belongs to 32 random bits, before it is rounded to the operand's format.
constexpr double value_of(const Values& values, std::uint32_t bits) {
  const double value = values.low + bits * 0x1p-32 * (values.high - values.low);
  // From 0 on, the conversion rounds down.
  const bool whole = values.kind == Values::Kind::below;
  return whole ? static_cast<double>(static_cast<std::int64_t>(value)) : value;
}

// Quantile of the standard normal distribution at p, 0 < p < 1; error below 1e-15 (1 + |x|).
double normal_quantile(double p);

inline constexpr std::uint32_t kQuantiles = 65536;

// The kQuantiles values of a fill as stored in the format, each in the low bytes of its word; those
// of fp64 as floats. Made once, kept for good; may be called from any thread.
std::span<const std::uint32_t> quantile_table(Format format, Fill fill);

// Writes elements first .. first + elements - 1 of a stream to `out` (host memory, in the format's
// storage). The bits depend on nothing but seed, stream and index; not on the number of threads.
void fill_random(void* out, std::int64_t elements, Format format, Fill fill, std::uint64_t seed,
                 std::uint32_t stream, int threads, std::int64_t first = 0);

// The same for values that do not follow the run's fill. An element takes 32 random bits. `first`
// is a multiple of 4.
void fill_random(void* out, std::int64_t elements, Format format, Values values, std::uint64_t seed,
                 std::uint32_t stream, int threads, std::int64_t first = 0);

// The same for either.
void fill_random(void* out, std::int64_t elements, Format format, const RandomStream& from,
                 int threads);

}  // namespace ridgebench
