#include "harness/measure/fingerprint.hpp"

#include <fmt/format.h>

#include "harness/measure/verifying/outputs.hpp"

namespace ridgebench {
namespace {

std::string hexadecimal(std::uint64_t sum) { return fmt::format("{:016x}", sum); }

}  // namespace

bool has_a_row_per_unit(const Shape& shape) {
  return !shape.dimensions().empty() && shape.dimensions().front().first == kUnitsDimension;
}

std::string fingerprint_of(DeviceMemory& memory, const Problem& problem, const BufferSet& set) {
  return hexadecimal(checksum_of(memory, problem.outputs, set));
}

std::vector<std::string> unit_fingerprints_of(DeviceMemory& memory, const Problem& problem,
                                              const BufferSet& set) {
  std::vector<std::string> fingerprints;
  if (!has_a_row_per_unit(problem.shape)) return fingerprints;
  const Output& output = problem.outputs.front();
  const DeviceMemory::Region all = region_of(output.operand, set[output.index]);
  const std::size_t row = all.size() / static_cast<std::size_t>(problem.rows);
  for (std::size_t first = 0; first < all.size(); first += row) {
    fingerprints.push_back(hexadecimal(memory.checksum(all.subspan(first, row))));
  }
  return fingerprints;
}

}  // namespace ridgebench
