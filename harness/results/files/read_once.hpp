// Keeps the contents of results directories for a program that answers many questions about them.
#pragma once

#include <any>
#include <string>

namespace ridgebench {

// While one lives, each results directory is read and judged once: nobody writes into it meanwhile.
// Only one may live at a time, and only one thread may read.
class ReadOnce {
 public:
  ReadOnce();
  ~ReadOnce();
  ReadOnce(const ReadOnce&) = delete;
  ReadOnce& operator=(const ReadOnce&) = delete;
};

// Returns the place of the value that was read by this name, empty before; null if no ReadOnce
// lives.
std::any* kept(const std::string& name);

// Returns `read()`; while a ReadOnce lives, the value that the first call with this name returned.
template <class Read>
auto read_once(const std::string& name, const Read& read) {
  using Value = decltype(read());
  std::any* const place = kept(name);
  if (place == nullptr) return read();
  if (!place->has_value()) *place = read();
  return std::any_cast<const Value&>(*place);
}

}  // namespace ridgebench
