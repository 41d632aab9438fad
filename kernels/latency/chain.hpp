// The order in which a pointer chase visits its nodes, one cycle through all of them, and what each
// node holds.
#pragma once

#include <cstdint>

namespace ridgebench {

// Bytes of a cache line of NVIDIA GPUs (CUDA C++ Programming Guide) and of the pairs of lines that
// x86 processors fetch together (Intel 64 and IA-32 Architectures Optimization Reference Manual,
// "spatial prefetcher").
inline constexpr std::int64_t kChaseLineBytes = 128;

// A permutation of 0 .. nodes - 1: step k of the chase visits place(k). Successive places have no
// common distance, which a prefetcher or an open DRAM page would profit from.
struct ChaseOrder {
  std::int64_t nodes;
  int bits = 0;  // of the largest place

  // `nodes` is 1 to 2^31 - 1.
  explicit constexpr ChaseOrder(std::int64_t count) : nodes(count) {
    while ((count - 1) >> bits != 0) ++bits;
  }

  // 0 <= step < nodes. The steps of MurmurHash3's 32-bit finalizer (Appleby), an exclusive or with
  // higher bits and a product with an odd number, are also bijections modulo a smaller power of
  // two. Where a value is no place, the next one of its cycle is taken ("cycle walking": Black and
  // Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
  [[nodiscard]] constexpr std::int64_t place(std::int64_t step) const {
    const std::uint32_t mask = (1U << bits) - 1U;
    const int shift = (bits + 1) / 2;
    auto value = static_cast<std::uint32_t>(step);
    do {
      value ^= value >> shift;
      value = value * 0x85ebca6bU & mask;
      value ^= value >> shift;
      value = value * 0xc2b2ae35U & mask;
      value ^= value >> shift;
    } while (value >= nodes);
    return value;
  }

  [[nodiscard]] constexpr std::int64_t after(std::int64_t step) const {
    return step + 1 < nodes ? step + 1 : 0;
  }
};

// Pointers of 64 bits. The nodes of a chain are `stride` lines apart.
struct ChaseNode {
  const ChaseNode* next;
  std::int64_t step;
};

constexpr std::int64_t chase_offset(std::int64_t place, std::int64_t stride) {
  return place * stride * kChaseLineBytes;
}

}  // namespace ridgebench
