#include "kernels/common/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>
#include <vector>

#include "kernels/common/cpu/clones.hpp"

namespace ridgebench {
namespace {

// The quantile of p <= 1/2, by Newton's method on Phi(x) = erfc(-x / sqrt(2)) / 2, which keeps its
// relative accuracy in the lower tail. Phi is convex there, so from any x <= 0 that is not below
// the root every step goes down to it and none beyond.
double lower_quantile(double p, double x) {
  double step = 1;
  while (step > 1e-15 * (1 - x)) {
    const double density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    step = (std::erfc(-x / std::numbers::sqrt2) / 2 - p) / density;
    x -= step;
  }
  return x;
}

constexpr double middle(std::uint32_t k) { return (k + 0.5) / kQuantiles; }

// Symmetric; each lower one begins at its neighbour above.
std::vector<double> normal_quantiles() {
  std::vector<double> x(kQuantiles);
  double neighbour = 0;
  for (std::uint32_t k = kQuantiles / 2; k-- > 0;) {
    neighbour = lower_quantile(middle(k), neighbour);
    x[k] = neighbour;
    x[kQuantiles - 1 - k] = -neighbour;
  }
  return x;
}

double quantile(Fill fill, std::uint32_t k) {
  switch (fill) {
    case Fill::normal: {
      static const std::vector<double> normal = normal_quantiles();
      return normal[k];
    }
    case Fill::uniform:
      return 2 * middle(k) - 1;
    case Fill::zeros:
      return 0;
    case Fill::integers:
      return std::floor(5 * middle(k)) - 2;
  }
  return 0;
}

// Two numbers of fp4_e2m1, each by half of the bits: the quantile in the middle of 256 equal
// shares.
std::uint32_t pair_of_quantiles(Fill fill, std::uint32_t k) {
  const auto code = [&](std::uint32_t share) {
    return encode_bits(kFp4E2m1, static_cast<float>(quantile(fill, share << 8U | 0x80U)));
  };
  return code(k & 0xffU) | code(k >> 8U) << 4U;
}

std::vector<std::uint32_t> make_table(Format format, Fill fill) {
  const double scale = format == Format::int8 && fill != Fill::integers ? kInt8Scale : 1;
  std::vector<std::uint32_t> table(kQuantiles);
  for (std::uint32_t k = 0; k < kQuantiles; ++k) {
    if (format == Format::fp4_e2m1) {
      table[k] = pair_of_quantiles(fill, k);
      continue;
    }
    const auto value = static_cast<float>(scale * quantile(fill, k));
    table[k] = static_cast<std::uint32_t>(
        stored_bits(format == Format::fp64 ? Format::fp32 : format, value));
  }
  return table;
}

// One thread fills up to that many, because a team of threads takes longer to start.
constexpr std::int64_t kFewElements = 1 << 14;

struct Stream {
  std::uint64_t seed;
  std::uint32_t id;
};

// Made together, so that they fill vector registers: word[w][i] belongs to block `first + i`.
constexpr std::int64_t kBatch = 64;
using BlockBatch = std::array<std::array<std::uint32_t, kBatch>, 4>;

RIDGEBENCH_CLONES
void make_blocks(BlockBatch& word, Stream stream, std::int64_t first) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    const PhiloxBlock block =
        random_block(stream.seed, stream.id, static_cast<std::uint64_t>(first) + i);
    for (std::size_t w = 0; w < word.size(); ++w) word[w][i] = block.word[w];
  }
}

// An entry of a quantile table as the format stores it; Bits has the width of that.
template <class Bits>
Bits stored(std::uint32_t word) {
  if constexpr (sizeof(Bits) == sizeof(double)) {
    return std::bit_cast<Bits>(static_cast<double>(std::bit_cast<float>(word)));
  } else {
    return static_cast<Bits>(word);
  }
}

// The quantiles in the width of the format: more of them lie in the caches.
template <class Bits>
std::span<const Bits> stored_quantiles(Format format, Fill fill) {
  static std::mutex mutex;
  static std::map<std::pair<Format, Fill>, std::vector<Bits>> tables;
  const std::lock_guard lock(mutex);
  std::vector<Bits>& table = tables[{format, fill}];
  if (table.empty()) {
    const std::span<const std::uint32_t> words = quantile_table(format, fill);
    table.reserve(words.size());
    std::ranges::transform(words, std::back_inserter(table), stored<Bits>);
  }
  return table;
}

// Element e of a block is value(block, e), e < kEach, in the storage of the format.
template <std::int64_t kEach, class Bits, class Value>
void fill_blocks(Bits* out, std::int64_t first, std::int64_t elements, Stream stream, int threads,
                 const Value& value) {
  const std::int64_t end = first + elements;
  const std::int64_t end_block = (end + kEach - 1) / kEach;
#pragma omp parallel for num_threads(threads) if (elements > kFewElements)
  for (std::int64_t batch = first / kEach; batch < end_block; batch += kBatch) {
    BlockBatch word;
    make_blocks(word, stream, batch);
    for (std::int64_t block = batch; block < std::min(batch + kBatch, end_block); ++block) {
      const auto i = static_cast<std::size_t>(block - batch);
      const PhiloxBlock random{{word[0][i], word[1][i], word[2][i], word[3][i]}};
      std::array<Bits, kEach> whole;
      for (std::uint32_t e = 0; e < kEach; ++e) whole[e] = value(random, e);
      const std::int64_t start = block * kEach;
      if (first <= start && start + kEach <= end) {
        std::memcpy(out + start - first, whole.data(), sizeof(whole));
        continue;
      }
      // The first and the last block may be partial.
      const std::int64_t from = std::max(first - start, std::int64_t{0});
      const std::int64_t to = std::min(end - start, kEach);
      std::copy(whole.data() + from, whole.data() + to, out + (start + from - first));
    }
  }
}

// Calls use(bits) with `out` as an array of whole numbers of the format's width.
template <class Use>
void as_stored(void* out, Format format, const Use& use) {
  switch (info(format).storage_bytes) {
    case 1:
      return use(static_cast<std::uint8_t*>(out));
    case 2:
      return use(static_cast<std::uint16_t*>(out));
    case 4:
      return use(static_cast<std::uint32_t*>(out));
    default:
      return use(static_cast<std::uint64_t*>(out));
  }
}

}  // namespace

double normal_quantile(double p) {
  const double x = lower_quantile(std::min(p, 1 - p), 0);
  return p > 0.5 ? -x : x;
}

std::span<const std::uint32_t> quantile_table(Format format, Fill fill) {
  static std::mutex mutex;
  static std::map<std::pair<Format, Fill>, std::vector<std::uint32_t>> tables;
  const std::lock_guard lock(mutex);
  std::vector<std::uint32_t>& table = tables[{format, fill}];
  if (table.empty()) table = make_table(format, fill);
  return table;
}

void fill_random(void* out, std::int64_t elements, Format format, Fill fill, std::uint64_t seed,
                 std::uint32_t stream, int threads, std::int64_t first) {
  as_stored(out, format, [&]<class Bits>(Bits* bits) {
    const std::span<const Bits> table = stored_quantiles<Bits>(format, fill);
    fill_blocks<kElementsPerBlock>(
        bits, first, elements, {seed, stream}, threads,
        [&](const PhiloxBlock& block, std::uint32_t e) { return table[random_bits(block, e)]; });
  });
}

void fill_random(void* out, std::int64_t elements, Format format, Values values, std::uint64_t seed,
                 std::uint32_t stream, int threads, std::int64_t first) {
  as_stored(out, format, [&]<class Bits>(Bits* bits) {
    const auto fill = [&](const auto& bits_of) {
      fill_blocks<4>(bits, first, elements, {seed, stream}, threads,
                     [&](const PhiloxBlock& block, std::uint32_t e) {
                       return static_cast<Bits>(bits_of(value_of(values, block.word[e])));
                     });
    };
    if (format == Format::fp32) {  // stored_bits() rounds by steps that any format takes
      return fill([](double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); });
    }
    fill([&](double x) { return stored_bits(format, x); });
  });
}

void fill_random(void* out, std::int64_t elements, Format format, const RandomStream& from,
                 int threads) {
  const auto& [fill, values, seed, stream, first] = from;
  if (values.kind == Values::Kind::of_the_run) {
    fill_random(out, elements, format, fill, seed, stream, threads, first);
  } else {
    fill_random(out, elements, format, values, seed, stream, threads, first);
  }
}

}  // namespace ridgebench
