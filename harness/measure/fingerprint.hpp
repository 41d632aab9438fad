// The bits of a row in 64 bits. Two devices of a model whose rows of one program differ in them do
// not compute the same: one of them is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device_memory.hpp"
#include "harness/measure/buffers.hpp"
#include "harness/measure/problem.hpp"

namespace ridgebench {

// The first dimension of an operation whose outputs have one row for each multiprocessor, which
// computed it from inputs that are the same for all.
inline constexpr std::string_view kUnitsDimension = "units";
bool has_a_row_per_unit(const Shape& shape);

// 16 hexadecimal digits: the checksum of all outputs of a buffer set.
std::string fingerprint_of(DeviceMemory& memory, const Problem& problem, const BufferSet& set);

// The same of each row of the outputs: row number n is that of multiprocessor n. Empty for an
// operation that does not tell them apart.
std::vector<std::string> unit_fingerprints_of(DeviceMemory& memory, const Problem& problem,
                                              const BufferSet& set);

// The number of votes for each fingerprint.
using Votes = std::map<std::string, std::size_t>;
// The fingerprint of more than half of at least three votes; two that differ cannot vote.
std::optional<std::string> majority(const Votes& votes);

// Numbers of the multiprocessors without the bits `right`.
std::vector<std::size_t> other_units(std::span<const std::string> units, const std::string& right);
// 'SM 2, 5', which lists eight at most. On a host a thread takes the place of an SM.
std::string units_text(const std::vector<std::size_t>& units);
// Names the multiprocessors that compute other bits than most. Empty if no bits have a majority, or
// all have it.
std::optional<std::string> odd_units(std::span<const std::string> units);

}  // namespace ridgebench
