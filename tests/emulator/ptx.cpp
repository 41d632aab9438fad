#include "tests/emulator/ptx.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <unordered_map>

namespace ridgepoint::emulator {
namespace {

Instruction::Form parse(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && (is_space(text.back()) || text.back() == ';')) text.remove_suffix(1);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.find_first_of(";@") != std::string_view::npos) throw NotEmulated(std::string(text));
  const auto end = std::ranges::find_if(text, is_space);
  Instruction::Form form{.name = {text.begin(), end}, .parts = {}, .arguments = {}};
  std::istringstream name(form.name);
  for (std::string part; std::getline(name, part, '.');) form.parts.push_back(part);
  std::string_view rest(end, text.end());
  while (!rest.empty()) {
    const bool operand = rest.front() == '%';
    if (operand) rest.remove_prefix(1);
    std::size_t digits = 0;
    while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0) {
      ++digits;
    }
    if (digits > 0) {
      form.arguments.push_back({!operand, std::stoll(std::string(rest.substr(0, digits)))});
    } else if (std::string_view(" \t\n,{}[]").find(rest.front()) == std::string_view::npos) {
      throw NotEmulated(std::string(text));
    }
    rest.remove_prefix(std::max<std::size_t>(digits, 1));
  }
  return form;
}

// Each text once: it is a literal, so its address names it.
const Instruction::Form& form_of(const char* text) {
  static std::unordered_map<const char*, Instruction::Form> forms;
  const auto known = forms.find(text);
  return known != forms.end() ? known->second : forms.emplace(text, parse(text)).first->second;
}

}  // namespace

Instruction::Instruction(const char* text, std::span<const Operand> operands,
                         const std::source_location& where)
    : form_(form_of(text)), operands_(operands), where_(where) {}

bool Instruction::has(std::string_view part) const {
  return std::ranges::any_of(form_.parts, [&](std::string_view own) {
    return own.starts_with(part) && (own.size() == part.size() || own[part.size()] == ':');
  });
}

const Operand& Instruction::in_memory(std::size_t argument, std::size_t bytes) const {
  if (argument >= count() || form_.arguments[argument].immediate) {
    fault(std::string(name()) + " lacks an operand");
  }
  const auto number = static_cast<std::size_t>(form_.arguments[argument].number);
  if (number >= operands_.size() || operands_[number].bytes != bytes) {
    fault(std::string(name()) + " has an operand of another size");
  }
  return operands_[number];
}

std::int64_t Instruction::integer(std::size_t argument) const {
  if (argument < count() && form_.arguments[argument].immediate) {
    return form_.arguments[argument].number;
  }
  const bool wide =
      argument < count() &&
      operands_[static_cast<std::size_t>(form_.arguments[argument].number)].bytes == 8;
  return wide ? get<std::int64_t>(argument) : get<std::int32_t>(argument);
}

void execute(const Instruction& instruction) {
  const std::string_view family = instruction.part(0);
  const bool known = family == "mma"        ? execute_mma(instruction)
                     : family == "ldmatrix" ? execute_ldmatrix(instruction)
                     : family == "cp"       ? execute_cp_async(instruction)
                                            : execute_special(instruction);
  if (!known) throw NotEmulated(std::string(instruction.name()));
}

// As exact as a float can be; the GPU is not. ".ftz" takes subnormal numbers for zero.
bool execute_special(const Instruction& instruction) {
  const auto flushed = [](double x) { return std::abs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; };
  const auto set = [&](double y) { *instruction.out<float>(0) = static_cast<float>(y); };
  const auto x = [&] { return double{instruction.get<float>(1)}; };
  if (instruction.name() == "tanh.approx.f32") {
    set(std::tanh(x()));
  } else if (instruction.name() == "ex2.approx.ftz.f32") {
    set(flushed(std::exp2(flushed(x()))));
  } else if (instruction.name() == "rcp.approx.ftz.f32") {
    set(flushed(1 / flushed(x())));
  } else {
    return false;
  }
  return true;
}

}  // namespace ridgepoint::emulator
