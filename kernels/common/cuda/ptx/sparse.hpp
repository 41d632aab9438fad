// Products whose A is sparse: of each four numbers along k, two are not zero (2:4). A is stored
// without the zeros, and metadata says where its numbers belong: two bits for each, the first in
// the low bits, in the order of k. Source: PTX ISA, "Sparse matrix storage".
#pragma once

#include <cstdint>

namespace ridgebench::cuda {

// The places of two stored numbers among their four.
inline constexpr int kSparseFirst = 1;
inline constexpr int kSparseSecond = 2;
// Metadata of eight numbers that are all at these places. Every lane has the same, so that it
// does not matter which lanes the instruction takes it from.
inline constexpr std::uint32_t kSparseMetadata = 0x99999999U;
static_assert((kSparseMetadata & 0xfU) == (kSparseFirst | kSparseSecond << 2));

// Where stored number `index` of a row belongs along k.
constexpr std::int64_t sparse_place(std::int64_t index) {
  return index / 2 * 4 + (index % 2 == 0 ? kSparseFirst : kSparseSecond);
}

}  // namespace ridgebench::cuda
