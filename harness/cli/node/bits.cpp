#include "harness/cli/node/bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "harness/measure/fingerprint.hpp"

namespace ridgebench::node {
namespace {

constexpr std::size_t kFewestGpus = 3;  // two that differ cannot vote

using BitsOfRows = std::map<std::tuple<std::string, std::string, std::string>,
                            std::vector<BitsOfRow>>;  // by model, row and choice

// The bits of most of these multiprocessors; empty if none have a majority.
std::optional<std::string> majority_of(std::span<const BitsOfRow> bits) {
  Votes votes;
  for (const BitsOfRow& one : bits) {
    for (const std::string& unit : one.units) ++votes[unit];
  }
  return majority(votes);
}

bool has(const std::vector<OddBits>& odd, std::size_t gpu) {
  return std::ranges::find(odd, gpu, &OddBits::gpu) != odd.end();
}

}  // namespace

std::vector<OddBits> vote_on_units(const std::string& row, std::span<const BitsOfRow> bits) {
  std::vector<OddBits> odd;
  const auto of_all = majority_of(bits);
  for (const BitsOfRow& one : bits) {
    const auto right = of_all ? of_all : majority_of({&one, 1});
    if (!right) continue;
    const std::vector<std::size_t> units = other_units(one.units, *right);
    if (units.empty()) continue;
    odd.push_back(
        {one.gpu, true,
         fmt::format("{} computes other bits in {} ({})", units_text(units), row, one.pass), true});
  }
  return odd;
}

std::vector<OddBits> vote_on_row(const std::string& row, std::span<const BitsOfRow> bits,
                                 const std::vector<std::string>& names,
                                 std::set<std::size_t> silent) {
  std::vector<OddBits> odd = vote_on_units(row, bits);
  for (const OddBits& one : odd) silent.insert(one.gpu);
  Votes votes;
  std::set<std::size_t> gpus;
  for (const BitsOfRow& one : bits) {
    if (silent.contains(one.gpu)) continue;
    ++votes[one.fingerprint];
    gpus.insert(one.gpu);
  }
  // A GPU that differs from itself is wrong, whatever the others say.
  const auto right = gpus.size() < kFewestGpus ? std::nullopt : majority(votes);
  for (const BitsOfRow& one : bits) {
    if (has(odd, one.gpu)) continue;
    const bool moves = std::ranges::any_of(bits, [&](const BitsOfRow& other) {
      return other.gpu == one.gpu && other.fingerprint != one.fingerprint;
    });
    if (right && one.fingerprint != *right) {
      odd.push_back(
          {one.gpu, true,
           fmt::format("other bits than most of {} GPUs in {} ({})", gpus.size(), row, one.pass)});
    } else if (votes.size() < 2 || silent.contains(one.gpu)) {
      continue;
    } else if (moves && !right) {
      odd.push_back({one.gpu, true, fmt::format("other bits under load than alone in {}", row)});
    } else if (!right && gpus.size() == 2) {
      const std::size_t other = *gpus.begin() == one.gpu ? *gpus.rbegin() : *gpus.begin();
      odd.push_back(
          {one.gpu, false,
           fmt::format("other bits than {} in {}: two GPUs cannot vote", names[other], row)});
    } else if (!right) {
      odd.push_back({one.gpu, false,
                     fmt::format("{} GPUs have different bits in {}, and no bits have a majority",
                                 gpus.size(), row)});
    }
  }
  return odd;
}

std::vector<OddBits> find_odd_bits(const std::map<std::string, const RecordsOfPass*>& records,
                                   const std::vector<std::string>& models,
                                   const std::vector<std::string>& names) {
  BitsOfRows rows;  // the GPUs of one entry must have equal bits
  for (const auto& [pass, gpus] : records) {
    for (std::size_t gpu = 0; gpu < gpus->size(); ++gpu) {
      for (const auto& [id, record] : (*gpus)[gpu]) {
        if (!record.fingerprint) continue;
        rows[{models[gpu], id, record.choice.value_or("")}].push_back(
            {gpu, pass, *record.fingerprint,
             record.telemetry.value("unit_fingerprints", std::vector<std::string>())});
      }
    }
  }
  std::map<std::size_t, std::vector<OddBits>> found;
  std::set<std::size_t> silent;
  for (const auto& [key, bits] : rows) {
    for (const OddBits& odd : vote_on_units(std::get<1>(key), bits)) silent.insert(odd.gpu);
  }
  for (const auto& [key, bits] : rows) {
    for (OddBits& odd : vote_on_row(std::get<1>(key), bits, names, silent)) {
      found[odd.gpu].push_back(std::move(odd));
    }
  }
  std::vector<OddBits> gravest;
  for (auto& [gpu, odd] : found) {
    std::ranges::stable_sort(odd, std::ranges::greater(), [](const OddBits& one) {
      return std::pair(one.wrong, one.text.starts_with("SM "));
    });
    gravest.push_back(odd.front());
    if (odd.size() > 1) gravest.back().text += fmt::format(" and {} more", odd.size() - 1);
  }
  return gravest;
}

}  // namespace ridgebench::node
