// Stores that bypass the caches. An ordinary store first reads the line that it changes, so that
// writing costs the traffic of reading and writing; a streaming store does not. It pays where the
// data leave the caches anyway, and hurts where they would have stayed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ridgebench::cpu {

// The unit in which memory moves, in bytes.
inline constexpr std::size_t kLineBytes = 64;

template <class T>
inline constexpr std::int64_t kLineElements = static_cast<std::int64_t>(kLineBytes / sizeof(T));

// How far ahead of a walk through memory lines are asked for, in bytes: into the first cache and,
// from further away, into the second, which can have more lines under way. As measured: reading
// gains most by 8 KiB on an AMD EPYC, where only the first was tried. On Intel Xeons it does by 1
// or 2 KiB (8 took a third of a matrix-vector product's speed); 2 suit lines of two streams in
// turn, on the one that they were tried on. Asking the second cache too is worth a tenth of a
// copy's speed, anywhere from 4 to 16 KiB.
struct Ahead {
  std::int64_t first, second;
};
#if defined(__x86_64__)
inline const Ahead kAheadBytes =
    __builtin_cpu_is("amd") != 0 ? Ahead{8192, 8192} : Ahead{2048, 4096};
#else
inline const Ahead kAheadBytes = {2048, 4096};
#endif

// Asks for the elements that lie so far beyond x[0, kElements), which need not exist. What a core
// has under way then no longer ends with the instructions that it looks ahead, nor where its own
// prefetchers stop.
template <std::int64_t kElements, class T>
[[gnu::always_inline]] inline void ask_ahead(const T* x) {
  const char* byte = reinterpret_cast<const char*>(x);
  for (std::size_t i = 0; i < kElements * sizeof(T); i += kLineBytes) {
    __builtin_prefetch(byte + kAheadBytes.first + i, 0, 3);
    __builtin_prefetch(byte + kAheadBytes.second + i, 0, 2);
  }
}

// stream_line: stores the line at `line` to `out`, both aligned to kLineBytes, with as few stores
// as the instruction set allows; one of a whole line is some 10 % faster than four parts of it.
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

// Every thread calls this after its streaming stores: they are not ordered with what follows.
[[gnu::always_inline]] inline void streaming_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// An array of n elements cut for streaming: up to `head`, the first line boundary; from there whole
// blocks of `block` elements (a multiple of a line) up to `tail`; then the rest.
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

}  // namespace ridgebench::cpu
