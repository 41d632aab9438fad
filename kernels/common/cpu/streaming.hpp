// Streaming stores, which bypass the caches, and prefetches. An ordinary store first reads the line
// that it changes, so that writing costs the traffic of reading and writing; a streaming store does
// not. It pays where the data leave the caches anyway, and hurts where they would have stayed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ridgebench::cpu {

// Bytes of a cache line.
inline constexpr std::size_t kLineBytes = 64;

template <class T>
inline constexpr std::int64_t kLineElements = static_cast<std::int64_t>(kLineBytes / sizeof(T));

// Prefetch distances in bytes: into level 1 and, further ahead, into level 2, which can have more
// misses outstanding. Measured: reads gain most from 8 KiB on an AMD EPYC (level 1 only), and from
// 1 or 2 KiB on Intel Xeons, where 8 KiB took a third of a matrix-vector product's speed; 2 KiB
// suits two streams in turn. Level 2 adds a tenth to a copy's speed, at any distance from 4 to 16
// KiB.
struct PrefetchDistance {
  std::int64_t level_1, level_2;
};
#if defined(__x86_64__)
inline const PrefetchDistance kPrefetchBytes =
    __builtin_cpu_is("amd") != 0 ? PrefetchDistance{8192, 8192} : PrefetchDistance{2048, 4096};
#else
inline const PrefetchDistance kPrefetchBytes = {2048, 4096};
#endif

// Prefetches the elements that lie those distances beyond x[0, kElements), which need not exist.
// More misses are then outstanding than the core's reorder window and its own prefetchers allow.
template <std::int64_t kElements, class T>
[[gnu::always_inline]] inline void prefetch_ahead(const T* x) {
  const char* byte = reinterpret_cast<const char*>(x);
  for (std::size_t i = 0; i < kElements * sizeof(T); i += kLineBytes) {
    __builtin_prefetch(byte + kPrefetchBytes.level_1 + i, 0, 3);
    __builtin_prefetch(byte + kPrefetchBytes.level_2 + i, 0, 2);
  }
}

// stream_line stores the line at `line` to `out`, both aligned to kLineBytes, with as few stores as
// the instruction set allows: one store of a whole line is some 10 % faster than four of its parts.
#if defined(__x86_64__) && defined(RIDGEBENCH_ISA_LEVEL) && RIDGEBENCH_ISA_LEVEL >= 4
#pragma GCC push_options
#pragma GCC target("avx512f")
[[gnu::always_inline]] inline void stream_line(void* out, const void* line) {
  _mm512_stream_si512(static_cast<__m512i*>(out), _mm512_load_si512(line));
}
#pragma GCC pop_options
#elif defined(__x86_64__) && defined(RIDGEBENCH_ISA_LEVEL) && RIDGEBENCH_ISA_LEVEL == 3
#pragma GCC push_options
#pragma GCC target("avx")
[[gnu::always_inline]] inline void stream_line(void* out, const void* line) {
  auto* to = static_cast<__m256i*>(out);
  const auto* from = static_cast<const __m256i*>(line);
  for (int part = 0; part < 2; ++part) {
    _mm256_stream_si256(to + part, _mm256_load_si256(from + part));
  }
}
#pragma GCC pop_options
#elif defined(__x86_64__)
[[gnu::always_inline]] inline void stream_line(void* out, const void* line) {
  auto* to = static_cast<__m128i*>(out);
  const auto* from = static_cast<const __m128i*>(line);
  for (int part = 0; part < 4; ++part) _mm_stream_si128(to + part, _mm_load_si128(from + part));
}
#else
[[gnu::always_inline]] inline void stream_line(void* out, const void* line) {
  std::memcpy(out, line, kLineBytes);  // an ordinary store
}
#endif

// Every thread calls this after its streaming stores, which the processor does not order with later
// stores.
[[gnu::always_inline]] inline void streaming_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// An array of n elements cut for streaming: elements before `head`, the first line boundary; whole
// blocks of `block` elements (a multiple of a line) up to `tail`; the rest.
struct StreamCut {
  template <class T>
  StreamCut(const T* array, std::int64_t n, std::int64_t block)
      : head(std::min(n, until_line(array))), tail(n - (n - head) % block) {}

  template <class T>
  static std::int64_t until_line(const T* array) {
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(array) % kLineBytes;
    return static_cast<std::int64_t>((kLineBytes - misaligned) % kLineBytes / sizeof(T));
  }

  std::int64_t head, tail;
};

// Bytes of one instance of the host's last-level cache; what Machine assumes where the kernel does
// not report it.
std::int64_t last_level_cache_bytes();

}  // namespace ridgebench::cpu
