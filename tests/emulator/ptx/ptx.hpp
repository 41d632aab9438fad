// Inline PTX: rewrite.py turns `asm("instruction" : outputs : inputs)` into a call of ptx().
// Operands come in the order of their numbers in the text, as references to the C++ objects.
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

namespace ridgebench::emulator {

struct Operand {
  void* address;
  std::size_t bytes;
};

// Registers that PTX code declares by `.reg`, for the duration of one `asm`.
using Temporaries = std::array<std::uint64_t, 4>;

// An operand in the text: %1, a number, a declared register, %%laneid, or _.
struct Argument {
  enum class Kind { operand, immediate, temporary, special, sink };
  Kind kind;
  std::int64_t number = 0;  // the value of an immediate, or the index of an operand
  std::string name = {};    // special
};

// The parsed text of one instruction.
struct Form {
  std::string name;
  std::vector<std::string> parts;
  std::vector<Argument> arguments;
};

// The instructions of an `asm`, parsed once per literal, which its address identifies.
const std::vector<Form>& forms_of(const char* text);

// One instruction with its operands in the order in which its text names them.
class Instruction {
 public:
  Instruction(const Form& form, std::span<const Operand> operands, Temporaries& temporaries,
              const std::source_location& where)
      : form_(form), operands_(operands), temporaries_(temporaries), where_(where) {}

  // "mma.sync.aligned.m16n8k8...": the text before the operands.
  [[nodiscard]] std::string_view name() const { return form_.name; }
  // Part number `index` of the name, empty beyond the last: 0 is "mma", 1 "sync".
  [[nodiscard]] std::string_view part(std::size_t index) const {
    return index < form_.parts.size() ? std::string_view(form_.parts[index]) : std::string_view();
  }
  // True if one of its parts is `name`, possibly with a qualifier ("shared", "shared::cta").
  [[nodiscard]] bool has(std::string_view part) const;
  [[nodiscard]] bool starts_with(std::string_view text) const { return name().starts_with(text); }
  [[nodiscard]] const std::source_location& where() const { return where_; }

  [[nodiscard]] std::size_t count() const { return form_.arguments.size(); }
  [[nodiscard]] const Argument& argument(std::size_t index) const;
  template <class T>
  [[nodiscard]] T get(std::size_t argument) const {
    T value;
    std::memcpy(&value, in_memory(argument, sizeof(T)), sizeof value);
    return value;
  }
  // An integer of any width, or an immediate.
  [[nodiscard]] std::int64_t integer(std::size_t argument) const;
  // The destination of an output.
  template <class T>
  [[nodiscard]] T* out(std::size_t argument) const {
    return static_cast<T*>(in_memory(argument, sizeof(T)));
  }
  // An output of any integer width, or a predicate.
  void set(std::size_t argument, std::uint64_t value) const;

 private:
  [[nodiscard]] void* in_memory(std::size_t argument, std::size_t bytes) const;
  // 0 for an operand that is not in memory.
  [[nodiscard]] std::size_t width(const Argument& argument) const;

  const Form& form_;
  std::span<const Operand> operands_;
  Temporaries& temporaries_;
  std::source_location where_;
};

// Throws NotEmulated for an instruction that is not supported.
void execute(const Instruction& instruction);

template <class... Operands>
void ptx(const std::source_location& where, const char* text, Operands&&... operands) {
  const std::array<Operand, sizeof...(Operands)> list{
      Operand{const_cast<void*>(static_cast<const void*>(&operands)), sizeof operands}...};
  Temporaries temporaries{};
  for (const Form& form : forms_of(text)) execute(Instruction(form, list, temporaries, where));
}

// Instructions by the first part of their name; false if the rest is not supported.
bool execute_mma(const Instruction& instruction);
bool execute_mma_f64(const Instruction& instruction);
bool execute_matrices(const Instruction& instruction);  // ldmatrix, stmatrix
bool execute_cp_async(const Instruction& instruction);
bool execute_bulk(const Instruction& instruction);
bool execute_fence(const Instruction& instruction);
bool execute_mbarrier(const Instruction& instruction);
bool execute_cluster(const Instruction& instruction);  // mapa, barrier.cluster
bool execute_block(const Instruction& instruction);    // bar, setmaxnreg
bool execute_shared(const Instruction& instruction);   // ld.shared, st.shared
bool execute_scalar(const Instruction& instruction);

}  // namespace ridgebench::emulator
