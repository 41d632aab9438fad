#include "harness/measure/fingerprint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

std::optional<std::string> majority(const Votes& votes) {
  constexpr std::size_t fewest = 3;
  std::size_t total = 0;
  for (const auto& [fingerprint, count] : votes) total += count;
  const auto most = std::ranges::max_element(votes, {}, [](const auto& v) { return v.second; });
  if (total < fewest || 2 * most->second <= total) return std::nullopt;
  return most->first;
}

std::vector<std::size_t> other_units(std::span<const std::string> units, const std::string& right) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] != right) others.push_back(i);
  }
  return others;
}

std::string units_text(const std::vector<std::size_t>& units) {
  constexpr std::size_t most = 8;
  const std::span<const std::size_t> shown(units.data(), std::min(units.size(), most));
  std::string text = fmt::format("SM {}", fmt::join(shown, ", "));
  if (units.size() > most) text += fmt::format(" and {} more", units.size() - most);
  return text;
}

std::optional<std::string> odd_units(std::span<const std::string> units) {
  Votes votes;
  for (const std::string& unit : units) ++votes[unit];
  const auto right = majority(votes);
  if (!right || votes.size() == 1) return std::nullopt;
  return fmt::format("{} computes other bits than most of {}",
                     units_text(other_units(units, *right)), units.size());
}

}  // namespace ridgebench
