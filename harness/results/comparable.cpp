#include "harness/results/comparable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "roofline/embedded_json.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

const ordered_json& comparable_keys() {
  static const ordered_json keys = parse_ordered(embedded_comparable().front().text);
  return keys;
}

const ordered_json& keys_that_differ() { return comparable_keys().at("differ"); }

constexpr std::size_t kLongestValue = 60;

// Whatever the order of keys is.
bool same_value(const ordered_json& a, const ordered_json& b) {
  return nlohmann::json(a) == nlohmann::json(b);
}

std::string cut_value(const std::string& text) {
  return text.size() <= kLongestValue ? text : text.substr(0, kLongestValue) + "...";
}

// A long text from shortly before the place where it differs from another.
std::string cut_value(const std::string& text, const std::string& other) {
  constexpr std::size_t kBefore = 10;
  const auto differs = std::ranges::mismatch(text, other).in1;
  const auto same = static_cast<std::size_t>(differs - text.begin());
  if (text.size() <= kLongestValue || same <= kBefore) return cut_value(text);
  return "..." + cut_value(text.substr(same - kBefore));
}

// The value at a dotted key, of a driver only its branch: 580.65.06 and 580.82.07 are both 580.
ordered_json compared_value(const ordered_json& json, std::string_view key) {
  const ordered_json* value = &json;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const auto found = value->is_object() ? value->find(std::string(key.substr(begin, end - begin)))
                                          : value->end();
    if (!value->is_object() || found == value->end()) return nullptr;
    value = &*found;
    begin = end + 1;
  }
  if (key != "driver" || !value->is_string()) return *value;
  const auto text = value->get<std::string>();
  return text.substr(0, text.find('.'));
}

std::string text_of_value(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : json_line(value);
}

// The value as text; of two objects only the keys that differ.
std::string shown_value(const ordered_json& value, const ordered_json& other) {
  if (!value.is_object() || !other.is_object()) {
    return cut_value(text_of_value(value), text_of_value(other));
  }
  std::string parts;
  for (const auto& [key, one] : value.items()) {
    if (other.contains(key) && same_value(other.at(key), one)) continue;
    const std::string text = other.contains(key)
                                 ? cut_value(text_of_value(one), text_of_value(other.at(key)))
                                 : cut_value(text_of_value(one));
    parts += fmt::format("{}{}={}", parts.empty() ? "" : ", ", key, text);
  }
  return parts.empty() ? "nothing" : parts;
}

void add_differing(std::vector<std::string>& found, const ordered_json& one,
                   const ordered_json& other, const ordered_json& keys) {
  for (const auto& listed : keys) {
    const auto key = listed.get<std::string>();
    const ordered_json a = compared_value(one, key);
    const ordered_json b = compared_value(other, key);
    if (same_value(a, b)) continue;
    found.push_back(fmt::format("{}: {} against {}", key, shown_value(a, b), shown_value(b, a)));
  }
}

// The effect of a variable; empty if it changes no result.
std::optional<std::string> change_by(std::string_view variable) {
  for (const auto& [prefix, what] : keys_that_differ().at("variables").items()) {
    if (variable.starts_with(prefix)) return what.get<std::string>();
  }
  return std::nullopt;
}

void add_differing_variables(std::vector<std::string>& found, const ordered_json& one,
                             const ordered_json& other) {
  constexpr const char* kVariables = "environment_variables";
  const ordered_json here = compared_value(one, kVariables);
  const ordered_json there = compared_value(other, kVariables);
  std::set<std::string> names;
  for (const auto& [name, unused] : here.items()) names.insert(name);
  for (const auto& [name, unused] : there.items()) names.insert(name);
  const auto text = [](const ordered_json& side, const std::string& name) {
    if (!side.is_object() || !side.contains(name)) return std::string("unset");
    return cut_value(fmt::format("'{}'", text_of_value(side.at(name))));
  };
  for (const std::string& name : names) {
    const auto changes = change_by(name);
    if (!changes || same_value(compared_value(here, name), compared_value(there, name))) continue;
    found.push_back(fmt::format("{}: {} is {} against {}, which changes {}", kVariables,
                                cut_value(name), text(here, name), text(there, name), *changes));
  }
}

// The entry of a device; null if the run has none.
ordered_json entry_of(const ordered_json& environment, const ordered_json& device) {
  for (const ordered_json& one : environment.at("devices")) {
    if (one.at("name") == device.at("name")) return one;
  }
  return nullptr;
}

// A GPU has a UUID of its own; every other device is that of a host with a name. If either is
// unknown, so is the machine.
void add_other_machine(std::vector<std::string>& found, const ordered_json& one,
                       const ordered_json& other, const ordered_json& device,
                       const ordered_json& there) {
  const ordered_json& keys = comparable_keys().at("machine");
  const bool is_gpu = compared_value(device, keys.at("gpu").get<std::string>()).is_string();
  const auto& [here, earlier] = is_gpu ? std::tie(device, there) : std::tie(one, other);
  const auto key = keys.at(is_gpu ? "gpu" : "host").get<std::string>();
  const bool known =
      compared_value(here, key).is_string() && compared_value(earlier, key).is_string();
  if (known && (is_gpu || device.at("backend") == "cpu")) {
    add_differing(found, here, earlier, ordered_json::array({key}));
  }
}

}  // namespace

std::vector<std::string> differences(const ordered_json& one, const ordered_json& other) {
  std::vector<std::string> found;
  add_differing(found, one, other, keys_that_differ().at("environment"));
  add_differing_variables(found, one, other);
  for (const ordered_json& device : one.at("devices")) {
    const ordered_json there = entry_of(other, device);
    if (there.is_null()) continue;
    add_differing(found, device, there, keys_that_differ().at("device"));
    add_other_machine(found, one, other, device, there);
  }
  return found;
}

}  // namespace ridgebench
