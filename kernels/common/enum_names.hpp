// The names of an enum, declared once, next to the enum:
//   enum class Engine : std::uint8_t { memory, fma };
//   constexpr auto names_of(Engine) { return enum_names("engine", "memory", "fma"); }
// name(), named() and parse() follow from that table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ridgebench {

template <std::size_t N>
struct EnumNames {
  std::string_view what;  // opens messages: "unknown engine 'x'"
  std::array<std::string_view, N> names;
};

// One name per enumerator, in the order of the enumerators.
template <class... Names>
constexpr EnumNames<sizeof...(Names)> enum_names(std::string_view what, Names... names) {
  return {what, {names...}};
}

template <class E>
concept NamedEnum = requires(E value) { names_of(value).names; };

template <NamedEnum E>
constexpr std::string_view name(E value) {
  return names_of(value).names[static_cast<std::size_t>(value)];
}

// The value of that name; empty if there is none.
template <NamedEnum E>
constexpr std::optional<E> named(std::string_view text) {
  constexpr auto table = names_of(E{});
  const auto found = std::ranges::find(table.names, text);
  if (found == table.names.end()) return std::nullopt;
  return static_cast<E>(found - table.names.begin());
}

// "ok, wrong, invalid"
std::string join_names(std::span<const std::string_view> names);

// Returns the name that takes the fewest changes of single characters; upper and lower case are
// equal. Empty if most of the text would have to change.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

// Throws UsageError "unknown <what> '<text>'; nearest: <name>; allowed: <names>".
[[noreturn]] void reject_name(std::string_view what, std::string_view text,
                              std::span<const std::string_view> allowed);

// Throws UsageError "unknown <what> '<text>'; allowed: <names>".
template <NamedEnum E>
E parse(std::string_view text) {
  constexpr auto table = names_of(E{});
  if (const auto value = named<E>(text)) return *value;
  reject_name(table.what, text, table.names);
}

}  // namespace ridgebench
