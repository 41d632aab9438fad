#include "harness/results/worn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "roofline/json_object.hpp"
#include "roofline/json_pointer.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kCounterGroups{"ecc_", "remapped_rows.", "retired_pages.",
                                                         "nvlink_errors."};
constexpr std::array<std::string_view, 3> kSingleCounters{"xids", "pcie_replays",
                                                          "spare_rows.none"};
// Programs cause XIDs too, and links send a packet again after a disturbance.
constexpr std::array<std::string_view, 7> kSevereCounters{
    "ecc_uncorrected",       "ecc_lifetime.uncorrected", "remapped_rows.uncorrected",
    "remapped_rows.pending", "remapped_rows.failed",     "retired_pages.double_bit",
    "spare_rows.none"};

// Rates up to which a link sends packets again and no row is in doubt: more than 8 PCIe replays a
// minute, and 100 CRC errors of NVLinks a second and more, are faults. Source: NVIDIA, DCGM,
// dcgmlib/dcgm_gpu_hardware_limits.h.
constexpr double kReplaysPerMinute = 8;
constexpr double kCrcErrorsPerSecond = 100;
constexpr double kMinute_s = 60;

// True for errors of a link that are too few in these seconds to put rows in doubt. The shortest
// time is that of the rate: an error in a second is not 60 in a minute.
bool is_rare_link_error(const Growth& one, double seconds) {
  const double errors = one.after - one.before;
  if (one.counter == "pcie_replays") {
    return errors <= kReplaysPerMinute * std::max(1.0, seconds / kMinute_s);
  }
  return one.counter.starts_with("nvlink_errors.crc_") &&
         errors < kCrcErrorsPerSecond * std::max(1.0, seconds);
}

bool is_fault_counter(std::string_view name) {
  return std::ranges::find(kSingleCounters, name) != kSingleCounters.end() ||
         std::ranges::any_of(kCounterGroups,
                             [&](std::string_view group) { return name.starts_with(group); });
}

void add_counters(FaultCounters& counters, const ordered_json& state, const std::string& prefix) {
  for (const auto& [key, value] : state.items()) {
    const std::string name = prefix + key;
    if (value.is_object()) {
      add_counters(counters, value, name + ".");
    } else if (is_fault_counter(name) && (value.is_number() || value.is_boolean())) {
      counters[name] = value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
    }
  }
}

ordered_json condition_of(const Worn& worn) {
  ordered_json counters = ordered_json::array();
  for (const Growth& one : worn.counters) {
    counters.push_back({{"counter", one.counter}, {"before", one.before}, {"after", one.after}});
  }
  return {{"code", kWorn},
          {"text", worn.text()},
          {"device", worn.device},
          {"severe", worn.severe()},
          {"counters", std::move(counters)}};
}

bool is_worn(const ordered_json& condition) { return text_at(condition, "/code") == kWorn; }

// The devices with the counters that grew and of which `counts` is true.
template <class Counts>
std::vector<Worn> devices_with(const ordered_json& environment, const Counts& counts) {
  std::vector<Worn> found;
  const auto& before = value_at(environment, "/state/before");
  for (const auto& [device, after] : value_at(environment, "/state/after").items()) {
    if (!before.is_object() || !before.contains(device)) continue;
    Worn worn{device, growth_of(fault_counters(before.at(device)), fault_counters(after))};
    std::erase_if(worn.counters,
                  [&](const Growth& one) { return is_corrected(one.counter) || !counts(one); });
    if (!worn.counters.empty()) found.push_back(std::move(worn));
  }
  return found;
}

double duration_of_run(const ordered_json& environment) {
  return number_at(environment, "/duration_s").value_or(0);
}

std::string text_of_growth(const std::vector<Growth>& counters) {
  std::string text;
  for (const Growth& one : counters) text += (text.empty() ? "" : ", ") + one.text();
  return text;
}

}  // namespace

FaultCounters fault_counters(const ordered_json& state) {
  FaultCounters counters;
  if (state.is_object()) add_counters(counters, state, "");
  return counters;
}

bool is_corrected(const std::string& counter) {
  return counter == "ecc_corrected" || counter == "ecc_lifetime.corrected";
}

bool is_of_link(const std::string& counter) {
  return counter == "pcie_replays" || counter.starts_with("nvlink_errors.");
}

std::string Growth::text() const {
  return fmt::format("{} grew from {} to {}", counter, before, after);
}

std::vector<Growth> growth_of(const FaultCounters& before, const FaultCounters& after) {
  std::vector<Growth> grown;
  for (const auto& [counter, value] : after) {
    const auto known = before.find(counter);
    if (known != before.end() && value > known->second) {
      grown.push_back({counter, known->second, value});
    }
  }
  return grown;
}

bool Worn::severe() const {
  return std::ranges::any_of(counters, [](const Growth& one) {
    return std::ranges::find(kSevereCounters, one.counter) != kSevereCounters.end();
  });
}

std::string Worn::text() const {
  return fmt::format("{} counted faults during the run: {}", device, text_of_growth(counters));
}

std::vector<Worn> worn_devices(const ordered_json& environment) {
  const double seconds = duration_of_run(environment);
  return devices_with(environment,
                      [&](const Growth& one) { return !is_rare_link_error(one, seconds); });
}

std::vector<std::string> rare_link_errors(const ordered_json& environment) {
  const double seconds = duration_of_run(environment);
  std::vector<std::string> texts;
  for (const Worn& one : devices_with(
           environment, [&](const Growth& grown) { return is_rare_link_error(grown, seconds); })) {
    texts.push_back(fmt::format("links of {} sent packets again, too rarely to spoil a row: {}",
                                one.device, text_of_growth(one.counters)));
  }
  return texts;
}

void record_worn(ordered_json& environment) {
  ordered_json kept = ordered_json::array();
  for (const ordered_json& one : value_at(environment, "/conditions")) {
    if (!is_worn(one)) kept.push_back(one);
  }
  for (const Worn& one : worn_devices(environment)) kept.push_back(condition_of(one));
  environment[kConditions] = std::move(kept);
}

std::vector<std::string> recorded_worn(const ordered_json& environment) {
  std::vector<std::string> texts;
  for (const ordered_json& one : value_at(environment, "/conditions")) {
    if (is_worn(one)) texts.push_back(text_at(one, "/text"));
  }
  return texts;
}

std::vector<std::string> recorded_worn_in(const std::string& folder) {
  const std::string path = folder + "/environment.json";
  return recorded_worn(ordered_json(parse_json(read_file(path), path)));
}

std::vector<std::string> worn_problems(const ordered_json& environment) {
  const std::vector<Worn> worn = worn_devices(environment);
  std::vector<nlohmann::json> shown;  // in which the order of keys does not matter
  for (const Worn& one : worn) shown.emplace_back(condition_of(one));
  // An older version recorded rare errors of links, too.
  for (const Worn& one : devices_with(environment, [](const Growth&) { return true; })) {
    shown.emplace_back(condition_of(one));
  }
  std::vector<std::string> problems;
  std::vector<std::string> recorded;  // devices
  for (const ordered_json& one : value_at(environment, "/conditions")) {
    if (!is_worn(one)) continue;
    recorded.push_back(text_at(one, "/device"));
    if (std::ranges::find(shown, nlohmann::json(one)) != shown.end()) continue;
    problems.push_back(
        fmt::format("environment.json: the states do not show that {}", text_at(one, "/text")));
  }
  for (const Worn& one : worn) {
    if (std::ranges::find(recorded, one.device) != recorded.end()) continue;
    problems.push_back(fmt::format(
        "environment.json: the states show that {}, and conditions lack it", one.text()));
  }
  return problems;
}

}  // namespace ridgebench
