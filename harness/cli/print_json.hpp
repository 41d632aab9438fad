// Prints strict JSON on stdout for --json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ridgebench {

// Returns the text in lines of two spaces a level. A number has the fewest digits that read back as
// the same double: nlohmann-json prints 1e23 as 9.999999999999999e+22. The text is ASCII, so that a
// name from a file cannot control a terminal. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

// The answer of a command after the key `schema`, which has the $id of its schema in
// results/schema: urn:ridgebench:NAME:1. `answer` is an object.
nlohmann::ordered_json named_answer(std::string_view name, const nlohmann::ordered_json& answer);

// Prints named_answer().
void print_answer(std::string_view name, const nlohmann::ordered_json& answer);

// While one lives, print_answer() of this thread keeps its text here and prints nothing.
class CapturedAnswer {
 public:
  CapturedAnswer();
  ~CapturedAnswer();
  CapturedAnswer(const CapturedAnswer&) = delete;  // print_answer() has its address
  CapturedAnswer& operator=(const CapturedAnswer&) = delete;

  // Empty as long as no command has answered in JSON.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace ridgebench
