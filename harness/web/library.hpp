// The parts of C++20 that the library of Emscripten 3.1 lacks. Every file of the playground's model
// includes this file first. The algorithms are those of range-v3, of which the standard's are a
// copy.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <range/v3/algorithm.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>
#include <ranges>
#include <utility>

#ifndef __cpp_lib_bit_cast
namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

}  // namespace std
#endif

namespace std::ranges {

using ::ranges::adjacent_find;
using ::ranges::all_of;
using ::ranges::any_of;
using ::ranges::binary_search;
using ::ranges::copy;
using ::ranges::copy_if;
using ::ranges::count;
using ::ranges::fill;
using ::ranges::find;
using ::ranges::find_if;
using ::ranges::lower_bound;
using ::ranges::max_element;
using ::ranges::min;
using ::ranges::none_of;
using ::ranges::replace;
using ::ranges::sort;
using ::ranges::transform;

// range-v3's takes no temporary span, and no predicate of two types.
template <class A, class B, class Same = ::ranges::equal_to, class OfA = ::ranges::identity,
          class OfB = ::ranges::identity>
constexpr bool equal(const A& a, const B& b, Same same = {}, OfA of_a = {}, OfB of_b = {}) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b),
                    [&](const auto& one, const auto& other) {
                      return same(std::invoke(of_a, one), std::invoke(of_b, other));
                    });
}

// range-v3's returns the new end only.
template <class Range, class... Same>
constexpr auto unique(Range& range, Same... same) {
  return subrange(::ranges::unique(range, same...), std::end(range));
}

}  // namespace std::ranges

namespace std::views {

using ::ranges::views::filter;
using ::ranges::views::transform;

}  // namespace std::views
