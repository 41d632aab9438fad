#include "harness/measure/verifying/outputs.hpp"

#include <algorithm>

namespace ridgebench {

std::size_t bytes_of_rows(const Output& output, std::span<const std::int64_t> rows) {
  std::int64_t elements = 0;
  for (const std::int64_t row : rows) elements += output.length_of(row);
  return static_cast<std::size_t>(elements * info(output.operand.format).storage_bytes);
}

View read_rows(DeviceMemory& memory, const Output& output, std::span<const std::int64_t> rows,
               void* data, HostBuffer& copy) {
  const std::int64_t size = info(output.operand.format).storage_bytes;
  std::vector<DeviceMemory::Region> regions;
  for (const std::int64_t row : rows) {
    std::byte* const first = static_cast<std::byte*>(data) + row * output.row_stride() * size;
    const auto bytes = static_cast<std::size_t>(output.length_of(row) * size);
    if (!regions.empty() && regions.back().data() + regions.back().size() == first) {
      regions.back() = {regions.back().data(), regions.back().size() + bytes};  // adjacent
    } else {
      regions.emplace_back(first, bytes);
    }
  }
  return {memory.on_host(regions, copy), output.operand.format};
}

std::vector<View> read_rows(DeviceMemory& memory, std::span<const Output> outputs,
                            std::span<const std::int64_t> rows, const BufferSet& set,
                            std::vector<HostBuffer>& copies) {
  copies.resize(std::max(copies.size(), outputs.size()));
  std::vector<View> views;
  for (const Output& output : outputs) {
    views.push_back(read_rows(memory, output, rows, set[output.index], copies[views.size()]));
  }
  return views;
}

bool outputs_hold_nan(DeviceMemory& memory, std::span<const Output> outputs, const BufferSet& set) {
  return std::ranges::any_of(outputs, [&](const Output& output) {
    const Operand& operand = output.operand;
    return operand.format != Format::int32 &&
           memory.has_nan(set[output.index], operand.elements, operand.format);
  });
}

std::uint64_t checksum_of(DeviceMemory& memory, std::span<const Output> outputs,
                          const BufferSet& set) {
  std::uint64_t sum = 0;
  for (const Output& output : outputs) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // keeps the order of the outputs apart
    sum = kOdd * sum + memory.checksum(region_of(output.operand, set[output.index]));
  }
  return sum;
}

}  // namespace ridgebench
