// The outputs of a case as they lie in the memory of a device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/device/device_memory.hpp"
#include "harness/measure/buffers.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {

// Bytes of rows in ascending order, packed one after the other.
std::size_t bytes_of_rows(const Output& output, std::span<const std::int64_t> rows);

// Returns rows of an output that lies at `data` in device memory, packed one after the other. The
// host reads them in `copy` or in place.
View read_rows(DeviceMemory& memory, const Output& output, std::span<const std::int64_t> rows,
               void* data, HostBuffer& copy);
// The same of all outputs of a buffer set, one view and one copy of each.
std::vector<View> read_rows(DeviceMemory& memory, std::span<const Output> outputs,
                            std::span<const std::int64_t> rows, const BufferSet& set,
                            std::vector<HostBuffer>& copies);

// True if an output holds NaN, which is an element that the kernel did not write: finite inputs
// produce none. Whole numbers have no NaN.
bool outputs_hold_nan(DeviceMemory& memory, std::span<const Output> outputs, const BufferSet& set);

// Equal for outputs of equal bits.
std::uint64_t checksum_of(DeviceMemory& memory, std::span<const Output> outputs,
                          const BufferSet& set);

}  // namespace ridgebench
