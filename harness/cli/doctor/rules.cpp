#include "harness/cli/doctor/rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "harness/base/filter.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench::doctor {
namespace {

constexpr const char* kAnyModel = "*";
constexpr const char* kRates = "rates";
constexpr std::array kUnits{"flops_per_s", "bytes_per_s"};

// range: a number, or [low, high]. least: the smallest number. beginning: a text with which the
// value begins, or a list of such texts.
enum class RuleKind : std::uint8_t { range, least, flag, beginning };

struct RuleKey {
  const char* key;
  const char* pointer;  // of the GPU's fact
  RuleKind kind;
};
// The generation is the highest of GPU and slot: an idle link may have a lower one.
constexpr std::array kRuleKeys{RuleKey{"power_limit_w", "/power_limit_w", RuleKind::range},
                               RuleKey{"driver", "/driver", RuleKind::beginning},
                               RuleKey{"vbios", "/vbios", RuleKind::beginning},
                               RuleKey{"ecc", "/ecc", RuleKind::flag},
                               RuleKey{"mig", "/mig", RuleKind::flag},
                               RuleKey{"persistence", "/persistence", RuleKind::flag},
                               RuleKey{"nvlinks", "/nvlinks", RuleKind::least},
                               RuleKey{"pcie_generation", "/pcie/max_generation", RuleKind::least},
                               RuleKey{"pcie_lanes", "/pcie/lanes", RuleKind::least}};

std::string keys_of_rules() {
  std::string text;
  for (const RuleKey& one : kRuleKeys) text += fmt::format("{}, ", one.key);
  return text + kRates;
}

bool is_range(const Facts& value) {
  return value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number() &&
         value[0].get<double>() <= value[1].get<double>();
}

bool are_texts(const Facts& value) {
  const auto is_text = [](const Facts& one) { return one.is_string() && one != ""; };
  return value.is_array() && !value.empty() && std::ranges::all_of(value, is_text);
}

// The values that a rule of this kind may have; empty if `value` is one.
std::string refusal(RuleKind kind, const Facts& value) {
  switch (kind) {
    case RuleKind::range:
      return value.is_number() || is_range(value) ? "" : "a number, or [low, high]";
    case RuleKind::least:
      return value.is_number() ? "" : "a number";
    case RuleKind::flag:
      return value.is_boolean() ? "" : "true or false";
    case RuleKind::beginning:
      return (value.is_string() && value != "") || are_texts(value) ? ""
                                                                    : "a text, or a list of texts";
  }
  return "";
}

// The first part of an expression that Python's re, which `fleet report` reads rates with, refuses
// or takes for something different from RE2; empty without one.
std::string part_of_re2(std::string_view text) {
  constexpr std::string_view kShared = "dDwWsSbBAnrtfvax";  // after a backslash
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with('\\')) {
      const char next = rest.size() > 1 ? rest[1] : ' ';
      const bool letter = std::isalnum(static_cast<unsigned char>(next)) != 0;
      const bool hex = next != 'x' || rest.substr(2, 2).find_first_not_of(kHex) == rest.npos;
      if (letter && (kShared.find(next) == kShared.npos || !hex))
        return std::string(rest.substr(0, 3));
      ++i;
    } else if (rest.starts_with("[:") || rest.starts_with("{,")) {
      return std::string(rest.substr(0, 2));
    } else if (rest.starts_with("(?") && !rest.starts_with("(?:") && !rest.starts_with("(?P<")) {
      const std::size_t end = rest.find_first_not_of("ims", 2);
      const bool shared =
          end != rest.npos && end > 2 && (rest[end] == ':' || (rest[end] == ')' && i == 0));
      if (!shared) return std::string(rest.substr(0, 4));
    }
  }
  return {};
}

void check_rates(const Facts& rates, const std::string& origin) {
  const auto refuse = [&](const std::string& what) {
    throw UsageError(
        fmt::format("{}: {} {}; allowed: a regular expression of ids, each with {{\"{}\": LEAST}}",
                    origin, kRates, what, fmt::join(kUnits, "\" or \"")));
  };
  if (!rates.is_object()) refuse(fmt::format("is {}", json_line(rates)));
  for (const auto& [filter, least] : rates.items()) {
    try {
      static_cast<void>(Filter(filter));
    } catch (const UsageError& error) {
      refuse(fmt::format("have a {}", error.what()));
    }
    if (const std::string part = part_of_re2(filter.substr(filter.starts_with('-') ? 1 : 0));
        !part.empty()) {
      refuse(fmt::format("of '{}' have {}, which `fleet report` does not read", filter, part));
    }
    const bool known = least.is_object() && least.size() == 1 &&
                       std::ranges::find(kUnits, least.items().begin().key()) != kUnits.end() &&
                       least.front().is_number() && least.front().get<double>() > 0;
    if (!known) refuse(fmt::format("of '{}' is {}", filter, json_line(least)));
  }
}

void check_rule(const std::string& key, const Facts& value, const std::string& origin) {
  if (key == kRates) return check_rates(value, origin);
  const auto* const known = std::ranges::find(kRuleKeys, key, &RuleKey::key);
  if (known == kRuleKeys.end()) {
    throw UsageError(
        fmt::format("{}: unknown key '{}'; allowed: {}", origin, key, keys_of_rules()));
  }
  if (const std::string allowed = refusal(known->kind, value); !allowed.empty()) {
    throw UsageError(
        fmt::format("{}: {} is {}; allowed: {}", origin, key, json_line(value), allowed));
  }
}

bool obeys(RuleKind kind, const Facts& rule, const Facts& value) {
  switch (kind) {
    case RuleKind::range: {
      if (!value.is_number()) return false;
      const double low = rule.is_array() ? rule[0].get<double>() : rule.get<double>();
      const double high = rule.is_array() ? rule[1].get<double>() : low;
      return value.get<double>() >= low && value.get<double>() <= high;
    }
    case RuleKind::least:
      return value.is_number() && value.get<double>() >= rule.get<double>();
    case RuleKind::flag:
      return value == rule;
    case RuleKind::beginning: {
      if (!value.is_string()) return false;
      const auto text = value.get<std::string>();
      const auto begins = [&](const Facts& one) {
        return text.starts_with(one.get<std::string>());
      };
      return rule.is_array() ? std::ranges::any_of(rule, begins) : begins(rule);
    }
  }
  return false;
}

std::string text_of_rule(RuleKind kind, const Facts& rule) {
  if (kind == RuleKind::range && rule.is_array()) {
    return fmt::format("{} to {}", json_line(rule[0]), json_line(rule[1]));
  }
  if (kind == RuleKind::least) return json_line(rule) + " or more";
  return kind == RuleKind::beginning ? json_line(rule) + " at its beginning" : json_line(rule);
}

}  // namespace

Facts read_rules(const std::string& path) {
  const std::string text = read_file(path);
  static_cast<void>(JsonObject(parse_json(text, path), path));
  Facts rules = parse_ordered(text);
  for (const auto& [model, keys] : rules.items()) {
    const std::string origin = fmt::format("{}: {}", path, model);
    if (!keys.is_object()) {
      throw UsageError(fmt::format("{} is {}; allowed: an object with keys of: {}", origin,
                                   json_line(keys), keys_of_rules()));
    }
    for (const auto& [key, value] : keys.items()) check_rule(key, value, origin);
  }
  return rules;
}

void judge_rules(const Facts& rules, const Facts& gpu, Judge& judge) {
  const std::string model = text_at(gpu, "/model");
  const std::string own = rules.contains(model) ? model : kAnyModel;
  if (!rules.contains(own)) {
    return judge.note("rule_none", fmt::format("the rules name no model '{}' and no '*'", model));
  }
  for (const auto& [key, rule] : rules.at(own).items()) {
    const auto* const known = std::ranges::find(kRuleKeys, key, &RuleKey::key);
    if (known == kRuleKeys.end()) continue;  // rates, which a run has
    const Facts& value = value_at(gpu, known->pointer);
    const std::string wanted = text_of_rule(known->kind, rule);
    if (value.is_null()) {
      judge.note("rule_unknown",
                 fmt::format("{} is unknown; the rules of {} want {}", key, own, wanted));
    } else if (!obeys(known->kind, rule, value)) {
      judge.warn(
          "rule_" + key,
          fmt::format("{} is {}; the rules of {} want {}", key, json_line(value), own, wanted), "");
    }
  }
}

}  // namespace ridgebench::doctor
