#include "roofline/transformer/config_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

// Names that change no count. Files state them by several keys.
constexpr std::array<std::string_view, 2> kUncounted{"max_position_embeddings",
                                                     "num_nextn_predict_layers"};

// Puts the keys of the objects that the family lists in `nested` beside the others:
// "ffn_config.width".
json flat(json config, const json& family) {
  for (const json& name : family.value("nested", json::array())) {
    const auto found = config.find(name.get_ref<const std::string&>());
    if (found == config.end() || !found->is_object()) continue;
    const json inner = std::move(*found);
    config.erase(found);
    for (const auto& [key, value] : inner.items()) {
      config[fmt::format("{}.{}", name.get_ref<const std::string&>(), key)] = value;
    }
  }
  return config;
}

bool listed(const json& patterns, std::string_view key) {
  return std::ranges::any_of(patterns, [&](const json& pattern) {
    return fits_pattern(key, pattern.get_ref<const std::string&>());
  });
}

}  // namespace

ConfigKeys::ConfigKeys(json config, std::string origin, const Family& family, bool default_sizes)
    : origin_(std::move(origin)),
      family_(family),
      config_(flat(std::move(config), family.data)),
      defaults_(family.data.value("defaults", json::object())),
      sizes_(default_sizes ? family.sizes : json::object()),
      file_(config_, origin_),
      default_values_(defaults_, fmt::format("defaults of {}", family.name)),
      default_sizes_(sizes_, fmt::format("defaults of {}", family.name)) {}

std::vector<std::string> ConfigKeys::candidates(std::string_view name) const {
  for (const json* table : {&family_.data, &common_keys()}) {
    const auto keys = table->find("keys");
    if (keys == table->end()) continue;
    const auto found = keys->find(name);
    if (found != keys->end()) return found->get<std::vector<std::string>>();
  }
  return {std::string(name)};
}

std::optional<ConfigKeys::Entry> ConfigKeys::find(std::string_view name) {
  std::optional<Entry> found;
  bool present = false;
  for (const std::string& key : candidates(name)) {
    present = present || config_.contains(key);
    read_.insert(key);
    if (!file_.holds(key.c_str())) continue;
    if (!found) found = Entry{&file_, key};
    const bool counted = std::ranges::find(kUncounted, name) == kUncounted.end();
    if (counted) note_difference(found->key, key);
  }
  if (found || present) return found;
  const std::string key(name);
  if (default_values_.holds(key.c_str())) return Entry{&default_values_, key};
  if (!default_sizes_.holds(key.c_str())) return std::nullopt;
  const json& size = sizes_[key];
  if (size.is_number() && size != 0) {
    const std::string text = fmt::format("{} {}", name, json_line(size));
    if (std::ranges::find(defaulted_, text) == defaulted_.end()) defaulted_.push_back(text);
  }
  return Entry{&default_sizes_, key};
}

void ConfigKeys::note_difference(const std::string& counted, const std::string& other) {
  const json& a = config_[counted];
  const json& b = config_[other];
  if (!a.is_number() || !b.is_number() || a == b) return;
  different_.insert(
      fmt::format("{} is {} and {} is {}", counted, json_line(a), other, json_line(b)));
}

const json& ConfigKeys::at(const Entry& entry) const {
  if (entry.object == &file_) return config_[entry.key];
  return (entry.object == &default_values_ ? defaults_ : sizes_)[entry.key];
}

void ConfigKeys::skip(std::string_view name) {
  for (std::string& key : candidates(name)) read_.insert(std::move(key));
}

bool ConfigKeys::holds(std::string_view name) { return find(name).has_value(); }

std::int64_t ConfigKeys::count(std::string_view name, Range allowed) {
  const auto entry = find(name);
  if (!entry) reject(name, fmt::format("a whole number from {:.0f}", allowed.low));
  return entry->object->count(entry->key.c_str(), allowed);
}

std::int64_t ConfigKeys::count_or(std::string_view name, Range allowed, std::int64_t absent) {
  return holds(name) ? count(name, allowed) : absent;
}

double ConfigKeys::number_or(std::string_view name, Range allowed, double absent) {
  const auto entry = find(name);
  return entry ? entry->object->number(entry->key.c_str(), allowed) : absent;
}

bool ConfigKeys::flag_or(std::string_view name, bool absent) {
  if (const auto entry = find(name)) return entry->object->flag(entry->key.c_str());
  // Without a value but with a default, the file has null, which Python reads as false.
  const std::string key(name);
  const bool has_default = default_values_.holds(key.c_str()) || default_sizes_.holds(key.c_str());
  return absent && !has_default;
}

std::string ConfigKeys::text_or(std::string_view name, const std::string& absent) {
  const auto entry = find(name);
  return entry ? entry->object->text(entry->key.c_str()) : absent;
}

bool ConfigKeys::is_text(std::string_view name) { return value(name).is_string(); }
bool ConfigKeys::is_list(std::string_view name) { return value(name).is_array(); }

std::vector<double> ConfigKeys::numbers(std::string_view name, Range allowed) {
  const auto entry = find(name);
  if (!entry) return {};
  return entry->object->numbers(entry->key.c_str(), allowed);
}

std::vector<double> ConfigKeys::sorted_numbers(std::string_view name, Range allowed) {
  std::vector<double> sorted = numbers(name, allowed);
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<std::string> ConfigKeys::texts(std::string_view name) {
  const auto entry = find(name);
  if (!entry) return {};
  return entry->object->texts(entry->key.c_str());
}

json ConfigKeys::value(std::string_view name) {
  const auto entry = find(name);
  return entry ? at(*entry) : json();
}

const json& ConfigKeys::trait(const char* name) const {
  static const json nothing;
  const auto found = family_.data.find(name);
  return found == family_.data.end() ? nothing : *found;
}

std::string ConfigKeys::key_of(std::string_view name) {
  const auto entry = find(name);
  return entry ? entry->key : candidates(name).front();
}

std::string ConfigKeys::keys_of(std::string_view name) const {
  return fmt::format("{}", fmt::join(candidates(name), " or "));
}

void ConfigKeys::reject(std::string_view name, std::string_view allowed) {
  const auto entry = find(name);
  if (entry) entry->object->reject(entry->key, allowed);
  file_.reject(candidates(name).front(), allowed);
}

std::string ConfigKeys::nearest_key(std::string_view key) const {
  const std::vector<std::string_view> names(read_.begin(), read_.end());
  return std::string(nearest_name(key, names));
}

std::vector<std::string> ConfigKeys::unread() const {
  std::vector<std::string> keys;
  const json none = json::array();
  const json& own = family_.data.contains("ignored") ? family_.data["ignored"] : none;
  for (const auto& [key, value] : config_.items()) {
    const bool empty =
        value.is_null() || ((value.is_array() || value.is_object()) && value.empty());
    if (empty || read_.contains(key)) continue;
    if (listed(own, key) || listed(common_keys().at("ignored"), key)) continue;
    // Any other value may change the counts.
    const json& usual = common_keys().at("ignored_with");
    if (usual.contains(key) && usual[key] == value) continue;
    keys.push_back(key);
  }
  return keys;
}

}  // namespace ridgebench
