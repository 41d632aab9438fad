#include "harness/cli/print_json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

thread_local std::string* captured_text = nullptr;

std::string leaf_text(const ordered_json& value) {
  if (!value.is_number_float()) {
    return json_ascii(value);
  }
  if (!std::isfinite(value.get<double>())) {  // JSON has no infinity
    throw UsageError("a result exceeds every number; allowed: values with a finite result");
  }
  std::string number = fmt::format("{}", value.get<double>());
  // A reader that distinguishes types reads a double again.
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

void append(std::string& text, const ordered_json& value, const std::string& margin) {
  if (!value.is_structured() || value.empty()) {
    text += leaf_text(value);
    return;
  }
  const std::string inner = margin + "  ";
  text += value.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    text += (first ? "\n" : ",\n") + inner;
    if (value.is_object()) text += leaf_text(key) + ": ";
    append(text, member, inner);
    first = false;
  }
  text += "\n" + margin;
  text += value.is_object() ? "}" : "]";
}

}  // namespace

std::string json_text(const ordered_json& json) {
  std::string text;
  append(text, json, "");
  return text;
}

ordered_json named_answer(std::string_view name, const ordered_json& answer) {
  ordered_json whole{{"schema", fmt::format("urn:ridgebench:{}:1", name)}};
  whole.update(answer);
  return whole;
}

void print_answer(std::string_view name, const ordered_json& answer) {
  const ordered_json whole = named_answer(name, answer);
  if (captured_text != nullptr) {
    *captured_text = json_text(whole);
  } else {
    fmt::print("{}\n", json_text(whole));
  }
}

CapturedAnswer::CapturedAnswer() { captured_text = &text_; }
CapturedAnswer::~CapturedAnswer() { captured_text = nullptr; }

}  // namespace ridgebench
