// Kernels that fill, set and compare device memory. They are grid-stride loops; those over a list
// of regions take one thread block per region. None of them is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "harness/device/wrong_bits.hpp"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/random.hpp"

namespace ridgebench::memory_kernels {

// std::span is not for device code.
struct Bytes {
  std::byte* data;
  std::size_t size;
};

__device__ inline std::int64_t first_item() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t stride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

// An entry of a quantile table as the format stores it: those of fp64 are floats.
template <class Word>
__device__ Word stored(std::uint32_t entry) {
  if constexpr (std::is_same_v<Word, double>) {
    return __uint_as_float(entry);
  } else {
    return static_cast<Word>(entry);
  }
}

template <class T>
__device__ double to_double(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return cuda::to_float(x);
  }
}

// As fill_random: each element takes 16 random bits, which choose an entry of the table.
template <class Word>
__global__ void fill_elements(Word* out, std::int64_t elements, const std::uint32_t* table,
                              std::uint64_t seed, std::uint32_t stream, std::int64_t first) {
  const std::int64_t count = (elements + kElementsPerBlock - 1) / kElementsPerBlock;
  for (std::int64_t b = first_item(); b < count; b += stride()) {
    const PhiloxBlock block =
        random_block(seed, stream, static_cast<std::uint64_t>(first / kElementsPerBlock + b));
    for (std::uint32_t i = 0; i < kElementsPerBlock; ++i) {
      const std::int64_t at = b * kElementsPerBlock + i;
      if (at < elements) out[at] = stored<Word>(table[random_bits(block, i)]);
    }
  }
}

// As fill_random for values that do not follow the run's fill: each element takes 32 random bits.
template <class Word>
__global__ void fill_values(Word* out, std::int64_t elements, FormatInfo format,
                            RandomStream from) {
  constexpr std::int64_t per_block = 4;
  for (std::int64_t i = first_item(); i < elements; i += stride()) {
    const std::int64_t at = from.first + i;
    const PhiloxBlock block =
        random_block(from.seed, from.stream, static_cast<std::uint64_t>(at / per_block));
    const double value = value_of(from.values, block.word[at % per_block]);
    if constexpr (std::is_same_v<Word, double>) {
      out[i] = value;
    } else if (format.format == Format::int32) {
      out[i] = static_cast<Word>(static_cast<std::int32_t>(floor(value)));
    } else {
      const int shift = format.format == Format::tf32 ? 13 : 0;  // as stored_bits()
      out[i] = static_cast<Word>(encode_bits(format, static_cast<float>(value)) << shift);
    }
  }
}

// One thread block per region.
__global__ void set_regions(const Bytes* regions, std::byte value) {
  const Bytes region = regions[blockIdx.x];
  for (std::size_t i = threadIdx.x; i < region.size; i += blockDim.x) region.data[i] = value;
}

__global__ void find_other_bytes(const Bytes* regions, std::byte value, unsigned long long* found) {
  const Bytes region = regions[blockIdx.x];
  for (std::size_t i = threadIdx.x; i < region.size; i += blockDim.x) {
    if (region.data[i] != value) *found = 1;
  }
}

template <class T>
__global__ void find_nan(const T* data, std::int64_t elements, unsigned long long* found) {
  for (std::int64_t i = first_item(); i < elements; i += stride()) {
    if (isnan(to_double(data[i]))) *found = 1;
  }
}

__device__ inline std::int64_t words_of(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + kWordBytes - 1) / kWordBytes);
}

__device__ inline std::uint64_t word_of(const std::byte* data, std::size_t bytes, std::int64_t i) {
  const std::size_t at = static_cast<std::size_t>(i) * kWordBytes;
  if (at + kWordBytes > bytes) return last_word(data, at, bytes);
  return *reinterpret_cast<const std::uint64_t*>(data + at);
}

__global__ void add_checksums(const std::byte* data, std::size_t bytes, unsigned long long* sum) {
  std::uint64_t own = 0;
  for (std::int64_t i = first_item(); i < words_of(bytes); i += stride()) {
    own += sum_of_word(word_of(data, bytes, i), static_cast<std::uint64_t>(i));
  }
  atomicAdd(sum, own);
}

// Wrong words: the first ones to be found, and the number of all.
struct Found {
  unsigned long long words, bits;
  WrongWord first[kMostReported];  // NOLINT(modernize-avoid-c-arrays): a GPU has no std::array
};

__device__ inline void note(Found* found, std::uint64_t index, std::uint64_t expected,
                            std::uint64_t word) {
  if (word == expected) return;
  const unsigned long long place = atomicAdd(&found->words, 1);
  atomicAdd(&found->bits, static_cast<unsigned long long>(__popcll(word ^ expected)));
  if (place < kMostReported) found->first[place] = {index, expected, word};
}

__global__ void find_wrong_words(const std::byte* data, const std::byte* expected,
                                 std::size_t bytes, Found* found) {
  for (std::int64_t i = first_item(); i < words_of(bytes); i += stride()) {
    note(found, static_cast<std::uint64_t>(i), word_of(expected, bytes, i),
         word_of(data, bytes, i));
  }
}

__global__ void write_words(std::uint64_t* words, std::int64_t count, MemoryPattern pattern) {
  for (std::int64_t i = first_item(); i < count; i += stride()) {
    words[i] = pattern.word(static_cast<std::uint64_t>(i));
  }
}

__global__ void find_words_off_pattern(const std::uint64_t* words, std::int64_t count,
                                       MemoryPattern pattern, Found* found) {
  for (std::int64_t i = first_item(); i < count; i += stride()) {
    const auto index = static_cast<std::uint64_t>(i);
    note(found, index, pattern.word(index), words[i]);
  }
}

// The bits of non-negative doubles are ordered as the numbers are.
template <class T>
__global__ void find_difference(const T* x, const T* y, std::int64_t elements, double absolute,
                                double relative, unsigned long long* largest) {
  double own = 0;
  for (std::int64_t i = first_item(); i < elements; i += stride()) {
    const double a = to_double(x[i]);
    const double b = to_double(y[i]);
    if (a == b) continue;
    const double ratio = fabs(a - b) / (absolute + relative * fabs(b));
    own = isnan(ratio) ? std::numeric_limits<double>::infinity() : fmax(own, ratio);
  }
  if (own > 0) atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(own)));
}

// Writes only if all words equal one that the host never stores, so that the compiler keeps the
// reads.
__global__ void read_words(const uint4* data, std::int64_t count, unsigned never,
                           unsigned long long* found) {
  unsigned all = ~0U;
  for (std::int64_t i = first_item(); i < count; i += stride()) {
    const uint4 words = data[i];
    all &= words.x & words.y & words.z & words.w;
  }
  if (all == never) *found = 1;
}

}  // namespace ridgebench::memory_kernels
