#include "harness/results/verify/verify_duels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "harness/results/duel_record.hpp"
#include "harness/results/results_directory.hpp"
#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"
#include "harness/results/worn.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

template <class T>
std::set<std::string> newer_of() {
  std::set<std::string> names;
  for_each_key<T>([&](const auto& key) {
    if (key.absence == Absence::not_in_oldest) names.insert(key.name);
  });
  return names;
}

// The keys that records of version 1 lack.
std::set<std::string> newer_keys() {
  std::set<std::string> names = newer_of<DuelRecord>();
  names.merge(newer_of<DuelSide>());
  names.merge(newer_of<DuelScale>());
  names.merge(newer_of<DuelRatio>());
  return names;
}

// True for a value that the first records of version 2 lack: the processes of a ratio that depends
// on the clock, and the interval of joules over three processes.
bool is_younger(std::string_view place) {
  return place.find("full_clock.") != place.npos || place.find("capped.") != place.npos ||
         place.find(".energy_ci_") != place.npos;
}

// The keys, and the values, that an older record may lack.
Comparison::Lacks older_lacks(bool version_1) {
  std::set<std::string> names = version_1 ? newer_keys() : std::set<std::string>();
  names.insert("probes");  // of a row's verification, and younger than version 2
  return [names = std::move(names)](const std::string& name, std::string_view place) {
    if (is_younger(place)) return Older::key_or_value;
    return names.contains(name) ? Older::key : Older::nothing;
  };
}

void check_side(const DuelSide& side, Checker& check) {
  check.require(side.verify && side.verify->passed() && side.verify->elements > 0,
                fmt::format("{} must have passed verification", side.technique));
  check.require(side.time_s.value_or(0) > 0, fmt::format("{} has no time", side.technique));
}

// A quad has `ratios` log ratios. Of several processes each one has one, unless it had no quad.
void check_number(const std::optional<DuelScale>& scale, const char* name, std::int64_t ratios,
                  std::int64_t processes, Checker& check) {
  if (!scale) return;
  const auto count = std::ssize(scale->seconds.log_ratios);
  const bool fits =
      processes == 1 ? count == ratios * scale->quads : count <= processes && count <= scale->quads;
  check.require(count > 0 && fits,
                fmt::format("{}.seconds has {} log ratios of {} quads in {} processes", name, count,
                            scale->quads, processes));
  for (const DuelRatio* ratio : {&scale->seconds, scale->cycles ? &*scale->cycles : nullptr}) {
    if (ratio == nullptr || ratio->errors.empty()) continue;
    check.require(processes > 1 && ratio->errors.size() == ratio->log_ratios.size(),
                  fmt::format("{} has {} errors of {} log ratios in {} processes", name,
                              ratio->errors.size(), ratio->log_ratios.size(), processes));
  }
  const auto clocks = std::ssize(scale->clock_hz);
  check.require(clocks == 0 || (scale->cycles && clocks == std::ssize(scale->cycles->log_ratios)),
                fmt::format("{} has {} clocks, but not as many ratios of cycles", name, clocks));
}

std::string id_of(const DuelRecord& duel) {
  return fmt::format("{}/{}:{}/{}/{}/{}@{}", duel.op, duel.first.technique, duel.second.technique,
                     duel.format.name(), duel.shape.text(), name(duel.regime), duel.device);
}

void check_duel(const DuelRecord& duel, const ordered_json& stored, bool may_lack, Checker& check) {
  check.require((duel.status == Status::ok) != duel.reason.has_value(),
                "every status but ok needs a reason");
  check_work({duel.op, duel.shape, duel.format, duel.flops, duel.bytes}, may_lack, check);
  check.require(duel.id == id_of(duel), "its keys make the id " + id_of(duel));
  DuelRecord again = duel;
  again.judge();
  Comparison(check, older_lacks(duel.version_1)).compare(stored, to_json(again), "");
  check.require((duel.status == Status::ok) == duel.short_scale.has_value(),
                "an ok duel and no other has a short scale");
  if (duel.status != Status::ok) return;
  check_side(duel.first, check);
  check_side(duel.second, check);
  check_number(duel.short_scale, "short", 1, duel.processes, check);
  check_number(duel.long_scale, "long", 2, duel.processes, check);
  check.require(duel.sets > 0, "an ok duel has a set of buffers");
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
  const std::set<std::string> devices = listed_devices(environment, facts);
  const bool may_lack = !environment.value("loaded", nlohmann::json::array()).empty();
  std::set<std::string> ids;
  const std::string path = (directory / kDuelsFile).string();
  std::istringstream lines(read_file(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const DuelRecord duel = parse_duel(line, fmt::format("{}:{}", path, ++number));
    if (!ids.insert(duel.id).second) problems.push_back(duel.id + ": comes twice");
    Checker check(duel.id, problems);
    check.require(devices.contains(duel.device), "environment.json does not list its device");
    check_duel(duel, parse_ordered(line), may_lack, check);
  }
  if (std::filesystem::exists(directory / kRecordsFile)) {
    problems.push_back(fmt::format("the folder holds both {} and {}", kRecordsFile, kDuelsFile));
  }
  if (ids.empty()) problems.push_back(fmt::format("{} holds no duel", kDuelsFile));
  check_end(directory, environment, kDuelsFile, problems);
  std::ranges::move(worn_problems(ordered_json(environment)), std::back_inserter(problems));
  std::ranges::move(checksum_problems(directory), std::back_inserter(problems));
  return problems;
}

}  // namespace ridgebench
