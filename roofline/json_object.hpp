// Reads JSON from files that a user may have changed. All functions throw UsageError: one line that
// names the file, the key and the allowed values.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// The smallest and the largest allowed value.
struct Range {
  double low;
  double high;
};

// A view of one JSON object. The JSON value must outlive the view.
class JsonObject {
 public:
  // Every message starts with `origin`: a file, a file and a line, or these and the outer key.
  JsonObject(const nlohmann::json& value, std::string origin);

  [[nodiscard]] const std::string& origin() const { return origin_; }

  [[nodiscard]] double number(const char* key, Range allowed) const;
  // A whole number. The bounds are at most kLargestCount (kernels/common/number.hpp).
  [[nodiscard]] std::int64_t count(const char* key, Range allowed) const;
  [[nodiscard]] std::string text(const char* key) const;
  [[nodiscard]] bool flag(const char* key) const;
  [[nodiscard]] std::vector<double> numbers(const char* key, Range allowed) const;
  [[nodiscard]] std::vector<std::string> texts(const char* key) const;
  [[nodiscard]] JsonObject object(const char* key) const;
  [[nodiscard]] std::vector<JsonObject> objects(const char* key) const;

  [[nodiscard]] bool is_null(const char* key) const { return at(key).is_null(); }
  // For keys that older files lack.
  [[nodiscard]] bool holds(const char* key) const { return value_->contains(key) && !is_null(key); }
  // These return an empty value if the key holds null. A missing key is an error.
  [[nodiscard]] std::optional<double> optional_number(const char* key, Range allowed) const;
  [[nodiscard]] std::optional<std::string> optional_text(const char* key) const;
  [[nodiscard]] std::optional<JsonObject> optional_object(const char* key) const;

  template <NamedEnum E>
  [[nodiscard]] E one_of(const char* key) const {
    if (const auto value = named<E>(text(key))) return *value;
    constexpr auto table = names_of(E{});
    reject(key, join_names(table.names));
  }

  // Throws UsageError with "<origin>: <key> is <value>; allowed: <allowed>".
  [[noreturn]] void reject(std::string_view key, std::string_view allowed) const;

 private:
  [[nodiscard]] const nlohmann::json& at(const char* key) const;

  const nlohmann::json* value_;
  std::string origin_;
};

// Parses a whole text without a key twice in an object, of which nlohmann::json would keep the last
// value. Throws UsageError with one line that starts with `origin`.
nlohmann::json parse_json(std::string_view text, std::string_view origin);

// A file or a folder that cannot be read, whatever its content may be.
class UnreadableFile : public UsageError {
 public:
  using UsageError::UsageError;
};

// A run writes some 5 kB a row. The Python package has the same limit (files.py).
inline constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30U;

// Reads a regular file of at most `largest` bytes. Throws UnreadableFile for anything else at once:
// a FIFO and a device such as /dev/zero have no end.
std::string read_file(const std::string& path, std::uintmax_t largest = kLargestFile);

}  // namespace ridgebench
