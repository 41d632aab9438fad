// Reads the numbers of a config.json by one set of names, those of Llama, for all families, and
// keeps account of the keys that were read.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/json_object.hpp"
#include "roofline/transformer/families.hpp"

namespace ridgebench {

// The largest numbers that a config may hold. They are far above those of any model, and keep every
// product of three of them within 64 bits.
inline constexpr Range kLayerRange{1, 100000};
inline constexpr Range kHeadRange{1, 65536};
inline constexpr Range kSizeRange{1, 1 << 20};
inline constexpr Range kVocabularyRange{1, 1 << 30};
constexpr Range or_zero(Range range) { return {0, range.high}; }

// A name means the keys that the family's `keys` or the common ones list for it, in the order
// of preference, or for itself. A key that the file lacks has the value in the family's `defaults`,
// or in its `sizes`; null is not a value. All functions throw UsageError.
class ConfigKeys {
 public:
  // `config` is the object with the numbers of the language model. Without `default_sizes`, a size
  // that the file lacks has no value.
  ConfigKeys(nlohmann::json config, std::string origin, const Family& family, bool default_sizes);
  ConfigKeys(const ConfigKeys&) = delete;
  ConfigKeys& operator=(const ConfigKeys&) = delete;
  ~ConfigKeys() = default;

  [[nodiscard]] const std::string& origin() const { return origin_; }
  [[nodiscard]] const Family& family() const { return family_; }
  [[nodiscard]] const JsonObject& file() const { return file_; }

  [[nodiscard]] bool holds(std::string_view name);
  // Counts the keys of a name as read, because another one decides.
  void skip(std::string_view name);
  [[nodiscard]] std::int64_t count(std::string_view name, Range allowed);
  [[nodiscard]] std::int64_t count_or(std::string_view name, Range allowed, std::int64_t absent);
  [[nodiscard]] double number_or(std::string_view name, Range allowed, double absent);
  // Null is false in a family with a default of this flag, and else as a key that is left out.
  [[nodiscard]] bool flag_or(std::string_view name, bool absent);
  [[nodiscard]] std::string text_or(std::string_view name, const std::string& absent);
  [[nodiscard]] bool is_text(std::string_view name);
  [[nodiscard]] bool is_list(std::string_view name);
  [[nodiscard]] std::vector<double> numbers(std::string_view name, Range allowed);
  [[nodiscard]] std::vector<double> sorted_numbers(std::string_view name, Range allowed);
  [[nodiscard]] std::vector<std::string> texts(std::string_view name);
  [[nodiscard]] nlohmann::json value(std::string_view name);  // null if absent

  // Entry of the family's table beside keys and defaults; null if there is none.
  [[nodiscard]] const nlohmann::json& trait(const char* name) const;
  [[nodiscard]] bool has_trait(const char* name) const { return trait(name) == true; }

  // True if the class of the family has a size of this name. False without default sizes.
  [[nodiscard]] bool has_default_size(const char* name) const { return sizes_.contains(name); }

  // The key of the file that has the value, or the first that could have it.
  [[nodiscard]] std::string key_of(std::string_view name);
  // "hidden_size or n_embd"
  [[nodiscard]] std::string keys_of(std::string_view name) const;
  [[noreturn]] void reject(std::string_view name, std::string_view allowed);

  // The keys of the file with a value that were neither read nor listed as ignored, sorted.
  [[nodiscard]] std::vector<std::string> unread() const;
  // Keys of one name with different numbers, of which the first counts: "n_embd is 8 and
  // hidden_size is 16".
  [[nodiscard]] const std::set<std::string>& different() const { return different_; }
  // The key among those that may be read which is nearest to `key`; empty if none is near.
  [[nodiscard]] std::string nearest_key(std::string_view key) const;
  // Sizes that come from the family's defaults: "vocab_size 262144", in the order of reading.
  [[nodiscard]] const std::vector<std::string>& defaulted() const { return defaulted_; }

 private:
  struct Entry {
    const JsonObject* object;
    std::string key;
  };
  [[nodiscard]] std::optional<Entry> find(std::string_view name);
  [[nodiscard]] std::vector<std::string> candidates(std::string_view name) const;
  [[nodiscard]] const nlohmann::json& at(const Entry& entry) const;
  void note_difference(const std::string& counted, const std::string& other);

  std::string origin_;
  const Family& family_;
  nlohmann::json config_;  // flat
  nlohmann::json defaults_;
  nlohmann::json sizes_;
  JsonObject file_;
  JsonObject default_values_;
  JsonObject default_sizes_;
  std::set<std::string, std::less<>> read_;
  std::vector<std::string> defaulted_;
  std::set<std::string> different_;
};

}  // namespace ridgebench
