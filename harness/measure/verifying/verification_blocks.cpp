#include <algorithm>

#include "harness/measure/verifying/verification.hpp"

namespace ridgebench {
namespace {

// Compares a row of the only output, which lies at `data`, in parts of up to `most_elements`
// elements.
Verification compare_row_in_parts(Device& device, const Implementation& implementation,
                                  const Problem& problem, void* data, std::int64_t row,
                                  std::span<const View> inputs, std::int64_t most_elements) {
  const Output& output = problem.outputs.front();
  const std::int64_t size = info(output.operand.format).storage_bytes;
  const std::int64_t length = output.length_of(row);
  Verification result;
  HostBuffer copy;
  for (std::int64_t first = 0; first < length; first += most_elements) {
    const std::int64_t count = std::min(most_elements, length - first);
    const DeviceMemory::Region region{
        static_cast<std::byte*>(data) + (row * output.row_stride() + first) * size,
        static_cast<std::size_t>(count * size)};
    const View view{device.memory().on_host({&region, 1}, copy), output.operand.format};
    const Groups part{.first = first, .columns = count};
    add(result, compare_elements(implementation, problem.shape, view,
                                 reference_of(problem, inputs, {&row, 1}, part)));
  }
  return result;
}

}  // namespace

Verification compare_in_blocks(Device& device, const Implementation& implementation,
                               const Problem& problem, const BufferSet& set,
                               std::span<const std::int64_t> rows, std::span<const View> inputs,
                               std::int64_t most_elements) {
  const std::int64_t length = problem.row_elements;
  Verification result;
  if (length > most_elements && rows_reference_of(*problem.operation) != nullptr) {
    void* const data = set[problem.outputs.front().index];
    for (const std::int64_t row : rows) {
      add(result,
          compare_row_in_parts(device, implementation, problem, data, row, inputs, most_elements));
    }
    return result;
  }
  const auto block = static_cast<std::size_t>(std::max<std::int64_t>(1, most_elements / length));
  std::vector<HostBuffer> copies;
  for (std::size_t first = 0; first < rows.size(); first += block) {
    const auto part = rows.subspan(first, std::min(block, rows.size() - first));
    const std::vector<View> views = read_rows(device.memory(), problem.outputs, part, set, copies);
    add(result, compare(implementation, problem, views, part, reference_of(problem, inputs, part)));
  }
  return result;
}

}  // namespace ridgebench
