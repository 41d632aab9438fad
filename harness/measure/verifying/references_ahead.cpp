#include "harness/measure/verifying/references_ahead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "harness/device/cpu/free_memory.hpp"
#include "harness/measure/verifying/inputs.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {
namespace {

// Limits of the bytes of reference values that the cache keeps, and their share of the memory.
constexpr double kFewestCachedBytes = 0x1p28;
constexpr double kMostCachedBytes = 0x1p31;
constexpr double kCachedShare = 1. / 16;

// Returns the reference of the same rows of each set. `indices` has the numbers of the sets.
std::vector<std::vector<Expected>> references_of_sets(const BatchedReference& reference,
                                                      DeviceMemory& memory, const Problem& problem,
                                                      std::span<const BufferSet> sets,
                                                      std::span<const std::size_t> indices,
                                                      std::span<const std::int64_t> rows, Fill fill,
                                                      std::uint64_t seed) {
  const auto length = static_cast<std::size_t>(problem.row_elements);
  const auto elements = static_cast<std::size_t>(problem.elements_of(rows));
  std::vector<std::vector<Expected>> values(indices.size());
  std::vector<RowsOfSet> asked;
  std::deque<std::vector<HostBuffer>> copies;
  for (std::size_t s = 0; s < indices.size(); ++s) {
    values[s].resize(elements);
    asked.push_back({{rows.begin(), rows.end()},
                     length,
                     inputs_before_launch(memory, problem.operands, sets[indices[s]], indices[s],
                                          fill, seed, copies.emplace_back()),
                     values[s]});
  }
  reference.compute(problem.shape, asked);
  return values;
}

}  // namespace

std::string reference_key(const Problem& problem, std::size_t index, std::size_t count) {
  return fmt::format("{}/{}/{}/{} of {}", problem.operation->name, problem.format.name(),
                     problem.shape.text(), index, index == 0 ? 1 : count);
}

void compute_ahead(DeviceMemory& memory, const Problem& problem, std::span<const BufferSet> sets,
                   SetsAhead ahead, std::span<const std::int64_t> rows, Fill fill,
                   std::uint64_t seed, ReferenceCache& cache) {
  const auto* const batched = problem.operation->reference.target<BatchedReference>();
  if (batched == nullptr || cache.has(reference_key(problem, ahead.first, sets.size()))) return;
  const std::int64_t of_set = problem.elements_of(rows);
  std::vector<std::size_t> indices;
  for (std::size_t i = ahead.first; i < sets.size(); ++i) {
    if ((std::ssize(indices) + 1) * of_set > kMostKeptElements) break;
    if (i % ahead.step == 0 || i + 1 == sets.size()) indices.push_back(i);
    if (i == 0) break;  // the checked rows of the other sets are others
  }
  auto values = references_of_sets(*batched, memory, problem, sets, indices, rows, fill, seed);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    cache.put(reference_key(problem, indices[i], sets.size()), std::move(values[i]));
  }
}

std::size_t most_cached_bytes() {
  static const double most =
      std::clamp(kCachedShare * allocatable_bytes(), kFewestCachedBytes, kMostCachedBytes);
  return static_cast<std::size_t>(most);
}

std::int64_t most_kept_elements(const Operation& operation) {
  if (rows_reference_of(operation) == nullptr) return kMostKeptElements;
  return static_cast<std::int64_t>(most_cached_bytes() / sizeof(Expected));
}

}  // namespace ridgebench
