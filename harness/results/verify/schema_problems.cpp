#include "harness/results/verify/schema_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/base/filter.hpp"
#include "roofline/embedded_json.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

std::string value_for_message(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return value.empty() ? "an empty array" : "an array";
  constexpr std::size_t kLongest = 60;
  const std::string text = json_line(value);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

bool has_type(const json& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  if (type != "integer") throw std::logic_error(fmt::format("type {} in a schema", type));
  return value.is_number() && std::floor(value.get<double>()) == value.get<double>();
}

// `types` is a name or an array of names.
bool has_one_of(const json& value, const json& types) {
  if (types.is_string()) return has_type(value, types.get<std::string>());
  return std::ranges::any_of(
      types, [&](const json& type) { return has_type(value, type.get<std::string>()); });
}

std::string names_of_values(const json& values) {
  std::string names;
  for (const json& value : values.is_array() ? values : json::array({values})) {
    if (!names.empty()) names += ", ";
    names += value.is_string() ? value.get<std::string>() : json_line(value);
  }
  return names;
}

class Schema {
 public:
  Schema(std::string name, std::vector<std::string>& problems)
      : name_(std::move(name)), problems_(&problems) {}

  // `place` is that of the value: "host.cores"; empty: the whole.
  void check(const json& value, const json& schema, const std::string& place) {
    for (const auto& [keyword, rule] : schema.items()) check(value, {keyword, rule}, schema, place);
  }

 private:
  struct Rule {
    std::string_view keyword;
    const json& value;
  };

  void check(const json& value, const Rule& rule, const json& schema, const std::string& place) {
    const auto& [keyword, allowed] = rule;
    const auto require = [&](bool holds, const std::string& what) {
      if (holds) return;
      problems_->push_back(
          fmt::format("{} is {}; allowed: {}", named(place), value_for_message(value), what));
    };
    const auto number = [&] { return allowed.get<double>(); };
    if (keyword == "type") {
      require(has_one_of(value, allowed), names_of_values(allowed));
    } else if (keyword == "enum") {
      require(std::ranges::find(allowed, value) != allowed.end(), names_of_values(allowed));
    } else if (keyword == "pattern") {
      require(!value.is_string() ||
                  Filter(allowed.get<std::string>()).matches(value.get<std::string>()),
              fmt::format("a text of the form {}", allowed.get<std::string>()));
    } else if (keyword == "minLength") {
      require(!value.is_string() ||
                  static_cast<double>(value.get_ref<const std::string&>().size()) >= number(),
              "a text that is not empty");
    } else if (keyword == "minItems") {
      require(!value.is_array() || static_cast<double>(value.size()) >= number(),
              fmt::format("{} or more", number()));
    } else if (keyword == "minimum") {
      require(!value.is_number() || value.get<double>() >= number(),
              fmt::format("{:g} or more", number()));
    } else if (keyword == "exclusiveMinimum") {
      require(!value.is_number() || value.get<double>() > number(),
              fmt::format("above {:g}", number()));
    } else {
      check_parts(value, rule, schema, place);
    }
  }

  // The keywords of what an array or an object holds.
  void check_parts(const json& value, const Rule& rule, const json& schema,
                   const std::string& place) {
    const auto& [keyword, allowed] = rule;
    constexpr std::array kRemarks{"$schema", "$id", "title", "description"};
    const auto inner = [&](const std::string& key) {
      return place.empty() ? key : fmt::format("{}.{}", place, key);
    };
    if (keyword == "required") {
      for (const json& key : allowed) {
        if (value.is_object() && !value.contains(key.get<std::string>())) {
          problems_->push_back(fmt::format("{} lacks {}", named(place), key.get<std::string>()));
        }
      }
    } else if (keyword == "properties") {
      for (const auto& [key, part] : allowed.items()) {
        if (value.is_object() && value.contains(key)) check(value.at(key), part, inner(key));
      }
    } else if (keyword == "additionalProperties") {
      if (!value.is_object()) return;
      const json named = schema.value("properties", json::object());
      for (const auto& [key, part] : value.items()) {
        if (!named.contains(key)) check(part, allowed, inner(key));
      }
    } else if (keyword == "items") {
      if (!value.is_array()) return;
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(value.at(i), allowed, fmt::format("{}[{}]", place, i));
      }
    } else if (std::ranges::find(kRemarks, keyword) == kRemarks.end()) {
      throw std::logic_error(fmt::format("keyword {} in a schema", keyword));
    }
  }

  [[nodiscard]] std::string named(const std::string& place) const {
    return place.empty() ? name_ : fmt::format("{}: {}", name_, place);
  }

  std::string name_;
  std::vector<std::string>* problems_;
};

}  // namespace

std::vector<std::string> schema_problems(const json& value, const json& schema,
                                         const std::string& name) {
  std::vector<std::string> problems;
  Schema(name, problems).check(value, schema, "");
  return problems;
}

std::vector<std::string> environment_problems(const json& environment) {
  static const json schema = json(parse_ordered(embedded_schemas().front().text));
  return schema_problems(environment, schema, "environment.json");
}

}  // namespace ridgebench
