#include "roofline/json_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

// A copy of JSON that is nested deeper may overflow the stack.
constexpr int kDeepest = 100;

// Returns the value for a message: a short text of valid UTF-8, even if the file is not UTF-8.
std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text = json_line(value);
  constexpr std::size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

// For a message: the key that an object has more than once. nlohmann::json keeps its last value.
std::string repeated(std::vector<std::string> keys) {
  std::ranges::sort(keys);
  return shown(*std::ranges::adjacent_find(keys));
}

}  // namespace

JsonObject::JsonObject(const json& value, std::string origin)
    : value_(&value), origin_(std::move(origin)) {
  if (!value.is_object()) {
    throw UsageError(fmt::format("{}: is {}; allowed: an object", origin_, shown(value)));
  }
}

const json& JsonObject::at(const char* key) const {
  const auto found = value_->find(key);
  if (found == value_->end()) throw UsageError(fmt::format("{}: key {} is missing", origin_, key));
  return *found;
}

void JsonObject::reject(std::string_view key, std::string_view allowed) const {
  const auto found = value_->find(key);
  const std::string value = found == value_->end() ? "missing" : shown(*found);
  throw UsageError(fmt::format("{}: {} is {}; allowed: {}", origin_, key, value, allowed));
}

double JsonObject::number(const char* key, Range allowed) const {
  const json& value = at(key);
  const double x = value.is_number() ? value.get<double>() : 0;
  const bool sensible = value.is_number() && x >= allowed.low && x <= allowed.high;
  if (!sensible) {
    reject(key, fmt::format("a number from {:g} to {:g}", allowed.low, allowed.high));
  }
  return x;
}

std::int64_t JsonObject::count(const char* key, Range allowed) const {
  const json& value = at(key);
  const double x = value.is_number() ? value.get<double>() : 0;
  if (!value.is_number() || x != std::floor(x) || x < allowed.low || x > allowed.high) {
    reject(key, fmt::format("a whole number from {:.0f} to {:.0f}", allowed.low, allowed.high));
  }
  return static_cast<std::int64_t>(x);
}

std::string JsonObject::text(const char* key) const {
  const json& value = at(key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    reject(key, "a text that is not empty");
  }
  return value.get<std::string>();
}

bool JsonObject::flag(const char* key) const {
  if (!at(key).is_boolean()) reject(key, "true or false");
  return at(key).get<bool>();
}

std::vector<double> JsonObject::numbers(const char* key, Range allowed) const {
  const json& values = at(key);
  const auto sensible = [&](const json& x) {
    return x.is_number() && x.get<double>() >= allowed.low && x.get<double>() <= allowed.high;
  };
  if (!values.is_array() || !std::ranges::all_of(values, sensible)) {
    reject(key, fmt::format("an array of numbers from {:g} to {:g}", allowed.low, allowed.high));
  }
  return values.get<std::vector<double>>();
}

std::vector<std::string> JsonObject::texts(const char* key) const {
  const json& values = at(key);
  if (!values.is_array()) reject(key, "an array of texts");
  std::vector<std::string> result;
  for (const json& value : values) {
    if (!value.is_string()) reject(key, "an array of texts");
    result.push_back(value.get<std::string>());
  }
  return result;
}

JsonObject JsonObject::object(const char* key) const {
  return {at(key), fmt::format("{}: {}", origin_, key)};
}

std::vector<JsonObject> JsonObject::objects(const char* key) const {
  const json& values = at(key);
  if (!values.is_array()) reject(key, "an array of objects");
  std::vector<JsonObject> result;
  for (const json& value : values) {
    result.emplace_back(value, fmt::format("{}: {}[{}]", origin_, key, result.size()));
  }
  return result;
}

std::optional<double> JsonObject::optional_number(const char* key, Range allowed) const {
  if (at(key).is_null()) return std::nullopt;
  return number(key, allowed);
}

std::optional<std::string> JsonObject::optional_text(const char* key) const {
  if (at(key).is_null()) return std::nullopt;
  return text(key);
}

std::optional<JsonObject> JsonObject::optional_object(const char* key) const {
  if (at(key).is_null()) return std::nullopt;
  return object(key);
}

json parse_json(std::string_view text, std::string_view origin) {
  std::vector<std::vector<std::string>> keys;  // of each object that is not yet whole
  const auto check = [&](int depth, json::parse_event_t event, const json& value) {
    if (depth > kDeepest) {
      throw UsageError(fmt::format("{}: nested more than {} levels deep", origin, kDeepest));
    }
    if (event == json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == json::parse_event_t::key) {
      keys.back().push_back(value.get<std::string>());
    } else if (event == json::parse_event_t::object_end) {
      if (value.size() < keys.back().size()) {
        throw UsageError(fmt::format("{}: key {} comes twice", origin, repeated(keys.back())));
      }
      keys.pop_back();
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::parse_error& error) {
    throw UsageError(fmt::format("{}: not JSON, the error is at byte {}", origin, error.byte));
  } catch (const json::out_of_range&) {
    throw UsageError(fmt::format("{}: holds a number beyond double precision", origin));
  }
}

std::string read_file(const std::string& path, std::uintmax_t largest) {
  // Before it is opened: opening a FIFO waits for a writer.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) {
    const bool exists = std::filesystem::exists(path, unknown);
    throw UnreadableFile(
        fmt::format("{}: cannot be read{}", path, exists ? ": it is not a file" : ""));
  }
  if (std::filesystem::file_size(path, unknown) > largest) {
    throw UnreadableFile(
        fmt::format("{}: cannot be read: it is larger than {} MiB", path, largest >> 20U));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw UnreadableFile(fmt::format("{}: cannot be read", path));
  return text;
}

}  // namespace ridgebench
