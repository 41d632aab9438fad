#include "harness/device/cpu/memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "harness/device/own_work.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {
namespace {

// Largest element with its sign cleared, as bits: in every format NaN is above all numbers.
template <class Bits>
Bits largest_magnitude(const void* data, std::int64_t elements, int threads) {
  const auto* const bits = static_cast<const Bits*>(data);
  constexpr Bits unsigned_bits = std::numeric_limits<Bits>::max() / 2;
  Bits largest = 0;
  constexpr std::int64_t kFewElements = 1 << 16;  // one thread is faster than a team that starts
#pragma omp parallel for simd num_threads(threads) \
    reduction(max : largest) if (parallel : elements > kFewElements)
  for (std::int64_t i = 0; i < elements; ++i) {
    largest = std::max(largest, static_cast<Bits>(bits[i] & unsigned_bits));
  }
  return largest;
}

constexpr std::size_t kChunk = std::size_t{1} << 20U;

// Calls f(first, count), on all threads, for every chunk of kChunk bytes.
template <class F>
void in_chunks(std::size_t bytes, F f) {
#pragma omp parallel for if (bytes > kChunk)
  for (std::size_t first = 0; first < bytes; first += kChunk) {
    f(first, std::min(kChunk, bytes - first));
  }
}

// Word number `index` of memory; the last one may lack bytes.
std::uint64_t word_at(const std::byte* data, std::size_t bytes, std::uint64_t index) {
  const std::size_t at = index * kWordBytes;
  if (at + kWordBytes > bytes) return last_word(data, at, bytes);
  std::uint64_t word = 0;
  std::memcpy(&word, data + at, kWordBytes);
  return word;
}

// Calls f(index, word) for the words of `count` bytes from byte `first` on, a multiple of a word.
template <class F>
void for_each_word(const std::byte* data, std::size_t first, std::size_t count, F f) {
  const std::size_t end = (first + count + kWordBytes - 1) / kWordBytes;
  for (std::size_t i = first / kWordBytes; i < end; ++i) f(i, word_at(data, first + count, i));
}

void note(WrongBits& wrong, std::uint64_t index, std::uint64_t expected, std::uint64_t found) {
  if (found == expected) return;
  ++wrong.words;
  wrong.bits += std::popcount(found ^ expected);
  if (wrong.first.size() < kMostReported) wrong.first.push_back({index, expected, found});
}

// Adds up what find(first, count, wrong) finds in each chunk.
template <class Find>
WrongBits wrong_bits_of(std::size_t bytes, Find find) {
  std::vector<WrongBits> chunks((bytes + kChunk - 1) / kChunk);
  in_chunks(bytes, [&](std::size_t first, std::size_t count) {
    find(first, count, chunks[first / kChunk]);
  });
  WrongBits all;
  for (const WrongBits& chunk : chunks) {
    all.words += chunk.words;
    all.bits += chunk.bits;
    const std::size_t room = kMostReported - all.first.size();
    all.first.insert(
        all.first.end(), chunk.first.begin(),
        chunk.first.begin() + static_cast<std::ptrdiff_t>(std::min(room, chunk.first.size())));
  }
  return all;
}

}  // namespace

void copy_in_parallel(std::byte* to, const std::byte* from, std::size_t bytes) {
  in_chunks(bytes, [&](std::size_t first, std::size_t count) {
    std::memcpy(to + first, from + first, count);
  });
}

void HostMemory::fill(void* out, std::int64_t elements, Format format, const RandomStream& from) {
  const OwnWork own;
  fill_random(out, elements, format, from, threads_);
}

void HostMemory::write(void* out, std::span<const std::byte> bytes) {
  const OwnWork own;
  copy_in_parallel(static_cast<std::byte*>(out), bytes.data(), bytes.size());
}

void HostMemory::set(std::span<const Region> regions, unsigned char value) {
  const OwnWork own;
  for (const Region& region : regions) {
    in_chunks(region.size(), [&](std::size_t first, std::size_t count) {
      std::memset(region.data() + first, value, count);
    });
  }
}

bool HostMemory::holds(std::span<const Region> regions, unsigned char value) {
  const OwnWork own;
  return std::ranges::all_of(regions, [&](const Region& region) {
    return std::ranges::all_of(region, [&](std::byte b) { return b == std::byte{value}; });
  });
}

const std::byte* HostMemory::on_host(std::span<const Region> regions, HostBuffer& scratch) {
  const OwnWork own;
  if (regions.size() == 1) return regions.front().data();
  std::size_t bytes = 0;
  for (const Region& region : regions) bytes += region.size();
  std::byte* const copy = scratch.resize(bytes);
  std::byte* end = copy;
  for (const Region& region : regions) end = std::ranges::copy(region, end).out;
  return copy;
}

bool HostMemory::has_nan(const void* data, std::int64_t elements, Format format) {
  const OwnWork own;
  const FormatInfo& f = info(format);
  if (f.whole()) return false;
  switch (f.storage_bytes) {
    case 1:
      return largest_magnitude<std::uint8_t>(data, elements, threads_) >= f.first_nan();
    case 2:
      return largest_magnitude<std::uint16_t>(data, elements, threads_) >= f.first_nan();
    case 8:
      return largest_magnitude<std::uint64_t>(data, elements, threads_) >
             std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    default:  // tf32, too, is stored as fp32
      return largest_magnitude<std::uint32_t>(data, elements, threads_) >=
             info(Format::fp32).first_nan();
  }
}

// The same sum as a GPU's, so that fingerprints compare.
std::uint64_t HostMemory::checksum(Region region) {
  const OwnWork own;
  std::vector<std::uint64_t> sums((region.size() + kChunk - 1) / kChunk);
  in_chunks(region.size(), [&](std::size_t first, std::size_t count) {
    std::uint64_t sum = 0;
    for_each_word(region.data(), first, count, [&](std::uint64_t index, std::uint64_t word) {
      sum += sum_of_word(word, index);
    });
    sums[first / kChunk] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// memcmp() finds equal chunks at the speed of the memory.
WrongBits HostMemory::compare(Region found, Region expected) {
  const OwnWork own;
  return wrong_bits_of(found.size(), [&](std::size_t first, std::size_t count, WrongBits& wrong) {
    if (std::memcmp(found.data() + first, expected.data() + first, count) == 0) return;
    for_each_word(found.data(), first, count, [&](std::uint64_t index, std::uint64_t word) {
      note(wrong, index, word_at(expected.data(), found.size(), index), word);
    });
  });
}

void HostMemory::write_pattern(Region region, const MemoryPattern& pattern) {
  const OwnWork own;
  in_chunks(region.size(), [&](std::size_t first, std::size_t count) {
    for (std::size_t at = first; at < first + count; at += kWordBytes) {
      const std::uint64_t word = pattern.word(at / kWordBytes);
      std::memcpy(region.data() + at, &word, kWordBytes);
    }
  });
}

WrongBits HostMemory::compare(Region found, const MemoryPattern& expected) {
  const OwnWork own;
  return wrong_bits_of(found.size(), [&](std::size_t first, std::size_t count, WrongBits& wrong) {
    for_each_word(found.data(), first, count, [&](std::uint64_t index, std::uint64_t word) {
      note(wrong, index, expected.word(index), word);
    });
  });
}

double HostMemory::largest_difference(const void* x, const void* y, std::int64_t elements,
                                      Format format, double absolute, double relative) {
  const OwnWork own;
  const View a{x, format};
  const View b{y, format};
  double largest = 0;
#pragma omp parallel for num_threads(threads_) reduction(max : largest)
  for (std::int64_t i = 0; i < elements; ++i) {
    if (a[i] == b[i]) continue;
    const double ratio = std::abs(a[i] - b[i]) / (absolute + relative * std::abs(b[i]));
    largest =
        std::max(largest, std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio);
  }
  return largest;
}

}  // namespace ridgebench
