// Reading JSON written by others: every error is one line naming the file, the key and what is
// allowed there. All functions throw UsageError.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// Bounds of a sensible value, both included.
struct Range {
  double low;
  double high;
};

// A view of one JSON object; the JSON text's owner must outlive it.
class JsonObject {
 public:
  // `origin` opens every message: a file, a file and line, or those and an enclosing key.
  JsonObject(const nlohmann::json& value, std::string origin);

  [[nodiscard]] const std::string& origin() const { return origin_; }

  [[nodiscard]] double number(const char* key, Range allowed) const;
  [[nodiscard]] std::string text(const char* key) const;
  [[nodiscard]] bool flag(const char* key) const;
  [[nodiscard]] std::vector<double> numbers(const char* key, Range allowed) const;
  [[nodiscard]] std::vector<std::string> texts(const char* key) const;
  [[nodiscard]] JsonObject object(const char* key) const;
  [[nodiscard]] std::vector<JsonObject> objects(const char* key) const;

  [[nodiscard]] bool is_null(const char* key) const { return at(key).is_null(); }
  // Empty where the key holds null; a missing key is an error all the same.
  [[nodiscard]] std::optional<double> optional_number(const char* key, Range allowed) const;
  [[nodiscard]] std::optional<std::string> optional_text(const char* key) const;
  [[nodiscard]] std::optional<JsonObject> optional_object(const char* key) const;

  // A name of the enum.
  template <NamedEnum E>
  [[nodiscard]] E one_of(const char* key) const {
    if (const auto value = named<E>(text(key))) return *value;
    constexpr auto table = names_of(E{});
    reject(key, join_names(table.names));
  }
  template <NamedEnum E>
  [[nodiscard]] std::optional<E> optional_one_of(const char* key) const {
    return optional_text(key) ? std::optional(one_of<E>(key)) : std::nullopt;
  }

  // Throws "<origin>: <key> is <value>; allowed: <allowed>".
  [[noreturn]] void reject(std::string_view key, std::string_view allowed) const;

 private:
  [[nodiscard]] const nlohmann::json& at(const char* key) const;

  const nlohmann::json* value_;
  std::string origin_;
};

// Parses a whole text; a syntax error becomes one line that opens with `origin`.
nlohmann::json parse_json(std::string_view text, std::string_view origin);

// The whole file. Throws UsageError if it cannot be read.
std::string read_file(const std::string& path);

}  // namespace ridgebench
