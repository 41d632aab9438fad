// One line on stderr with what is being measured and how long the rest may take; on a terminal
// only.
#pragma once

#include <cstddef>
#include <string>

#include "harness/base/stopwatch.hpp"

namespace ridgebench {

class Progress {
 public:
  explicit Progress(std::size_t total);
  void update(std::size_t done, const std::string& what);
  void clear() const;

 private:
  std::size_t total_;
  bool terminal_;
  Stopwatch clock_;
};

}  // namespace ridgebench
