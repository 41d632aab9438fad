#include "tests/support/record_docs.hpp"

#include <fmt/format.h>

#include "harness/results/explained/explained.hpp"
#include "harness/results/judged/judged.hpp"
#include "harness/results/record.hpp"
#include "harness/step/step_record.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

ordered_json bounded(const char* type, const Bounds& bounds) {
  ordered_json schema{{"type", type}};
  schema[bounds.low_excluded ? "exclusiveMinimum" : "minimum"] = bounds.low;
  if (bounds.high > bounds.low && bounds.high < kLargestCount) schema["maximum"] = bounds.high;
  return schema;
}

template <NamedEnum E>
ordered_json names_json() {
  ordered_json names = ordered_json::array();
  for (const std::string_view name : names_of(E{}).names) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

ordered_json shape_schema() {
  return {{"type", "object"},
          {"properties",
           {{"layout", {{"enum", names_json<Layout>()}}},
            {"m", bounded("integer", {.low = 1})},
            {"n", bounded("integer", {.low = 1})},
            {"k", bounded("integer", {.low = 1})}}},
          {"additionalProperties", {{"type", "number"}}}};
}

template <Keyed T>
ordered_json object_schema();
template <class T>
ordered_json schema_of(const Bounds& bounds);

template <Keyed T>
ordered_json list_schema(const std::vector<T>* /*list*/) {
  return {{"type", "array"}, {"items", object_schema<T>()}};
}

// The schema of a value that is not null.
template <class T>
ordered_json schema_of(const Bounds& bounds) {
  const ordered_json text{{"type", "string"}, {"minLength", 1}};
  if constexpr (kIsListOfKeyed<T>) {
    return list_schema(static_cast<const T*>(nullptr));
  } else if constexpr (NamedEnum<T>) {
    return {{"enum", names_json<T>()}};
  } else if constexpr (Keyed<T>) {
    return object_schema<T>();
  } else if constexpr (std::is_same_v<T, Format>) {
    ordered_json names = ordered_json::array();
    for (const FormatInfo& format : kFormats) names.push_back(format.name);
    names.push_back(info(Format::int32).name);  // of sums
    return {{"enum", names}};
  } else if constexpr (std::is_same_v<T, FormatPair> || std::is_same_v<T, std::string>) {
    return text;
  } else if constexpr (std::is_same_v<T, Shape>) {
    return shape_schema();
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return {{"type", "array"}, {"items", bounded("number", bounds)}};
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return {{"type", "array"}, {"items", text}};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return bounded(std::is_integral_v<T> ? "integer" : "number", bounds);
  } else {
    return {{"type", "object"}};
  }
}

ordered_json or_null(ordered_json schema) {
  if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else {
    schema["type"] = {schema["type"], "null"};
  }
  return schema;
}

ordered_json schema_of(const TimeKey& /*key*/) { return or_null(bounded("number", kPositive)); }

template <class Owner, class Member>
ordered_json schema_of(const Key<Owner, Member>& key) {
  using Value = std::remove_cvref_t<decltype(std::invoke(key.member, std::declval<Owner&>()))>;
  if constexpr (kIsOptional<Value>) {
    return or_null(schema_of<typename Value::value_type>(key.bounds));
  } else {
    const ordered_json schema = schema_of<Value>(key.bounds);
    return key.absence == Absence::infinite ? or_null(schema) : schema;
  }
}

std::string_view unit_of(const TimeKey& /*key*/) { return "s"; }
std::string_view unit_of(const auto& key) { return key.unit; }
std::string meaning_of(const TimeKey& key) {
  return fmt::format("{}, per launch; null unless ok, or where another tool did not report it",
                     key.meaning);
}
std::string meaning_of(const auto& key) {
  const bool old = key.absence == Absence::not_in_oldest;
  return fmt::format("{}{}", key.meaning, old ? "; missing in older records" : "");
}
bool always_there(const TimeKey& /*key*/) { return true; }
bool always_there(const auto& key) { return key.absence != Absence::not_in_oldest; }

template <Keyed T>
ordered_json object_schema() {
  ordered_json required = ordered_json::array();
  ordered_json properties = ordered_json::object();
  for_each_key<T>([&](const auto& key) {
    if (always_there(key)) required.push_back(key.name);
    const std::string_view unit = unit_of(key);
    properties[key.name] = {{"description", unit.empty()
                                                ? meaning_of(key)
                                                : fmt::format("{}: {}", unit, meaning_of(key))}};
    properties[key.name].update(schema_of(key));
  });
  return {{"type", "object"}, {"required", required}, {"properties", properties}};
}

// {"if": {"properties": condition}, "then": {"properties": then}, "else": ...}
ordered_json rule(const ordered_json& condition, const ordered_json& then,
                  const ordered_json& otherwise = nullptr) {
  ordered_json json{{"if", {{"properties", condition}}}, {"then", {{"properties", then}}}};
  if (!otherwise.is_null()) json["else"] = {{"properties", otherwise}};
  return json;
}

// What one key says of others.
ordered_json rules() {
  const ordered_json null{{"type", "null"}};
  const ordered_json number{{"type", "number"}};
  const ordered_json above_0{{"exclusiveMinimum", 0}};
  const ordered_json ok{{"const", "ok"}};
  const ordered_json kernel{{"const", "kernel"}};
  ordered_json timed{{"samples_s", {{"minItems", 1}}}};
  const ordered_json unverified{{"const", "unverified"}};
  const ordered_json external{{"const", "external"}};
  ordered_json timeless{{"enum", ordered_json::array()}};
  for (const std::string_view status : names_of(Status{}).names) {
    if (!has_time(parse<Status>(status))) timeless["enum"].push_back(status);
  }
  ordered_json untimed{{"flops_per_s", null}, {"bytes_per_s", null}};
  for_each_key<Record>([&](const auto& key) {
    if constexpr (std::is_same_v<decltype(key), const TimeKey&>) {
      timed[key.name] = number;
      untimed[key.name] = null;
    }
  });
  return {
      rule({{"status", ok}}, timed, {{"reason", {{"type", "string"}}}}),
      rule({{"status", timeless}}, untimed),
      rule({{"status", unverified}}, {{"origin", external}, {"time_median_s", number}},
           {{"origin", {{"not", external}}}}),
      rule({{"status", ok}, {"role", kernel}}, {{"verify", {{"type", "object"}}}}),
      rule({{"flops", {{"const", 0}}}}, {{"flops_per_s", null}}),
      rule({{"status", ok}, {"flops", above_0}}, {{"flops_per_s", number}}),
      rule({{"status", ok}, {"bytes", above_0}}, {{"bytes_per_s", number}}),
      rule({{"bytes", {{"const", 0}}}}, {{"intensity_flop_per_byte", null}},
           {{"intensity_flop_per_byte", number}}),
      rule({{"role", kernel}}, {{"saturates", null}}, {{"saturates", {{"type", "string"}}}}),
      rule({{"saturates", {{"const", "cache"}}}}, {{"level", {{"type", "integer"}}}}),
  };
}

// "text", "number or null", "`ok`, `wrong`, ..."
std::string type_text(const ordered_json& schema) {
  if (schema.contains("enum")) {
    std::string names;
    for (const ordered_json& value : schema["enum"]) {
      names += names.empty() ? "" : ", ";
      names += value.is_null() ? "null" : fmt::format("`{}`", value.get<std::string>());
    }
    return names;
  }
  const ordered_json& type = schema["type"];
  if (!type.is_array()) return type.get<std::string>();
  return fmt::format("{} or null", type.at(0).get<std::string>());
}

template <Keyed T>
void add_lines(std::string& table, const std::string& prefix);

void add_nested_lines(std::string& /*table*/, const std::string& /*prefix*/,
                      const TimeKey& /*key*/) {}
template <class Owner, class T>
void add_nested_lines(std::string& table, const std::string& prefix,
                      const Key<Owner, std::optional<T>>& key) {
  if constexpr (Keyed<T>) add_lines<T>(table, fmt::format("{}{}.", prefix, key.name));
}
template <class Owner, Keyed T>
void add_nested_lines(std::string& table, const std::string& prefix,
                      const Key<Owner, std::vector<T>>& key) {
  add_lines<T>(table, fmt::format("{}{}[].", prefix, key.name));
}
void add_nested_lines(std::string& /*table*/, const std::string& /*prefix*/, const auto& /*key*/) {}

template <Keyed T>
void add_lines(std::string& table, const std::string& prefix) {
  for_each_key<T>([&](const auto& key) {
    table += fmt::format("| `{}{}` | {} | {} | {} |\n", prefix, key.name, type_text(schema_of(key)),
                         unit_of(key), meaning_of(key));
    add_nested_lines(table, prefix, key);
  });
}

}  // namespace

std::string record_schema() {
  ordered_json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", "urn:ridgebench:record:1"},
      {"title", "One row of records.jsonl"},
      {"description",
       "Keys end in their unit, SI base units; null if unknown. Further keys may follow. "
       "`record_docs schema` writes this file from harness/results/record.hpp."}};
  schema.update(object_schema<Record>());
  schema["required"].insert(schema["required"].begin(), "schema");
  ordered_json properties{{"schema", {{"enum", {kRecordSchema, former(kRecordSchema)}}}}};
  properties.update(schema["properties"]);
  properties["device"]["pattern"] = "^(cpu|sim(:[0-9]+)?|cuda:[0-9]+)$";
  schema["properties"] = properties;
  schema["allOf"] = rules();
  return schema.dump(1) + "\n";
}

namespace {

// The schema of a document or a line without rules between its keys.
template <Keyed T>
std::string plain_schema(const char* id, const char* name, const char* title,
                         const std::string& source) {
  ordered_json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", id},
      {"title", title},
      {"description", fmt::format("Keys end in their unit, SI base units; null if unknown. "
                                  "Further keys may follow. {}",
                                  source)}};
  schema.update(object_schema<T>());
  schema["required"].insert(schema["required"].begin(), "schema");
  ordered_json properties{{"schema", {{"const", name}}}};
  properties.update(schema["properties"]);
  schema["properties"] = properties;
  return schema.dump(1) + "\n";
}

}  // namespace

std::string judged_schema() {
  return plain_schema<JudgedDocument>(
      kJudgedSchema, kJudgedSchema,
      "The judgement of runs: judged.json, and `ridgebench show DIR... --json`",
      "`record_docs judged_schema` writes this file from harness/results/judged.");
}

std::string step_schema() {
  return plain_schema<StepRecord>(
      "urn:ridgebench:step:1", kStepSchema, "One step of step.jsonl",
      "`record_docs step_schema` writes this file from harness/step/step_record.hpp.");
}

std::string explained_schema() {
  return plain_schema<ExplainedRun>(
      "urn:ridgebench:explained:1", "urn:ridgebench:explained:1",
      "The causes of a run's times: `ridgebench explain --json`",
      "`record_docs explained_schema` writes this file from harness/results/explained.");
}

std::string explained_key_table() {
  std::string table = "| key | type | unit | meaning |\n| --- | --- | --- | --- |\n";
  add_lines<ExplainedRun>(table, "");
  return table;
}

std::string step_key_table() {
  std::string table = "| key | type | unit | meaning |\n| --- | --- | --- | --- |\n";
  add_lines<StepRecord>(table, "");
  return table;
}

std::string judged_key_table() {
  std::string table = "| key | type | unit | meaning |\n| --- | --- | --- | --- |\n";
  add_lines<JudgedDocument>(table, "");
  return table;
}

std::string record_key_table() {
  std::string table = fmt::format(
      "| key | type | unit | meaning |\n| --- | --- | --- | --- |\n"
      "| `schema` | `{}` |  | name and version of this layout |\n",
      kRecordSchema);
  add_lines<Record>(table, "");
  return table;
}

}  // namespace ridgebench
