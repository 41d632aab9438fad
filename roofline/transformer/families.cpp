#include "roofline/transformer/families.hpp"

#include <map>

#include "kernels/common/enum_names.hpp"
#include "roofline/embedded_json.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

struct Families {
  json common;
  std::map<std::string, Family, std::less<>> all;
};

// A family takes the entries of another that it lacks. Objects join, and lists are replaced.
json joined(const json& base, const json& own) {
  json result = base;
  for (const auto& [key, value] : own.items()) {
    const bool both = value.is_object() && result.contains(key);
    result[key] = both ? joined(result[key], value) : value;
  }
  return result;
}

json complete_family(const json& table, const std::string& name) {
  const json& own = table.at(name);
  const auto like = own.find("like");
  return like == own.end() ? own : joined(complete_family(table, *like), own);
}

Families read_families() {
  Families families;
  json table = json::object();
  json sizes;
  for (const EmbeddedJson& file : embedded_families()) {
    const json part = parse_json(file.text, file.name);
    if (file.name == "common") {
      families.common = part;
    } else if (file.name == "defaults") {
      sizes = part;
    } else {
      table.update(part);
    }
  }
  for (const auto& [name, own] : table.items()) {
    families.all.emplace(
        name, Family{name, complete_family(table, name), sizes.value(name, json::object())});
  }
  return families;
}

const Families& table_of_families() {
  static const Families families = read_families();
  return families;
}

}  // namespace

const Family* find_family(std::string_view type) {
  const auto& all = table_of_families().all;
  const auto found = all.find(type);
  return found == all.end() ? nullptr : &found->second;
}

std::vector<std::string_view> counted_families() {
  std::vector<std::string_view> names;
  for (const auto& [name, family] : table_of_families().all) {
    if (!family.data.contains("refused")) names.push_back(name);
  }
  return names;
}

std::string_view nearest_family(std::string_view type) {
  return nearest_name(type, counted_families());
}

const json& common_keys() { return table_of_families().common; }

bool fits_pattern(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at) {
    if (fits_pattern(text.substr(at), rest)) return true;
  }
  return false;
}

}  // namespace ridgebench
