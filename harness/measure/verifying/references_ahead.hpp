// References of many buffer sets by one call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/buffers.hpp"
#include "harness/measure/verifying/reference.hpp"

namespace ridgebench {

// Limit of the bytes of all values that the cache of a device's cases keeps: a share of the memory.
std::size_t most_cached_bytes();

// The cache's key of the rows of buffer set `index` of `count`. The checked rows of all sets
// after the first depend on the number of sets.
std::string reference_key(const Problem& problem, std::size_t index, std::size_t count);

// Buffer sets of a rotation: `first`, each multiple of `step` after it, and the last one.
struct SetsAhead {
  std::size_t first;
  std::size_t step;
};

// Computes the references of `rows` of these sets, of a run with that fill and seed, and keeps them
// in `cache`: as many sets as kMostKeptElements allow. Does nothing if the cache has the first set,
// and for a reference whose calls are fast, which is not a BatchedReference.
void compute_ahead(DeviceMemory& memory, const Problem& problem, std::span<const BufferSet> sets,
                   SetsAhead ahead, std::span<const std::int64_t> rows, Fill fill,
                   std::uint64_t seed, ReferenceCache& cache);

}  // namespace ridgebench
