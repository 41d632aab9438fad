#include "roofline/transformer/language_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "roofline/json_object.hpp"
#include "roofline/transformer/families.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

// Python's json writes these three for numbers that JSON lacks. They are texts in what this
// returns, so that a reader of a number refuses them by name.
std::string without_infinities(std::string_view text) {
  constexpr std::array<std::string_view, 3> kWords{"-Infinity", "Infinity", "NaN"};
  std::string result;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const auto word = std::ranges::find_if(kWords, [&](auto w) { return rest.starts_with(w); });
    if (!quoted && word != kWords.end()) {
      result += fmt::format("\"{}\"", *word);
      at += word->size() - 1;
      continue;
    }
    if (text[at] == '"') quoted = !quoted;
    result += text[at];
    if (quoted && text[at] == '\\' && at + 1 < text.size()) result += text[++at];
  }
  return result;
}

}  // namespace

json parse_config(std::string_view text, const std::string& origin) {
  return parse_json(without_infinities(text), origin);
}

Language language_of(const json& root, const std::string& origin) {
  const JsonObject whole(root, origin);
  const std::string type = whole.holds("model_type") ? whole.text("model_type") : "";
  for (const json& name : common_keys().at("language")) {
    const auto& key = name.get_ref<const std::string&>();
    if (!whole.holds(key.c_str())) continue;
    const JsonObject inner = whole.object(key.c_str());
    Language language{root[key], inner.origin(), type};
    const Family* const outer = find_family(type);
    if (outer != nullptr && outer->data.contains("refused")) return {root, origin, type};
    if (inner.holds("model_type")) {
      language.type = inner.text("model_type");
    } else if (outer != nullptr) {
      language.type = outer->data.value("text", type);
    }
    if (whole.holds("tie_word_embeddings")) {
      language.config["tie_word_embeddings"] = root["tie_word_embeddings"];
    }
    language.warning = fmt::format("only the language model, {}, is counted", key);
    return language;
  }
  const Family* const found = find_family(type);
  std::string warning;
  for (const json& key : common_keys().at("other_parts")) {
    if (!whole.holds(key.get_ref<const std::string&>().c_str())) continue;
    warning = fmt::format("only the language model is counted, without {}", key.get<std::string>());
  }
  return {root, origin, found == nullptr ? type : found->data.value("text", type), warning};
}

}  // namespace ridgebench
