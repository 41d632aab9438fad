// Parses the text of an `asm`: one instruction, or several in a scope with declared registers,
// "{ .reg .pred p; ...; }". Labels and predicated instructions are not supported.
#include <algorithm>
#include <cctype>
#include <sstream>
#include <unordered_map>

#include "tests/emulator/ptx/ptx.hpp"

namespace ridgebench::emulator {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view take_name(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_name);
  const std::string_view name(text.begin(), end);
  text.remove_prefix(name.size());
  return name;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(trimmed(text)) {
    std::string_view rest = text_;
    if (rest.starts_with('{')) rest = rest.substr(1, rest.rfind('}') - 1);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      statement(trimmed(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  std::vector<Form> forms;

 private:
  [[noreturn]] void refuse() const { throw NotEmulated(std::string(text_)); }

  void statement(std::string_view rest) {
    if (rest.empty()) return;
    const std::string_view name(rest.begin(), std::ranges::find_if(rest, is_space));
    rest.remove_prefix(name.size());
    if (name == ".reg") return declare(trimmed(rest));
    if (name.find_first_of("@:") != std::string_view::npos &&
        name.find("::") == std::string_view::npos) {
      refuse();
    }
    Form form{.name = std::string(name), .parts = {}, .arguments = {}};
    std::istringstream parts(form.name);
    for (std::string part; std::getline(parts, part, '.');) form.parts.push_back(part);
    while (!rest.empty()) {
      if (std::string_view(" \t\n,{}[]").find(rest.front()) != std::string_view::npos) {
        rest.remove_prefix(1);
      } else {
        form.arguments.push_back(argument(rest));
      }
    }
    forms.push_back(form);
  }

  // ".pred p, q"
  void declare(std::string_view rest) {
    take_name(rest);
    while (!rest.empty()) {
      const std::string_view name = take_name(rest);
      if (!name.empty()) temporaries_.emplace_back(name);
      if (!rest.empty()) rest.remove_prefix(1);
    }
    if (temporaries_.size() > Temporaries().size()) refuse();
  }

  Argument argument(std::string_view& rest) const {
    using Kind = Argument::Kind;
    const bool operand = rest.front() == '%';
    if (operand) rest.remove_prefix(1);
    const bool special = operand && rest.starts_with('%');
    if (special) rest.remove_prefix(1);
    const std::string name(take_name(rest));
    if (name.empty()) refuse();
    if (special) return {.kind = Kind::special, .name = name};
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
      return {.kind = operand ? Kind::operand : Kind::immediate,
              .number = std::stoll(name, nullptr, 0)};
    }
    if (name == "_") return {.kind = Kind::sink};
    const auto found = std::ranges::find(temporaries_, name);
    if (found == temporaries_.end()) refuse();
    return {.kind = Kind::temporary, .number = found - temporaries_.begin()};
  }

  std::string_view text_;
  std::vector<std::string> temporaries_;
};

}  // namespace

const std::vector<Form>& forms_of(const char* text) {
  static std::unordered_map<const char*, std::vector<Form>> known;
  const auto found = known.find(text);
  if (found != known.end()) return found->second;
  return known.emplace(text, Parser(text).forms).first->second;
}

}  // namespace ridgebench::emulator
