// A key of a JSON object that a struct becomes: its name, the member that holds its value, and what
// readers and schemas need to know of it. The lists of keys stand in record.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/statistics.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {

// The range of a number, ends included. Without a high above low there is no upper bound.
struct Bounds {
  double low = 0;
  double high = 0;
  bool low_excluded = false;  // by the schema; the reader allows it
};
inline constexpr Bounds kNotNegative{};
inline constexpr Bounds kPositive{.low_excluded = true};
inline constexpr Bounds kCount{.high = kLargestCount};

enum class Absence : std::uint8_t {
  unknown,        // null if the value is unknown; the key itself is always there
  not_in_oldest,  // as unknown, but records of older versions lack the key
  infinite,       // null represents infinity, which JSON does not have
};

// `Member` is the type of a data member, or of a function: such a key follows from others, and
// readers compute it.
template <class Owner, class Member>
struct Key {
  static constexpr bool kDerived = std::is_function_v<Member>;

  constexpr Key(const char* key, Member Owner::* value, std::string_view measured_in,
                std::string_view what, Bounds allowed = {}, Absence null = Absence::unknown)
      : name(key),
        member(value),
        unit(measured_in),
        meaning(what),
        bounds(allowed),
        absence(null) {}

  const char* name;
  Member Owner::* member;
  std::string_view unit;
  std::string_view meaning;
  Bounds bounds;
  Absence absence;
};

// A key of one of a record's times, in seconds per launch. Only a row with status ok has times.
struct TimeKey {
  const char* name;
  double Summary::* member;
  std::string_view meaning;
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class... Keys>
constexpr auto visitor_of(Keys... keys) {
  return [=](auto&& visit) { (visit(keys), ...); };
}

// A list of keys of different types: KeyList keys{Key{...}, TimeKey{...}}. A std::tuple of 70 of
// them costs each unit that reads it a second.
template <class Visitor>
struct KeyList {
  template <class... Keys>
  constexpr explicit KeyList(Keys... keys) : for_each(visitor_of(keys...)) {}

  Visitor for_each;  // for_each(visit) calls visit(key) for every key, in order
};
template <class... Keys>
KeyList(Keys...) -> KeyList<decltype(visitor_of(std::declval<Keys>()...))>;

// A struct that has a list of keys.
template <class T>
concept Keyed = requires(const T* object) { keys_of(object); };

template <class T>
inline constexpr bool kIsListOfKeyed = false;
template <Keyed T>
inline constexpr bool kIsListOfKeyed<std::vector<T>> = true;

// Calls visit(key) for every key of T, in order.
template <class T>
constexpr void for_each_key(auto&& visit) {
  keys_of(static_cast<const T*>(nullptr)).for_each(visit);
}

}  // namespace ridgebench
