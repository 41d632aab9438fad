// Inline PTX: what `asm("instruction" : outputs : inputs)` becomes. Operands are given in the order
// of their numbers in the text, as references to the C++ objects.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/emulator/emulator.hpp"

namespace ridgepoint::emulator {

struct Operand {
  void* address;
  std::size_t bytes;
};

// One instruction with its operands in the order in which its text names them.
class Instruction {
 public:
  Instruction(const char* text, std::span<const Operand> operands,
              const std::source_location& where);

  // "mma.sync.aligned.m16n8k8...": what stands before the operands.
  [[nodiscard]] std::string_view name() const { return form_.name; }
  // Part number `index` of the name, empty beyond the last: 0 is "mma", 1 "sync".
  [[nodiscard]] std::string_view part(std::size_t index) const {
    return index < form_.parts.size() ? std::string_view(form_.parts[index]) : std::string_view();
  }
  // Whether one of its parts is this, or this and a qualification ("shared", "shared::cta").
  [[nodiscard]] bool has(std::string_view part) const;
  [[nodiscard]] const std::source_location& where() const { return where_; }

  [[nodiscard]] std::size_t count() const { return form_.arguments.size(); }
  template <class T>
  [[nodiscard]] T get(std::size_t argument) const {
    const Operand& operand = in_memory(argument, sizeof(T));
    T value;
    std::memcpy(&value, operand.address, sizeof value);
    return value;
  }
  // Of any width, or written in the text.
  [[nodiscard]] std::int64_t integer(std::size_t argument) const;
  // Where an output goes.
  template <class T>
  [[nodiscard]] T* out(std::size_t argument) const {
    return static_cast<T*>(in_memory(argument, sizeof(T)).address);
  }

  struct Argument {
    bool immediate;
    std::int64_t number;  // its value, or the number of an operand
  };
  struct Form {
    std::string name;
    std::vector<std::string> parts;
    std::vector<Argument> arguments;
  };

 private:
  [[nodiscard]] const Operand& in_memory(std::size_t argument, std::size_t bytes) const;

  const Form& form_;
  std::span<const Operand> operands_;
  std::source_location where_;
};

// Throws NotEmulated for an instruction that nothing here knows.
void execute(const Instruction& instruction);

template <class... Operands>
void ptx(const std::source_location& where, const char* text, Operands&&... operands) {
  const std::array<Operand, sizeof...(Operands)> list{
      Operand{const_cast<void*>(static_cast<const void*>(&operands)), sizeof operands}...};
  execute(Instruction(text, list, where));
}

// Instructions by the first part of their name; false where the rest is not one that is known.
bool execute_mma(const Instruction& instruction);
bool execute_ldmatrix(const Instruction& instruction);
bool execute_cp_async(const Instruction& instruction);
bool execute_special(const Instruction& instruction);

}  // namespace ridgepoint::emulator
