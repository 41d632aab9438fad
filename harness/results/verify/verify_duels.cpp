#include "harness/results/verify/verify_duels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "harness/results/duel_record.hpp"
#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// The record with everything computed again that follows from its log ratios.
DuelRecord again(DuelRecord duel) {
  for (const auto scale : {&duel.short_scale, &duel.long_scale}) {
    if (!*scale) continue;
    (*scale)->seconds = ratio_of((*scale)->seconds.log_ratios);
    if ((*scale)->cycles) (*scale)->cycles = ratio_of((*scale)->cycles->log_ratios);
  }
  return duel;
}

// `key` is the place of both values, such as short.seconds.ratio.
void compare(const ordered_json& stored, const ordered_json& follows, const std::string& key,
             Checker& check) {
  if (stored.is_object() && follows.is_object()) {
    for (const auto& [name, value] : follows.items()) {
      compare(stored.at(name), value, key.empty() ? name : key + "." + name, check);
    }
  } else if (stored.is_number() && follows.is_number()) {
    check.equal(key, stored.get<double>(), follows.get<double>());
  } else {
    check.require(stored == follows, fmt::format("{} is {}, but follows to be {}", key,
                                                 stored.dump(), follows.dump()));
  }
}

void check_side(const DuelSide& side, Checker& check) {
  check.require(side.verify && side.verify->passed() && side.verify->elements > 0,
                fmt::format("{} must have passed verification", side.technique));
}

void check_duel(const DuelRecord& duel, const ordered_json& stored, bool may_lack, Checker& check) {
  check.require((duel.status == Status::ok) != duel.reason.has_value(),
                "every status but ok needs a reason");
  check_work({duel.op, duel.shape, duel.format, duel.flops, duel.bytes}, may_lack, check);
  compare(stored, to_json(again(duel)), "", check);
  check.require((duel.status == Status::ok) == duel.short_scale.has_value(),
                "an ok duel and no other has a short scale");
  if (duel.status != Status::ok) return;
  check_side(duel.first, check);
  check_side(duel.second, check);
}

}  // namespace

bool holds_duels(const std::filesystem::path& directory) {
  std::error_code error;
  return std::filesystem::exists(directory / kDuelsFile, error);
}

std::vector<std::string> verify_duels(const std::filesystem::path& directory) {
  const std::string facts = (directory / "environment.json").string();
  const nlohmann::json environment = parse_json(read_file(facts), facts);
  std::vector<std::string> problems;
  check_provenance(environment, problems);
  const bool may_lack = !environment.value("loaded", nlohmann::json::array()).empty();
  std::set<std::string> ids;
  const std::string path = (directory / kDuelsFile).string();
  std::istringstream lines(read_file(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const DuelRecord duel = parse_duel(line, fmt::format("{}:{}", path, ++number));
    if (!ids.insert(duel.id).second) problems.push_back(duel.id + ": comes twice");
    Checker check(duel.id, problems);
    check_duel(duel, ordered_json::parse(line), may_lack, check);
  }
  if (ids.empty()) problems.push_back(fmt::format("{} holds no duel", kDuelsFile));
  std::ranges::move(checksum_problems(directory), std::back_inserter(problems));
  return problems;
}

}  // namespace ridgebench
