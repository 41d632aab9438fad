// The filter of ids that a user types. RE2 matches it in time linear in the id, whatever it says.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace ridgebench {

class Filter {
 public:
  // A regular expression of RE2, which has no look-around and no references back. An empty text
  // matches every id. After a leading minus, the filter matches the ids that the rest does not
  // match, as in Google Benchmark. Throws UsageError.
  explicit Filter(std::string_view text);

  [[nodiscard]] bool matches(std::string_view id) const;

  // Returns true if the filter matches the id because of the operation that the id begins with:
  // with the name of another operation in its place, the filter would not match.
  [[nodiscard]] bool names_operation_of(std::string_view id) const;

  // The beginning of the text, for messages.
  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  std::string shown_;
  std::shared_ptr<const re2::RE2> expression_;
  bool inverted_;
};

}  // namespace ridgebench
