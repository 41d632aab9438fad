// The interface between a shared object of kernels and the program that loads it. Both are compiled
// with a tag, a text of the interface's number, the C++ library and the sizes of the types that
// pass between them. `--load` reads the tags of a file before it runs any of its code.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "kernels/common/registry.hpp"

namespace ridgebench {

// Raised by each change of a header that a kernel includes, unless old objects still work.
inline constexpr int kKernelInterface = 4;

namespace interface_detail {

#if defined(_LIBCPP_VERSION)
inline constexpr std::string_view kLibrary = "libc++";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
inline constexpr std::string_view kLibrary = "libstdc++";
#else
inline constexpr std::string_view kLibrary = "libstdc++ before C++11";
#endif

using TagText = std::array<char, 128>;

constexpr void append(TagText& text, std::size_t& end, std::string_view part) {
  for (const char c : part) text.at(end++) = c;
}

constexpr void append(TagText& text, std::size_t& end, std::size_t number) {
  if (number > 9) append(text, end, number / 10);
  text.at(end++) = static_cast<char>('0' + number % 10);
}

constexpr TagText make_tag() {
  TagText text{};
  std::size_t end = 0;
  append(text, end, "ridgebench kernel interface ");
  append(text, end, std::size_t{kKernelInterface});
  append(text, end, ", ");
  append(text, end, kLibrary);
  append(text, end, ", sizes");
  for (const std::size_t size : {sizeof(Shape), sizeof(Operand), sizeof(Operation),
                                 sizeof(Technique), sizeof(Implementation), sizeof(Machine)}) {
    append(text, end, " ");
    append(text, end, size);
  }
  return text;
}

}  // namespace interface_detail

// One copy in every file that includes this header: the linker must not drop it.
[[gnu::used]] static constexpr interface_detail::TagText kKernelInterfaceTag =
    interface_detail::make_tag();

}  // namespace ridgebench
