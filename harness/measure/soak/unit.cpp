#include "harness/measure/soak/unit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "harness/measure/fingerprint.hpp"
#include "harness/measure/verifying/check_needs.hpp"
#include "kernels/common/ceil_div.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kKeptAlignment = 256;

// Adds the words of a row that differ from those of the right row.
void add_differences(WrongBits& wrong, std::string_view row, std::string_view right,
                     std::size_t first_byte) {
  for (std::size_t at = 0; at + kWordBytes <= row.size(); at += kWordBytes) {
    std::uint64_t found = 0;
    std::uint64_t expected = 0;
    std::memcpy(&found, row.data() + at, kWordBytes);
    std::memcpy(&expected, right.data() + at, kWordBytes);
    if (found == expected) continue;
    ++wrong.words;
    wrong.bits += std::popcount(found ^ expected);
    if (wrong.first.size() < kMostReported) {
      wrong.first.push_back({(first_byte + at) / kWordBytes, expected, found});
    }
  }
}

std::string_view bytes_of(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

// The number of wrong words of each row that has any.
std::map<std::int64_t, std::int64_t> wrong_words_by_row(std::string_view found,
                                                        std::string_view right, std::int64_t rows) {
  const std::size_t bytes = found.size() / static_cast<std::size_t>(rows);
  std::map<std::int64_t, std::int64_t> words;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * bytes;
    WrongBits wrong;
    add_differences(wrong, found.substr(first, bytes), right.substr(first, bytes), first);
    if (wrong.words > 0) words[i] = wrong.words;
  }
  return words;
}

}  // namespace

WrongBits vote(std::vector<std::byte>& output, std::int64_t rows) {
  WrongBits wrong;
  if (rows < 3) return wrong;
  const std::size_t bytes = output.size() / static_cast<std::size_t>(rows);
  const auto row = [&](std::int64_t number) {
    return bytes_of(output).substr(static_cast<std::size_t>(number) * bytes, bytes);
  };
  std::map<std::string_view, std::int64_t> votes;
  for (std::int64_t i = 0; i < rows; ++i) ++votes[row(i)];
  const auto most = std::ranges::max_element(votes, {}, [](const auto& v) { return v.second; });
  if (2 * most->second <= rows) return wrong;
  const std::string right(most->first);
  for (std::int64_t i = 0; i < rows; ++i) {
    if (row(i) == right) continue;
    const std::size_t first = static_cast<std::size_t>(i) * bytes;
    add_differences(wrong, row(i), right, first);
    std::memcpy(output.data() + first, right.data(), bytes);
  }
  return wrong;
}

SoakUnit::SoakUnit(const Case& c, Fill fill, std::uint64_t seed, OutputCheck& check)
    : case_(c), problem_(case_.problem()), id_(case_.id()), buffers_(*c.device, fill, seed) {
  require_room(buffers_, case_, problem_);
  bound_.emplace_back(case_, problem_, buffers_, check);
  bind_cases(buffers_, bound_, 1);
  std::size_t bytes = 0;
  for (const Output& output : problem_.outputs) {
    void* const data = bound_.front().sets().front()[output.index];
    outputs_.push_back(region_of(output.operand, data));
    std::ranges::copy(gaps_of(output.operand, data), std::back_inserter(gaps_));
    bytes += round_up(outputs_.back().size(), kKeptAlignment);
  }
  kept_ = c.device->queue().allocate(bytes);
  auto* next = static_cast<std::byte*>(kept_.get());
  for (const DeviceMemory::Region& output : outputs_) {
    kept_outputs_.emplace_back(next, output.size());
    next += round_up(output.size(), kKeptAlignment);
  }
}

double SoakUnit::compared_bytes() const {
  double bytes = 0;
  for (const DeviceMemory::Region& output : outputs_) bytes += static_cast<double>(output.size());
  return bytes;
}

bool SoakUnit::by_unit() const { return has_a_row_per_unit(case_.shape); }

WrongOutput SoakUnit::wrong_output(std::size_t output, WrongBits wrong,
                                   std::span<const std::byte> found,
                                   std::span<const std::byte> right) const {
  WrongOutput result{.operand = problem_.outputs[output].operand.name,
                     .data = outputs_[output].data(),
                     .wrong = {},
                     .units = {}};
  if (by_unit()) {
    result.units = wrong_words_by_row(bytes_of(found), bytes_of(right), problem_.rows);
    const std::uint64_t row = found.size() / static_cast<std::uint64_t>(problem_.rows);
    // A word that the device found wrong may read right the second time.
    for (const WrongWord& word : wrong.first) {
      result.units.try_emplace(static_cast<std::int64_t>(word.index * kWordBytes / row), 1);
    }
  }
  result.wrong = std::move(wrong);
  return result;
}

std::optional<std::string> SoakUnit::keep_verified(std::vector<WrongOutput>& found) {
  Verification verification;
  if (auto wrong = bound_.front().check_first(verification)) return wrong;
  keep(found);
  return std::nullopt;
}

void SoakUnit::keep(std::vector<WrongOutput>& found) {
  DeviceMemory& memory = case_.device->memory();
  HostBuffer scratch;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::span<const std::byte> data(memory.on_host({&outputs_[i], 1}, scratch),
                                          outputs_[i].size());
    std::vector<std::byte> copy(data.begin(), data.end());
    if (by_unit()) {
      WrongBits outvoted = vote(copy, problem_.rows);
      if (outvoted.words > 0) {
        found.push_back(wrong_output(i, std::move(outvoted), data, copy));
      }
    }
    memory.write(kept_outputs_[i].data(), copy);
  }
}

double SoakUnit::launch() {
  Buffers::poison(case_.device->memory(), outputs_);
  Buffers::guard_gaps(case_.device->memory(), gaps_);
  return case_.device->time_once({bound_.front().rotation().data(), 1}).seconds;
}

std::vector<WrongOutput> SoakUnit::compare() {
  std::vector<WrongOutput> found;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    DeviceMemory& memory = case_.device->memory();
    WrongBits wrong = memory.compare(outputs_[i], kept_outputs_[i]);
    if (wrong.words == 0) continue;
    HostBuffer of_output;
    HostBuffer of_kept;
    std::span<const std::byte> data;
    std::span<const std::byte> right;
    if (by_unit()) {
      data = {memory.on_host({&outputs_[i], 1}, of_output), outputs_[i].size()};
      right = {memory.on_host({&kept_outputs_[i], 1}, of_kept), kept_outputs_[i].size()};
    }
    found.push_back(wrong_output(i, std::move(wrong), data, right));
  }
  return found;
}

}  // namespace ridgebench
